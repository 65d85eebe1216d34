"""What the page says on top of a small config: which data stand in, and what is scaled down."""

from __future__ import annotations

from typing import Any

from iunet.labels import dataset_label

SCALED = {  # what a reader calls it: its key in the config
    "α of MLP_VIS": "networks.mlp_vis.alpha",
    "α of CNN": "networks.cnn.alpha",
    "width of RESNET18": "networks.resnet18.width",
    "width of MLP_TAB": "networks.mlp_tab.width",
    "depth of MLP_TAB": "networks.mlp_tab.depth",
    "epochs of supernets": "train.supernet.epochs",
    "epochs of fine-tuning on images": "train.finetune_vision.epochs",
    "epochs of the first cycle on tables": "train.finetune_tabular.first_cycle_epochs",
    "learning rate of supernets": "train.supernet.optimiser.lr",
}
COUNTED = {  # the same for lists, by their lengths
    "seeds": "seeds",
    "image sets": "datasets.vision",
    "tables": "datasets.tabular",
    "ratios on images": "prune.vision.ratios",
    "values of β-LASSO's l1": "beta_lasso.l1",
}
TUNED = {"XGB": "tuning.xgb", "TABN": "tuning.tabnet", "MLP_TAB+C": "tuning.mlp_c"}


def notice(config: dict[str, Any], paper: dict[str, Any]) -> str | None:
    """None unless data sets stand in for the paper's; `paper` is the paper's config."""
    if not config["stand_ins"]:
        return None
    pairs = [f"{ours} for {dataset_label(name)}" for name, ours in config["stand_ins"].items()]
    small = scaled_down(config, paper)
    return (
        f"The paper's benchmark, scaled down. Data sets that stand in: {', '.join(pairs)}. In "
        f"brackets the paper's: {'; '.join(small)}. The numbers compare the methods on these data "
        "and networks, and say little about the paper's."
    )


def scaled_down(config: dict[str, Any], paper: dict[str, Any]) -> list[str]:
    """Every size of the config that is not the paper's, with the paper's in brackets."""
    found = []
    for name, key in COUNTED.items():
        ours, theirs = len(value(config, key)), len(value(paper, key))
        found += [f"{ours} {name} ({theirs})"] * (ours != theirs)
    for name, key in SCALED.items():
        ours, theirs = value(config, key), value(paper, key)
        found += [f"{name} {ours} ({theirs})"] * (ours != theirs)
    for name, key in TUNED.items():
        ours, theirs = trials(value(config, key)), trials(value(paper, key))
        found += [f"{ours} of {name} ({theirs})"] * (ours != theirs)
    return found


def trials(study: dict[str, Any]) -> str:
    return f"{study['trials']} trials{' per hyperparameter' * (study['per'] == 'hyperparameter')}"


def value(config: dict[str, Any], key: str) -> Any:
    for name in key.split("."):
        config = config[name]
    return config
