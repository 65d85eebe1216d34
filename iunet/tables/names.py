"""What tables call metrics, and which of them the paper's columns are in."""

from __future__ import annotations

from collections.abc import Iterable

from iunet.labels import dataset_label
from iunet.runs import TUNED

TRANSFORMS = ("resize", "horiz", "color", "graysc", "feat")
METRICS = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "swapped_balanced_accuracy": "Swapped balanced accuracy",
    "primary": "Accuracy (images), balanced accuracy (tables)",
    "like_the_paper": "Each method in the metric of the paper's column",
    "value": "Value",
}
SCORES = ["accuracy", "balanced_accuracy", "swapped_balanced_accuracy"]

TABULAR_NETWORK = "mlp_tab"


def base_network(network: str) -> str:
    """The network without its variant: `mlp_vis` of `mlp_vis-alpha4`."""
    return network.split("-")[0]


def is_tabular(network: str) -> bool:
    return base_network(network) == TABULAR_NETWORK or network in TUNED


def metric_labels(metrics: Iterable[str]) -> dict[str, str]:
    return {metric: METRICS[metric] for metric in metrics if metric in METRICS}


def paper_metric(method: str, tabular: bool) -> str:
    """Which of our metrics a method's column of the paper is compared with."""
    if not tabular:
        return "accuracy"
    return "balanced_accuracy" if method in TUNED else "swapped_balanced_accuracy"


def stand_in_text(stand_ins: dict[str, str] | None) -> str:
    """A sentence for captions: which data sets take the place of the paper's."""
    if not stand_ins:
        return ""
    pairs = [f"{ours} for {dataset_label(paper)}" for paper, ours in stand_ins.items()]
    return f" Stand-ins for the paper's data: {', '.join(pairs)}."
