"""XGBoost, with the search space of Kadra et al. 2021.

Early stopping follows the balanced accuracy on valid. Categorical columns are one-hot columns or
XGBoost's own categories, as the trial says; a category that train never had is a missing value.
Missing numbers are imputed as for every other method.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import xgboost
from xgboost.callback import EarlyStopping, TrainingCallback

from iunet.artifacts import read_arrays, write_arrays
from iunet.baselines.learner import Attempt, Machine, Table, reading_model
from iunet.scoring.scores import balanced_accuracy

if TYPE_CHECKING:
    import optuna

ERROR = "balanced_error"  # 1 − balanced accuracy
TIME_LIMIT, ROUNDS_LIMIT = "time limit", "rounds limit"


def suggest(trial: optuna.Trial) -> dict[str, Any]:
    booster = trial.suggest_categorical("booster", ["gbtree", "dart"])
    dart = {}
    if booster == "dart":
        dart["rate_drop"] = trial.suggest_float("rate_drop", 1e-10, 1 - 1e-10)
    return {
        "booster": booster,
        **dart,
        "eta": trial.suggest_float("eta", 1e-3, 1, log=True),
        "lambda": trial.suggest_float("lambda", 1e-10, 1, log=True),
        "alpha": trial.suggest_float("alpha", 1e-10, 1, log=True),
        "gamma": trial.suggest_float("gamma", 0.1, 1, log=True),
        "colsample_bylevel": trial.suggest_float("colsample_bylevel", 0.1, 1),
        "colsample_bynode": trial.suggest_float("colsample_bynode", 0.1, 1),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.5, 1),
        "max_depth": trial.suggest_int("max_depth", 1, 20),
        "max_delta_step": trial.suggest_int("max_delta_step", 0, 10),
        "min_child_weight": trial.suggest_float("min_child_weight", 0.1, 20, log=True),
        "subsample": trial.suggest_float("subsample", 0.01, 1),
        "one_hot": trial.suggest_categorical("one_hot", [True, False]),
        "early_stopping_rounds": trial.suggest_int("early_stopping_rounds", 1, 20),
    }


class Learner:
    def __init__(self, table: Table, settings: dict[str, Any], machine: Machine):
        self.table, self.settings, self.machine = table, settings, machine
        self.n_outputs = 1 if table.n_classes == 2 else table.n_classes  # trees of a round
        self.matrices: dict[tuple[Any, ...], xgboost.DMatrix] = {}

    def matrix(self, one_hot: bool, *parts: str) -> xgboost.DMatrix:
        """The rows of these parts together, made once."""
        key = (one_hot and bool(self.table.preprocessing.categorical), *parts)
        if key not in self.matrices:
            self.matrices[key] = _matrix(self.table, *key)
            if self.settings.get("class_weights") == "balanced":
                labels = self.matrices[key].get_label().astype(np.int64)
                counts = np.bincount(labels, minlength=self.table.n_classes)
                self.matrices[key].set_weight(len(labels) / (self.table.n_classes * counts[labels]))
        return self.matrices[key]

    def fixed(self, parameters: dict[str, Any], seed: int) -> dict[str, Any]:
        """XGBoost's own parameters, from a trial's."""
        ours = ("one_hot", "early_stopping_rounds")
        objective = {"objective": "binary:logistic"}
        if self.n_outputs > 1:
            objective = {"objective": "multi:softprob", "num_class": self.n_outputs}
        return {
            **{key: value for key, value in parameters.items() if key not in ours},
            **objective,
            "tree_method": "hist",
            # The original work's XGBoost began at 0.5; newer ones begin at the class shares. From
            # there a small eta leaves every row in the majority class until early stopping ends it.
            "base_score": 0.5,
            "device": self.machine.device,
            "nthread": self.machine.threads,
            "seed": seed,
            "disable_default_eval_metric": True,
            "verbosity": 0,
        }

    def try_out(self, parameters: dict[str, Any], seed: int) -> Attempt:
        valid = self.matrix(parameters["one_hot"], "valid")
        train = self.matrix(parameters["one_hot"], "train")
        labels = valid.get_label().astype(np.int64)
        dart = parameters["booster"] == "dart"
        max_rounds = self.settings["max_rounds_dart" if dart else "max_rounds"]
        minutes = self.settings["trial_minutes"]
        clock = _Clock(None if minutes is None else 60 * minutes)
        errors: list[float] = []  # after each round; XGBoost's own record has six digits only

        def error(probabilities: np.ndarray, _: xgboost.DMatrix) -> tuple[str, float]:
            errors.append(1 - balanced_accuracy(labels, _labels(probabilities)) / 100)
            return ERROR, errors[-1]

        stop_early = EarlyStopping(
            rounds=parameters["early_stopping_rounds"], metric_name=ERROR, data_name="valid"
        )
        started = time.monotonic()
        xgboost.train(
            self.fixed(parameters, seed),
            train,
            max_rounds,
            evals=[(valid, "valid")],
            custom_metric=error,
            callbacks=[stop_early, clock],
            verbose_eval=False,
        )
        best = int(np.argmin(errors))
        flags = [TIME_LIMIT] if clock.stopped else []
        stopped_early = len(errors) - 1 - best >= parameters["early_stopping_rounds"]
        if len(errors) == max_rounds and not stopped_early:
            flags.append(ROUNDS_LIMIT)
        score = 100 * (1 - errors[best])
        return Attempt(score, time.monotonic() - started, {"rounds": best + 1}, flags)

    def refit(
        self, parameters: dict[str, Any], found: dict[str, int], seed: int, model: str, **job: Any
    ) -> dict[str, Any]:
        rows = self.matrix(parameters["one_hot"], *job["parts"])
        booster = xgboost.train(self.fixed(parameters, seed), rows, found["rounds"])
        # XGBoost's own format as bytes: `Booster().load_model(bytearray(array))` reads it.
        raw = np.frombuffer(bytes(booster.save_raw("ubj")), dtype=np.uint8)
        write_arrays(model, {"booster.ubj": raw})
        trees = booster.num_boosted_rounds() * self.n_outputs
        return {"one_hot": parameters["one_hot"], "sizes": {"trees": trees, "bytes": len(raw)}}

    def predict(self, model: str, report: dict[str, Any], part: str) -> np.ndarray:
        booster = xgboost.Booster({"nthread": self.machine.threads, "device": self.machine.device})
        with reading_model(model, "XGB"):
            booster.load_model(bytearray(read_arrays(model)["booster.ubj"].tobytes()))
            one_hot = report["model"]["one_hot"]
        return _labels(booster.predict(self.matrix(one_hot, part)))


def _labels(probabilities: np.ndarray) -> np.ndarray:
    if probabilities.ndim == 1:
        return (probabilities > 0.5).astype(np.int64)
    return probabilities.argmax(axis=1)


def _matrix(table: Table, one_hot: bool, *parts: str) -> xgboost.DMatrix:
    from scipy.sparse import csr_matrix

    rows = table.part(*parts)
    numeric, codes = rows["numeric"], rows["categorical"]
    n_numeric, n_codes = numeric.shape[1], codes.shape[1]
    if one_hot:
        # Sparse: of wide one-hot groups nearly all is zero. Numbers are stored even where 0.
        starts = np.array([group["start"] for group in table.preprocessing.groups()[n_numeric:]])
        places = np.hstack([np.tile(np.arange(n_numeric), (len(codes), 1)), starts + codes])
        stored = np.hstack([np.ones_like(numeric, dtype=bool), codes >= 0])
        values = np.hstack([numeric, np.ones_like(codes, dtype=np.float32)])
        pointers = np.concatenate([[0], stored.sum(axis=1).cumsum()])
        shape = (len(codes), table.preprocessing.n_inputs)
        data: Any = csr_matrix((values[stored], places[stored], pointers), shape=shape)
        return xgboost.DMatrix(data, rows["labels"])
    data = np.hstack([numeric, np.where(codes < 0, np.nan, codes).astype(np.float32)])
    types = ["q"] * n_numeric + ["c"] * n_codes
    return xgboost.DMatrix(
        data, rows["labels"], feature_types=types, enable_categorical=n_codes > 0
    )


class _Clock(TrainingCallback):
    """Ends a training that takes too long."""

    def __init__(self, seconds: float | None):
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.stopped = False

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self.stopped = self.deadline is not None and time.monotonic() > self.deadline
        return self.stopped
