"""A cocktail: which of the 13 regularisers are on and how strong each is, and how one is drawn.

The thirteen: BatchNorm, weight decay, dropout, snapshot ensemble, stochastic weight averaging,
Lookahead, skip connections, shake-shake, shake-drop, MixUp, CutMix, CutOut, and adversarial
training (FGSM).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import optuna

# Dropout rates of the two groups of the network, relative to the largest. The original computes
# them by a function for layer widths, which rounds its steps down to whole numbers, so that rates
# below 1 never change by a step. Here steps are fractions, as the names of the shapes promise.
DROPOUT_SHAPES = {
    "funnel": (1.0, 0.5),
    "long_funnel": (1.0, 1.0),
    "diamond": (1.0, 0.5),
    "hexagon": (1.0, 1.0),
    "brick": (1.0, 1.0),
    "triangle": (0.5, 1.0),
    "stairs": (1.0, 1.0),
}
SWITCHES = ("batch_norm", "snapshot_ensemble", "swa", "lookahead", "skip_connection")


@dataclass(frozen=True)
class Cocktail:
    """All hyperparameters of an MLP+C; every regulariser is off by default."""

    batch_norm: bool = False  # before every ReLU
    weight_decay: float | None = None  # decoupled, on all parameters; None: off
    dropout: float | None = None  # the largest rate of a group; None: off
    dropout_shape: str = "funnel"  # how the rate changes from group to group
    snapshot_ensemble: bool = False  # mean softmax of the networks at the cycles' ends
    swa: bool = False  # mean weights of the networks at the cycles' ends
    lookahead: bool = False
    lookahead_steps: int = 6  # of AdamW, for one of the slow weights
    lookahead_alpha: float = 0.6  # how far the slow weights follow the fast ones
    skip_connection: bool = False  # x + block(x) instead of block(x)
    branch: str = "none"  # what happens to block(x) if there is a skip connection
    shake_drop_probability: float = 0.5  # that the last block is shaken; earlier ones less
    augmentation: str = "none"
    mixup_alpha: float = 0.2  # λ ~ Beta(α, α)
    cutmix_probability: float = 0.2  # that a batch is changed
    cutout_ratio: float = 0.2  # share of the features that is set to 0
    cutout_probability: float = 0.2  # that a batch is changed
    fgsm_epsilon: float = 0.007  # length of the adversarial step in each input; not searched

    lr: float = 1e-3
    batch_size: int = 128
    first_cycle_epochs: int = 15  # of the cosine schedule with restarts
    cycle_factor: int = 2
    cycles: int = 3
    width: int = 512
    class_weights: str = "balanced"  # of the loss; or none


def suggest(trial: optuna.trial.Trial) -> dict[str, Any]:
    """The parameters of a trial; `from_parameters` makes a cocktail of them.

    A hyperparameter is drawn only where it has an effect: a strength if its switch is on, a branch
    if there is a skip connection. Ranges are linear, as in the original.
    """

    def switch(name: str) -> bool:
        return trial.suggest_categorical(f"use_{name}", (False, True))

    switch("batch_norm")
    if switch("weight_decay"):
        trial.suggest_float("weight_decay", 1e-5, 0.1)
    if switch("dropout"):
        trial.suggest_float("dropout", 0, 0.8)
        trial.suggest_categorical("dropout_shape", tuple(DROPOUT_SHAPES))
    switch("snapshot_ensemble")
    switch("swa")
    if switch("lookahead"):
        trial.suggest_int("lookahead_steps", 5, 10)
        trial.suggest_float("lookahead_alpha", 0.5, 0.8)
    if switch("skip_connection"):
        branch = trial.suggest_categorical("branch", ("none", "shake_shake", "shake_drop"))
        if branch == "shake_drop":
            trial.suggest_float("shake_drop_probability", 0, 1)
    kinds = ("none", "mixup", "cutmix", "cutout", "fgsm")
    kind = trial.suggest_categorical("augmentation", kinds)
    if kind == "mixup":
        trial.suggest_float("mixup_alpha", 0, 1)
    if kind == "cutmix":
        trial.suggest_float("cutmix_probability", 0, 1)
    if kind == "cutout":
        trial.suggest_float("cutout_ratio", 0, 1)
        trial.suggest_float("cutout_probability", 0, 1)
    return trial.params


def from_parameters(parameters: dict[str, Any], **fixed: Any) -> Cocktail:
    """The cocktail of a trial's parameters; `fixed` are fields that the search leaves alone."""
    strengths = {k: v for k, v in parameters.items() if not k.startswith("use_")}
    switches = {name: parameters[f"use_{name}"] for name in SWITCHES}
    return Cocktail(**strengths, **switches, **fixed)
