"""What tables call metrics, and which of them the paper's columns are in."""

from __future__ import annotations

from collections.abc import Iterable

from iunet.baselines.catalog import LEARNERS
from iunet.labels import METRIC_LABELS, dataset_label
from iunet.networks.catalog import network_entry
from iunet.runs.names import base_network

TRANSFORMS = ("resize", "horiz", "color", "graysc", "feat")


def is_tabular(network: str) -> bool:
    """Whether a network, or a tuned learner in its place, is for tables."""
    return network in LEARNERS or network_entry(base_network(network)).kind == "tabular"


def metric_labels(metrics: Iterable[str]) -> dict[str, str]:
    return {metric: METRIC_LABELS[metric] for metric in metrics if metric in METRIC_LABELS}


def paper_metric(method: str, tabular: bool) -> str:
    """Which of our metrics a method's column of the paper is compared with."""
    if not tabular:
        return "accuracy"
    return "balanced_accuracy" if method in LEARNERS else "swapped_balanced_accuracy"


def stand_in_text(stand_ins: dict[str, str] | None) -> str:
    """A sentence for captions: which data sets take the place of the paper's."""
    if not stand_ins:
        return ""
    pairs = [f"{ours} for {dataset_label(paper)}" for paper, ours in stand_ins.items()]
    return f" Stand-ins for the paper's data: {', '.join(pairs)}."
