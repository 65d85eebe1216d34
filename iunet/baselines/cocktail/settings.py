"""A cocktail: which of the 13 regularisers are on, and how strong each is.

The thirteen: BatchNorm, weight decay, dropout, snapshot ensemble, stochastic weight averaging,
Lookahead, skip connections, shake-shake, shake-drop, MixUp, CutMix, CutOut, and adversarial
training (FGSM).
"""

from __future__ import annotations

from dataclasses import dataclass

from iunet.errors import UserError

DROPOUT_SHAPES = ("funnel", "long_funnel", "diamond", "hexagon", "brick", "triangle", "stairs")
BRANCHES = ("none", "shake_shake", "shake_drop")
AUGMENTATIONS = ("none", "mixup", "cutmix", "cutout", "fgsm")
CLASS_WEIGHTS = ("none", "balanced")
# What the search may choose, both ends included.
RANGES: dict[str, tuple[float, float]] = {
    "weight_decay": (1e-5, 0.1),
    "dropout": (0.0, 0.8),
    "lookahead_steps": (5, 10),
    "lookahead_alpha": (0.5, 0.8),
    "shake_drop_probability": (0.0, 1.0),
    "mixup_alpha": (0.0, 1.0),
    "cutmix_probability": (0.0, 1.0),
    "cutout_ratio": (0.0, 1.0),
    "cutout_probability": (0.0, 1.0),
}


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
    branch: str = "none"  # what happens to block(x) beside a skip connection
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
    groups: int = 2
    blocks: int = 2  # in each group
    class_weights: str = "balanced"  # of the loss; or none

    def __post_init__(self) -> None:
        choices = {
            "dropout_shape": DROPOUT_SHAPES,
            "branch": BRANCHES,
            "augmentation": AUGMENTATIONS,
            "class_weights": CLASS_WEIGHTS,
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                _refuse(name, getattr(self, name), f"one of {', '.join(known)}")
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                _refuse(name, value, f"between {low} and {high}")
        if self.branch != "none" and not self.skip_connection:
            _refuse("branch", self.branch, "none without a skip connection")


def _refuse(name: str, value: object, expected: str) -> None:
    raise UserError(f"MLP+C's hyperparameter '{name}' is {value}; it must be {expected}.")
