"""What the page says on top of a small config: which data stand in, and what is scaled down."""

from __future__ import annotations

from iunet.labels import dataset_label
from iunet.runs.scale import config_value, scaled_down
from iunet.runs.settings import Config

LEARNING_RATE = ("train.supernet.optimiser.lr", 0.001)  # of supernets, in the paper


def notice(config: Config) -> str | None:
    """None unless data sets stand in for the paper's."""
    if not config["stand_ins"]:
        return None
    pairs = [f"{ours} for {dataset_label(name)}" for name, ours in config["stand_ins"].items()]
    small = dict.fromkeys(text for texts in scaled_down(config).values() for text in texts)
    key, papers = LEARNING_RATE
    if (rate := config_value(config, key)) != papers:
        small[f"learning rate of supernets {rate} ({papers})"] = None
    return (
        f"The paper's benchmark, scaled down. Data sets that stand in: {', '.join(pairs)}. In "
        f"brackets the paper's: {'; '.join(small)}. The numbers compare the methods on these data "
        "and networks, and say little about the paper's."
    )
