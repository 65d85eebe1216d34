"""The values that a classifier's parameters may have."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from iunet.errors import DataError, nearest

WHOLE = {  # parameter → its least value
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
REAL = {  # parameter → the range of its values, and whether its lower end is one of them
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
    "structure": ("weight", "unit"),
    "objective": ("ilo", "sup", "scl"),
    "init": ("torch_default", "he_normal", "glorot"),
    "device": ("auto", "cpu", "cuda"),
}
SEEDS = 2**64  # torch takes smaller ones


def check_parameters(estimator: Any) -> None:
    """Refuse a value that no training can have, by the parameter's name."""
    for name, least in WHOLE.items():
        value = getattr(estimator, name)
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
            _refuse(name, value, f"a whole number of at least {least}")
    for name, (low, high, closed) in REAL.items():
        value = getattr(estimator, name)
        number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if number and math.isinf(value):
            _refuse(name, value, "finite")
        if not number or not (low <= value <= high) or (value == low and not closed):
            least = f"at least {low}" if closed else f"above {low}"
            most = "" if high == math.inf else f" and at most {high}"
            _refuse(name, value, f"a number {least}{most}")
    for name, words in WORDS.items():
        value = getattr(estimator, name)
        if value not in words:
            _refuse(name, value, f"one of {', '.join(words)}", nearest(value, words))
    weight = estimator.class_weight
    named = isinstance(weight, str) and weight == "balanced"  # an array cannot be compared
    if weight is not None and not named and not isinstance(weight, dict):
        _refuse("class_weight", weight, "a dictionary, 'balanced' or None")
    seed = estimator.random_state
    if isinstance(seed, numbers.Integral) and not 0 <= seed < SEEDS:
        _refuse("random_state", seed, "at least 0 and below 2**64")


def weights_of(classes: np.ndarray, given: dict[Any, float]) -> np.ndarray:
    """The parameter `class_weight` by class; a class that it does not name has weight 1."""
    labels = classes.tolist()
    unknown = [label for label in given if label not in labels]
    if unknown and set(labels) - set(given):  # of a class that these rows lack, it is no mistake
        raise DataError(
            f"The parameter 'class_weight' names the class {unknown[0]!r}, which is not among "
            f"{labels}."
        )
    weights = np.array([given.get(label, 1.0) for label in labels], dtype=np.float64)
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise DataError(
            f"The parameter 'class_weight' is {given}, but weights are above 0: leave rows of a "
            "class out instead."
        )
    return weights


def _refuse(name: str, value: Any, allowed: str, hint: str = "") -> None:
    raise DataError(f"The parameter '{name}' is {value!r}, but must be {allowed}.{hint}")
