"""XGBoost, TabNet and MLP+C as tuned baselines: spaces, data, refit, and difficult tables."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import optuna
import pytest
import torch
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from test_cocktail_space import SPACE as COCKTAIL

from iunet.artifacts import read_arrays, write_arrays, write_json
from iunet.baselines import mlp_c, tabnet, xgb
from iunet.baselines.catalog import LEARNERS
from iunet.baselines.learner import Machine, Table, learner_module
from iunet.baselines.refit import refit
from iunet.baselines.study import summarise_study, tune
from iunet.data.preprocess import Categorical, Numeric, Preprocessing
from iunet.evaluation.tuned import evaluate_tuned

SETTINGS = {
    "xgb": {"max_rounds": 30, "max_rounds_dart": 10, "trial_minutes": None},
    "tabnet": {"max_epochs": 2, "trial_minutes": None},
    "mlp_c": {"width": 16, "first_cycle_epochs": 2, "cycle_factor": 2, "cycles": 2},
}
CPU = Machine("cpu", 1)
REFIT = {"run": "r", "checkpoint": None, "parts": ("train", "valid")}


def distributions(suggest, trials: int = 60) -> dict[str, optuna.distributions.BaseDistribution]:
    """Every distribution that a space ever asks for."""
    found = {}
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    for _ in range(trials):
        trial = study.ask()
        suggest(trial)
        found |= trial.distributions
    return found


# ---- the search spaces, one hyperparameter at a time


XGB_SPACE = {
    "eta": FloatDistribution(1e-3, 1, log=True),
    "lambda": FloatDistribution(1e-10, 1, log=True),
    "alpha": FloatDistribution(1e-10, 1, log=True),
    "booster": CategoricalDistribution(["gbtree", "dart"]),
    "rate_drop": FloatDistribution(1e-10, 1 - 1e-10),
    "gamma": FloatDistribution(0.1, 1, log=True),
    "colsample_bylevel": FloatDistribution(0.1, 1),
    "colsample_bynode": FloatDistribution(0.1, 1),
    "colsample_bytree": FloatDistribution(0.5, 1),
    "max_depth": IntDistribution(1, 20),
    "max_delta_step": IntDistribution(0, 10),
    "min_child_weight": FloatDistribution(0.1, 20, log=True),
    "subsample": FloatDistribution(0.01, 1),
    "one_hot": CategoricalDistribution([True, False]),
    "early_stopping_rounds": IntDistribution(1, 20),
}
COCKTAIL_SPACE = {name: distribution for name, (distribution, _) in COCKTAIL.items()}
TABNET_SPACE = {
    "n_a": CategoricalDistribution([8, 16, 24, 32, 64, 128]),
    "lr": CategoricalDistribution([0.005, 0.01, 0.02, 0.025]),
    "gamma": CategoricalDistribution([1.0, 1.2, 1.5, 2.0]),
    "n_steps": IntDistribution(3, 10),
    "lambda_sparse": CategoricalDistribution([0, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1]),
    "batch_size": CategoricalDistribution([256, 512, 1024, 2048, 4096, 8192, 16384, 32768]),
    "virtual_batch_size": CategoricalDistribution([256, 512, 1024, 2048, 4096]),
    "decay_rate": CategoricalDistribution([0.4, 0.8, 0.9, 0.95]),
    "decay_iterations": CategoricalDistribution([500, 2000, 8000, 10000, 20000]),
    "momentum": CategoricalDistribution([0.4, 0.3, 0.2, 0.1, 0.05, 0.02]),  # 1 − {.6, …, .98}
    "patience": IntDistribution(1, 20),
}


SPACES = {"xgb": XGB_SPACE, "tabnet": TABNET_SPACE, "mlp_c": COCKTAIL_SPACE}


@pytest.mark.parametrize("method", LEARNERS)
def test_spaces(method):
    """D of the 40·D trials is the number of hyperparameters."""
    assert distributions(learner_module(method).suggest) == SPACES[method]
    assert len(SPACES[method]) == LEARNERS[method].hyperparameters


def test_rate_drop_is_asked_for_with_dart_only():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    for _ in range(20):
        parameters = xgb.suggest(study.ask())
        assert ("rate_drop" in parameters) == (parameters["booster"] == "dart")


# ---- tables


def write_table(folder: Path, n_train: int = 80, n_classes: int = 3, unseen: bool = False) -> dict:
    """A split table: the class is in a number and in a category; one column is constant.

    With `unseen`, the last class is not in train, and valid and test have categories (code −1) that
    train never had.
    """
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for part, n in {"train": n_train, "valid": 30, "test": 30}.items():
        shown = n_classes - (unseen and part == "train")
        labels = np.arange(n) % shown
        numeric = np.stack([labels + 0.3 * rng.normal(size=n), np.zeros(n)], axis=1)
        codes = np.stack([labels % 2, rng.integers(0, 3, n)], axis=1).astype(np.int32)
        if unseen and part != "train":
            codes[::5] = -1
        arrays = {"numeric": numeric.astype(np.float32), "categorical": codes}
        write_arrays(folder / part, arrays | {"labels": labels.astype("i8")})
    columns = [Numeric("x", 0.0, 0.0, 1.0), Numeric("constant", 0.0, 0.0, 1.0)]
    categories = [Categorical("c", ["a", "b"]), Categorical("noise", ["u", "v", "w"])]
    fitted = Preprocessing(columns, categories, [])
    write_json(folder / "preprocessing", {"kind": "tabular", **fitted.to_json()})
    write_json(folder / "split", {"dataset": "toy", "n_classes": n_classes})
    names = ("train", "valid", "test", "preprocessing", "split")
    return {name: str(folder / name) for name in names}


GOOD = {
    "xgb": {"booster": "gbtree", "eta": 0.3, "max_depth": 4, "one_hot": True}
    | {"early_stopping_rounds": 5},
    "tabnet": {"n_a": 8, "lr": 0.02, "gamma": 1.2, "n_steps": 3, "lambda_sparse": 1e-4}
    | {"batch_size": 32768, "virtual_batch_size": 4096, "decay_rate": 0.9, "momentum": 0.3}
    | {"decay_iterations": 500, "patience": 5},
    "mlp_c": {
        "use_batch_norm": True,
        "use_weight_decay": False,
        "use_dropout": False,
        "use_snapshot_ensemble": True,
        "use_swa": False,
        "use_lookahead": False,
        "use_skip_connection": True,
        "branch": "none",
        "augmentation": "none",
    },
}


@pytest.mark.parametrize("method", LEARNERS)
@pytest.mark.parametrize("unseen", [False, True], ids=["plain", "unseen labels and categories"])
def test_stages(tmp_path, method, unseen):
    """Tune, refit and evaluate; the same again gives the same predictions."""
    files = write_table(tmp_path / "data", unseen=unseen)
    inputs = {name: path for name, path in files.items() if name != "test"}
    budget = {"trials": 1 if method == "tabnet" else 3, "minutes": None}
    settings = SETTINGS[method]
    evaluations = []
    for repeat in range(2):
        folder = tmp_path / f"run{repeat}"
        journal = str(folder / "study.journal")
        study = {"journal": journal, "study_name": "s", "settings": settings, "budget": budget}
        worker = str(folder / "worker0.json")
        tune(method, inputs, worker, **study, seed=0, worker=0, machine=CPU)
        summary = {name: str(folder / name) for name in ("study", "trials")}
        summarise_study({"dataset": "toy", "method": method}, **study, output=summary)
        output = {name: str(folder / name) for name in ("model", "report")}
        inputs_of_refit = inputs | {"study": summary["study"]}
        refit(method, inputs_of_refit, output, settings, 0, "r", CPU, {"r": repeat})
        inputs_of_test = {k: p for k, p in files.items() if k not in ("train", "valid")} | output
        evaluate_tuned(method, inputs_of_test, str(folder / "evaluation"), "r", settings, CPU)
        evaluations.append((folder / "evaluation").read_bytes())
        assert not list(folder.glob("*.checkpoint"))
    assert evaluations[0] == evaluations[1]
    result = json.loads(evaluations[0])
    assert set(result["metrics"]) == {
        "valid_balanced_accuracy",
        "test_accuracy",
        "test_balanced_accuracy",
        "test_swapped_balanced_accuracy",
    }
    chosen = json.loads((tmp_path / "run0" / "study").read_text())["best"]
    assert result["metrics"]["valid_balanced_accuracy"] == chosen["valid_balanced_accuracy"]


@pytest.mark.parametrize("method", LEARNERS)
def test_it_learns(tmp_path, method):
    table = Table(write_table(tmp_path / "data", n_train=300))
    longer = {"xgb": {}, "tabnet": {"max_epochs": 60}, "mlp_c": {"first_cycle_epochs": 20}}
    settings = SETTINGS[method] | longer[method]
    learner = learner_module(method).Learner(table, settings, CPU)
    attempt = learner.try_out(GOOD[method], 0)
    assert attempt.score > 85
    assert attempt.fit_seconds > 0


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("one_hot", [True, False])
def test_xgb_score_is_the_models_balanced_accuracy(tmp_path, n_classes, one_hot):
    """The score of the best round, against a model fitted on train with that many rounds."""
    import xgboost
    from sklearn.metrics import balanced_accuracy_score

    table = Table(write_table(tmp_path / "data", n_classes=n_classes))
    learner = xgb.Learner(table, SETTINGS["xgb"], CPU)
    parameters = GOOD["xgb"] | {"one_hot": one_hot, "max_depth": 1, "eta": 0.1}
    attempt = learner.try_out(parameters, 0)
    fixed = learner.fixed(parameters, 0)
    booster = xgboost.train(fixed, learner.matrix(one_hot, "train"), attempt.found["rounds"])
    probabilities = booster.predict(learner.matrix(one_hot, "valid"))
    predicted = probabilities.argmax(1) if n_classes > 2 else probabilities > 0.5
    labels = table.part("valid")["labels"]
    assert attempt.score == pytest.approx(100 * balanced_accuracy_score(labels, predicted))


@pytest.mark.parametrize("parts", [("train", "valid"), ("train",)])
def test_the_refit_sees_the_rows_that_it_is_told(tmp_path, monkeypatch, parts):
    """By default train and valid together."""
    table = Table(write_table(tmp_path / "data"))
    n_rows = len(table.part(*parts)["labels"])
    seen = []

    def train(parameters, rows, *others, **more):
        seen.append(rows.num_row())
        return fit_xgb(parameters, rows, *others, **more)

    def fit(cocktail, rows, *others, **more):
        seen.append(len(rows))
        return fit_mlp_c(cocktail, rows, *others, **more)

    fit_xgb, fit_mlp_c = xgb.xgboost.train, mlp_c.fit
    monkeypatch.setattr(xgb.xgboost, "train", train)
    monkeypatch.setattr(mlp_c, "fit", fit)
    found = {"rounds": 2}
    for method, module in (("xgb", xgb), ("mlp_c", mlp_c)):
        trial = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0)).ask()
        learner = module.Learner(table, SETTINGS[method], CPU)
        job = REFIT | {"parts": parts}
        learner.refit(module.suggest(trial), found, 0, str(tmp_path / method), **job)
    assert seen == [n_rows, n_rows]


def test_xgb_matrices(tmp_path):
    table = Table(write_table(tmp_path / "data", unseen=True))
    learner = xgb.Learner(table, SETTINGS["xgb"], CPU)
    codes = table.part("valid")["categorical"]
    native = learner.matrix(False, "valid")
    assert native.feature_types == ["q", "q", "c", "c"]
    dense = native.get_data().toarray()
    assert np.array_equal(native.get_data().getnnz(axis=1), 4 - 2 * (codes[:, 0] < 0))
    one_hot = learner.matrix(True, "valid").get_data().toarray()
    assert one_hot.shape == (30, 2 + 2 + 3)
    expected = np.zeros((30, 5))
    for row, (first, second) in enumerate(codes):
        if first >= 0:
            expected[row, first] = expected[row, 2 + second] = 1
    assert np.array_equal(one_hot[:, 2:], expected)
    assert np.array_equal(one_hot[:, :2], dense[:, :2])
    both = learner.matrix(True, "train", "valid")
    assert both.num_row() == 110 and learner.matrix(True, "train", "valid") is both


def test_xgb_limits_are_flagged(tmp_path):
    table = Table(write_table(tmp_path / "data"))
    slow = GOOD["xgb"] | {"eta": 0.001, "early_stopping_rounds": 20}
    settings = SETTINGS["xgb"] | {"max_rounds": 3, "max_rounds_dart": 2}
    few = xgb.Learner(table, settings, CPU).try_out(slow, 0)
    assert few.flags == ["rounds limit"]
    dart = slow | {"booster": "dart", "rate_drop": 0.5}
    limited = xgb.Learner(table, settings, CPU).try_out(dart, 0)
    assert limited.flags == ["rounds limit"] and limited.found["rounds"] <= 2
    hasty = xgb.Learner(table, SETTINGS["xgb"] | {"trial_minutes": 1e-9}, CPU).try_out(slow, 0)
    assert hasty.flags == ["time limit"] and hasty.found["rounds"] == 1


def test_xgb_leaves_the_majority_class(tmp_path):
    """From XGBoost's estimated intercept, a small eta would keep every row in the majority."""
    files = write_table(tmp_path / "data", n_classes=2)
    arrays = {"numeric": np.arange(100, dtype=np.float32)[:, None]}
    arrays["categorical"] = np.zeros((100, 2), np.int32)
    arrays["labels"] = (np.arange(100) >= 80).astype("i8")
    arrays["numeric"] = np.hstack([arrays["numeric"], np.zeros((100, 1), np.float32)])
    for part in ("train", "valid"):
        write_arrays(files[part], arrays)
    learner = xgb.Learner(Table(files), SETTINGS["xgb"], CPU)
    parameters = GOOD["xgb"] | {"eta": 0.001, "early_stopping_rounds": 5}
    assert learner.try_out(parameters, 0).score > 95


def test_threads_and_device_are_the_jobs(tmp_path):
    table = Table(write_table(tmp_path / "data"))
    fixed = xgb.Learner(table, SETTINGS["xgb"], Machine("cuda", 7)).fixed(GOOD["xgb"], 5)
    assert (fixed["device"], fixed["nthread"], fixed["seed"]) == ("cuda", 7, 5)


def test_tabnet_with_more_batch_than_rows_trains(tmp_path):
    table = Table(write_table(tmp_path / "data"))
    learner = tabnet.Learner(table, SETTINGS["tabnet"], CPU)
    assert learner.batch_sizes(GOOD["tabnet"], 80) == (80, 80)
    assert learner.batch_sizes(GOOD["tabnet"] | {"batch_size": 512}, 10**6) == (512, 512)
    rows = learner.part("train")
    training = learner.training(GOOD["tabnet"], rows, 1, 0, "r")
    before = [parameter.detach().clone() for parameter in training.network.parameters()]
    tabnet.train(training, None)
    after = list(training.network.parameters())
    assert any(not torch.equal(old, new) for old, new in zip(before, after, strict=True))


def test_tabnet_is_asked_for_sparse_masks(tmp_path):
    """The entropy of its attention is added to the loss: the sparser, the lower."""
    learner = tabnet.Learner(Table(write_table(tmp_path / "data")), SETTINGS["tabnet"], CPU)
    rows = learner.part("train")

    def loss(weight: float) -> tuple[tabnet.TabNetLogits, torch.Tensor]:
        training = learner.training(GOOD["tabnet"] | {"lambda_sparse": weight}, rows, 1, 0, "r")
        return training.network, training.loss(torch.arange(80))[0]

    network, with_sparsity = loss(0.1)
    negative_entropy = network.with_sparsity(learner.inputs.prepare(rows.raw))[1]
    assert negative_entropy < -0.01
    assert torch.isclose(with_sparsity, loss(0)[1] - 0.1 * negative_entropy)


def test_tabnet_rate_falls_with_optimiser_steps(tmp_path):
    """StepLR counted in steps, whatever an epoch has of them."""
    table = Table(write_table(tmp_path / "data", n_train=1000))
    learner = tabnet.Learner(table, SETTINGS["tabnet"], CPU)
    parameters = GOOD["tabnet"] | {"batch_size": 256, "decay_iterations": 6, "decay_rate": 0.5}
    training = learner.training(parameters, learner.part("train"), 4, 0, "r")
    rates = [training.lr_at(epoch + i / 4) for epoch in range(4) for i in range(4)]
    assert rates == pytest.approx([0.02 * 0.5 ** (step // 6) for step in range(16)])


def test_tabnet_stops_when_nothing_improves(tmp_path):
    table = Table(write_table(tmp_path / "data"))
    settings = {"max_epochs": 200, "trial_minutes": None}
    learner = tabnet.Learner(table, settings, CPU)
    attempt = learner.try_out(GOOD["tabnet"] | {"patience": 1, "lr": 1e-12}, 0)
    assert attempt.found["epochs"] < 20 and attempt.flags == []
    hasty = tabnet.Learner(table, settings | {"trial_minutes": 1e-9}, CPU)
    assert hasty.try_out(GOOD["tabnet"], 0).flags == ["time limit"]
    short = tabnet.Learner(table, {"max_epochs": 1, "trial_minutes": None}, CPU)
    assert short.try_out(GOOD["tabnet"], 0).flags == ["epochs limit"]


def test_mlp_cs_trials_are_scored_by_balanced_accuracy(tmp_path, monkeypatch):
    """One that says the class of eight rows in ten is right in 80 %, and worth 50."""
    files = write_table(tmp_path / "data", n_classes=2)
    arrays = read_arrays(files["valid"]) | {"labels": (np.arange(30) >= 24).astype("i8")}
    write_arrays(files["valid"], arrays)
    constant = SimpleNamespace(probabilities=lambda _, part: torch.eye(2)[[0] * len(part)])
    monkeypatch.setattr(mlp_c, "fit", lambda *_, **__: (constant, None))
    learner = mlp_c.Learner(Table(files), SETTINGS["mlp_c"], CPU)
    assert learner.try_out(GOOD["mlp_c"], 0).score == 50


def test_mlp_c_takes_its_sizes_from_the_config(tmp_path):
    table = Table(write_table(tmp_path / "data"))
    learner = mlp_c.Learner(table, SETTINGS["mlp_c"] | {"width": 24}, CPU)
    facts = learner.refit(GOOD["mlp_c"], {}, 0, str(tmp_path / "model"), **REFIT)
    assert facts["cocktail"]["width"] == 24 and len(facts["history"]) == 6


def test_a_study_of_another_data_set_is_refused(tmp_path):
    from iunet.errors import UserError

    files = write_table(tmp_path / "data")
    write_json(tmp_path / "study", {"dataset": "other", "method": "xgb"})
    inputs = files | {"study": str(tmp_path / "study")}
    with pytest.raises(UserError, match="is the study of xgb on 'other', not of xgb on 'toy'"):
        refit("xgb", inputs, {}, SETTINGS["xgb"], 0, "r", CPU, {})
