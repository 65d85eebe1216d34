"""The search space of MLP+C, for Optuna.

A hyperparameter is asked for only where it has an effect: a strength when its switch is on, a
branch beside a skip connection. Ranges are linear, as in the original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iunet.baselines.cocktail.settings import (
    AUGMENTATIONS,
    BRANCHES,
    DROPOUT_SHAPES,
    RANGES,
    Cocktail,
)
from iunet.errors import UserError

if TYPE_CHECKING:
    import optuna

# Every hyperparameter, in the order of asking; a trial has some of them.
NAMES = (
    "use_batch_norm",
    "use_weight_decay",
    "weight_decay",
    "use_dropout",
    "dropout",
    "dropout_shape",
    "use_snapshot_ensemble",
    "use_swa",
    "use_lookahead",
    "lookahead_steps",
    "lookahead_alpha",
    "use_skip_connection",
    "branch",
    "shake_drop_probability",
    "augmentation",
    "mixup_alpha",
    "cutmix_probability",
    "cutout_ratio",
    "cutout_probability",
)


def suggest(trial: optuna.trial.BaseTrial) -> dict[str, Any]:
    """The parameters of a trial; `from_parameters` makes a cocktail of them."""
    chosen: dict[str, Any] = {}

    def one_of(name: str, *choices: Any) -> Any:
        chosen[name] = trial.suggest_categorical(name, choices)
        return chosen[name]

    def number(name: str) -> None:
        chosen[name] = trial.suggest_float(name, *RANGES[name])

    def switch(name: str) -> bool:
        return one_of(f"use_{name}", False, True)

    switch("batch_norm")
    if switch("weight_decay"):
        number("weight_decay")
    if switch("dropout"):
        number("dropout")
        one_of("dropout_shape", *DROPOUT_SHAPES)
    switch("snapshot_ensemble")
    switch("swa")
    if switch("lookahead"):
        chosen["lookahead_steps"] = trial.suggest_int("lookahead_steps", *RANGES["lookahead_steps"])
        number("lookahead_alpha")
    if switch("skip_connection") and one_of("branch", *BRANCHES) == "shake_drop":
        number("shake_drop_probability")
    children = {
        "mixup": ("mixup_alpha",),
        "cutmix": ("cutmix_probability",),
        "cutout": ("cutout_ratio", "cutout_probability"),
    }
    for name in children.get(one_of("augmentation", *AUGMENTATIONS), ()):
        number(name)
    return chosen


def from_parameters(parameters: dict[str, Any], **fixed: Any) -> Cocktail:
    """The cocktail of a trial's parameters; `fixed` are fields that the search leaves alone."""
    chosen = suggest(_Stored(parameters))
    if extra := sorted(set(parameters) - set(chosen)):
        raise UserError(
            f"MLP+C's hyperparameter '{extra[0]}' is {parameters[extra[0]]}, but with these others "
            f"it is not asked for ({', '.join(chosen)})."
        )
    fields = {name: value for name, value in chosen.items() if not name.startswith("use_")}
    for name in ("batch_norm", "snapshot_ensemble", "swa", "lookahead", "skip_connection"):
        fields[name] = bool(chosen[f"use_{name}"])  # the other switches are their strength
    return Cocktail(**fields, **fixed)


class _Stored:
    """Stands for a trial, and answers with what was chosen before."""

    def __init__(self, parameters: dict[str, Any]):
        self.parameters = parameters

    def suggest_categorical(self, name: str, choices: tuple) -> Any:
        value = self._value(name)
        if value not in choices:
            known = ", ".join(map(str, choices))
            raise UserError(
                f"MLP+C's hyperparameter '{name}' is {value}; it must be one of {known}."
            )
        return value

    def suggest_float(self, name: str, *_: float) -> float:
        return float(self._value(name))  # its range is checked by the cocktail

    def suggest_int(self, name: str, *_: float) -> int:
        return int(self._value(name))

    def _value(self, name: str) -> Any:
        if name not in self.parameters:
            raise UserError(f"MLP+C's hyperparameter '{name}' is missing from {self.parameters}.")
        return self.parameters[name]
