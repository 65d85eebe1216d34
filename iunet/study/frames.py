"""runs.csv as frames of scores, and frames as Markdown."""

from __future__ import annotations

import pandas as pd

from iunet.runs.names import base_network
from iunet.tables.questions import NETWORKS, SCORE, shown


def markdown(header: list[str], lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, ["---"] * len(header), *lines])


def scores(runs: pd.DataFrame, kind: str, column: str | None = None) -> pd.DataFrame:
    """A column of runs.csv by data set and seed (rows) and method (columns).

    Of the runs that stand for their methods in the questions, on the main network of the kind.
    """
    part = shown(runs, kind)
    main = (part["stage"] == "tuned") | (part["network"].map(base_network) == NETWORKS[kind])
    part = part[main & part["failed"].isna()]
    values = column or SCORE[kind]
    wide = part.pivot(index=["dataset", "seed"], columns="method", values=values).astype(float)
    return wide.reindex(part["dataset"].unique(), level=0)


def by_dataset(wide: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds."""
    return wide.groupby("dataset", sort=False).mean()
