"""What tables call metrics, and which of them the paper's columns are in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from iunet.baselines.catalog import LEARNERS
from iunet.labels import METRIC_LABELS
from iunet.networks.catalog import network_entry
from iunet.runs.names import base_network

if TYPE_CHECKING:
    import pandas as pd


def is_tabular(network: str) -> bool:
    """Whether a network, or a tuned learner in its place, is for tables."""
    return network in LEARNERS or network_entry(base_network(network)).kind == "tabular"


def with_primary(runs: pd.DataFrame) -> pd.DataFrame:
    """With the metric that counts: accuracy of images, balanced accuracy of tables."""
    tabular = runs["network"].map(is_tabular).astype(bool)
    columns = {}
    for part in ("valid", "test"):
        balanced, plain = runs[f"{part}_balanced_accuracy"], runs[f"{part}_accuracy"]
        columns[f"{part}_primary"] = balanced.where(tabular, plain)
    return runs.assign(**columns)


def metric_labels(metrics: Iterable[str]) -> dict[str, str]:
    return {metric: METRIC_LABELS[metric] for metric in metrics if metric in METRIC_LABELS}


def paper_metric(method: str, network: str) -> str:
    """Which of our metrics a method's column of the paper is compared with."""
    if not is_tabular(network):
        return "accuracy"
    return "balanced_accuracy" if method in LEARNERS else "swapped_balanced_accuracy"
