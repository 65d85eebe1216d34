"""The parameters of a classifier: their allowed values, and the settings of the stages."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state

from iunet.errors import DataError, nearest
from iunet.machine.device import DEVICES
from iunet.method.catalog import OBJECTIVES
from iunet.runs.names import INITS, STRUCTURES
from iunet.training.finetune import FinetuneSettings
from iunet.training.supernet import SupernetSettings

WHOLE = {  # parameter → smallest value
    "width": 1,
    "depth": 1,
    "batch_size": 2,
    "supernet_epochs": 1,
    "first_cycle_epochs": 1,
    "cycle_factor": 1,
    "cycles": 1,
    "max_categories": 2,
    "n_threads": 1,
}
REAL = {  # parameter → the range of its values, and whether the lower end is included
    "ratio": (1, math.inf, True),
    "kappa": (0, math.inf, False),
    "nce_weight": (0, math.inf, True),
    "corruption": (0, 1, True),
    "supernet_lr": (0, math.inf, False),
    "supernet_momentum": (0, 1, True),
    "finetune_lr": (0, math.inf, False),
    "weight_decay": (0, math.inf, True),
}
WORDS = {
    "effort": ("paper", "quick"),
    "structure": tuple(STRUCTURES),
    "objective": tuple(OBJECTIVES),
    "init": INITS,
    "device": DEVICES,
}
# What `effort` sets where a parameter is None; benchmarks/effort.py found those of "quick".
EFFORTS = {
    "paper": {
        "batch_size": 128,
        "supernet_epochs": 100,
        "supernet_lr": 0.001,
        "first_cycle_epochs": 15,
        "cycles": 3,
        "finetune_lr": 0.001,
    },
    "quick": {
        "batch_size": 64,
        "supernet_epochs": 6,
        "supernet_lr": 0.02,
        "first_cycle_epochs": 12,
        "cycles": 1,
        "finetune_lr": 0.002,
    },
}
MOST_THREADS = 1024  # a billion would make torch end the process
SEEDS = 2**64  # torch's seeds are below


def checked_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters as plain values; impossible ones are refused by name.

    NumPy's numbers, which a grid search may set, become Python's, because JSON cannot hold them.
    """
    parameters = estimator.get_params(deep=False)
    for name, words in WORDS.items():
        if (value := parameters[name]) not in words:
            _refuse(name, value, f"one of {', '.join(words)}", nearest(value, words))
    for name, value in EFFORTS[parameters["effort"]].items():
        if parameters[name] is None:
            parameters[name] = value
    for name, least in WHOLE.items():
        value = parameters[name]
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
            _refuse(name, value, f"a whole number of at least {least}")
        parameters[name] = int(value)
    if parameters["n_threads"] > MOST_THREADS:
        _refuse("n_threads", parameters["n_threads"], f"at most {MOST_THREADS}")
    for name, (low, high, closed) in REAL.items():
        value = parameters[name]
        number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if number and math.isinf(value):
            _refuse(name, value, "finite")
        if not number or not (low <= value <= high) or (value == low and not closed):
            least = f"of at least {low}" if closed else f"above {low}"
            most = "" if high == math.inf else f" and at most {high}"
            _refuse(name, value, f"a number {least}{most}")
        parameters[name] = float(value)
    for name in ("snapshot_ensemble", "verbose"):
        parameters[name] = bool(parameters[name])
    weights, columns = parameters["class_weight"], parameters["categorical_features"]
    if isinstance(weights, dict):
        weights = {_item(label): _item(weight) for label, weight in weights.items()}
        parameters["class_weight"] = weights
    elif weights is not None and not (isinstance(weights, str) and weights == "balanced"):
        _refuse("class_weight", weights, "a dictionary, 'balanced' or None")
    if columns is not None:
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            _refuse("categorical_features", columns, "a list of names or positions, or a mask")
        parameters["categorical_features"] = [_item(column) for column in columns]
    seed = estimator.random_state
    is_number = isinstance(seed, numbers.Integral)
    if is_number and not 0 <= seed < SEEDS:
        _refuse("random_state", seed, "at least 0 and below 2**64")
    parameters["random_state"] = int(seed) if is_number else None  # a model keeps the drawn seed
    return parameters


def drawn_seed(random_state: Any) -> int:
    """The seed that a `random_state` is, or draws."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _refuse(name: str, value: Any, allowed: str, hint: str = "") -> None:
    raise DataError(f"The parameter '{name}' is {value!r}, but must be {allowed}.{hint}")


def supernet_settings(parameters: dict[str, Any], seed: int) -> SupernetSettings:
    """The parameters as the settings of the first training."""
    return SupernetSettings(
        kappa=parameters["kappa"],
        objective=parameters["objective"],
        epochs=parameters["supernet_epochs"],
        lr=parameters["supernet_lr"],
        weight=parameters["nce_weight"],
        momentum=parameters["supernet_momentum"],
        nesterov=parameters["supernet_momentum"] > 0,
        histograms=False,
        **_common(parameters, seed),
    )


def finetune_settings(parameters: dict[str, Any], seed: int) -> FinetuneSettings:
    """The parameters as the settings of the second training."""
    same = ("weight_decay", "first_cycle_epochs", "cycle_factor", "cycles", "snapshot_ensemble")
    return FinetuneSettings(
        optimiser="adamw",
        lr=parameters["finetune_lr"],
        **{name: parameters[name] for name in same},
        **_common(parameters, seed),
    )


def _common(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    balanced = parameters["class_weight"] == "balanced"
    weights = "balanced" if balanced else "unweighted"
    return {"batch_size": parameters["batch_size"], "class_weights": weights, "seed": seed}
