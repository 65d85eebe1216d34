"""The scale of the paper, and what of a config is smaller."""

from __future__ import annotations

from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.runs.settings import Config, study_budget

PAPER_TRIALS = {"xgb": 600, "tabnet": 440, "mlp_c": 840}
EPOCHS = {"train.supernet.epochs": ("epochs of supernets", 100)}
# By the kind of data that is concerned: a key of the config, what a reader calls it, the paper's
# value (of a list: how many there are).
PAPER_SCALE = {
    "benchmark": {
        "seeds": ("seeds", 3),
        "datasets.vision": ("image sets", 3),
        "datasets.tabular": ("tables", 40),
        "prune.vision.ratios": ("ratios on images", 4),
        "beta_lasso.l1": ("values of β-LASSO's l1", 5),
    },
    "vision": {
        "networks.mlp_vis.alpha": ("α of MLP_VIS", 8),
        "networks.cnn.alpha": ("α of CNN", 8),
        "networks.resnet18.width": ("width of RESNET18", 1.0),
        **EPOCHS,
        "train.finetune_vision.epochs": ("epochs of fine-tuning on images", 100),
    },
    "tabular": {
        "networks.mlp_tab.width": ("width of MLP_TAB", 512),
        "networks.mlp_tab.depth": ("depth of MLP_TAB", 9),
        **EPOCHS,
        "train.finetune_tabular.first_cycle_epochs": ("epochs of the first cycle on tables", 15),
        "train.finetune_tabular.cycles": ("cycles on tables", 3),
    },
}


def scaled_down(config: Config) -> dict[str, list[str]]:
    """What is smaller than in the paper, by kind of data, and for the tuning.

    The paper's value is in brackets. Kinds at the paper's scale are left out.
    """
    found: dict[str, list[str]] = {}
    for kind, scale in PAPER_SCALE.items():
        for key, (name, full) in scale.items():
            if config["own"] and key.startswith("datasets."):
                continue  # one data set is all that its owner asked for
            value = config_value(config, key)
            size = len(value) if isinstance(value, list) else value
            if size < full:
                found.setdefault(kind, []).append(f"{name} {size} ({full})")
    for learner, full in PAPER_TRIALS.items():
        budget = study_budget(config, learner)
        less = [f"trials {budget['trials']} ({full})"] if budget["trials"] < full else []
        less += [f"at most {budget['minutes']} minutes"] if budget["minutes"] else []
        if less:
            found.setdefault("tuning", []).append(f"{LEARNERS[learner].label} {', '.join(less)}")
    return found


def config_value(config: Config, key: str) -> Any:
    """The value of a key like `networks.mlp_vis.alpha`."""
    for name in key.split("."):
        config = config[name]
    return config
