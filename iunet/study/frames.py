"""runs.csv as frames of scores, and frames as Markdown."""

from __future__ import annotations

import pandas as pd

from iunet.runs.names import base_network
from iunet.tables.questions import FIXED_RATIO, NETWORKS, SCORE


def markdown(header: list[str], lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, ["---"] * len(header), *lines])


def scores(runs: pd.DataFrame, kind: str, column: str | None = None) -> pd.DataFrame:
    """A column of runs.csv by data set and seed (rows) and method (columns).

    Tables stand at the candidate that was chosen, images at one ratio; supernets only where they
    are a method of their own.
    """
    network = runs["network"].map(base_network) == NETWORKS[kind]
    of_kind = network | ((runs["stage"] == "tuned") & (kind == "tabular"))
    chosen = runs["chosen"].fillna(False)
    candidate = chosen if kind == "tabular" else runs["ratio"].isin([1, FIXED_RATIO])
    stands = (runs["stage"] != "subnetwork") | candidate
    stands &= (runs["stage"] != "supernet") | (runs["method"] == "iunet_no_prune")
    shown = runs[of_kind & stands & runs["failed"].isna()]
    wide = shown.pivot(
        index=["dataset", "seed"], columns="method", values=column or SCORE[kind]
    ).astype(float)
    return wide.reindex(shown["dataset"].unique(), level=0)


def by_dataset(wide: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds."""
    return wide.groupby("dataset", sort=False).mean()
