"""runs.csv as frames of scores and of comparisons, and frames as Markdown."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from iunet.results.selection import MAIN_NETWORKS, main_runs
from iunet.tables.differences import compared
from iunet.tables.verdicts import finding

NAMES = {"tabular": "tables", "vision": "images"}

# `ours` is better than `theirs`, on the main network of each kind of data; some on the front page.
COMPARISONS = pd.read_csv(
    Path(__file__).with_name("comparisons.csv"), true_values=["yes"], false_values=["no"]
)
# IUNET with one setting changed: its value by method. Three of them are methods of their own.
SWEEPS = pd.read_csv(Path(__file__).with_name("sweeps.csv"), dtype=str)
SWEPT = {*SWEEPS["method"]} - {"iunet", "iunet_no_pis", "iunet_no_ilo"}


def scores(runs: pd.DataFrame, kind: str, column: str = "test_primary") -> pd.DataFrame:
    """A column of the main runs by data set and seed (rows) and method (columns)."""
    part = main_runs(runs, kind)
    part = part[part["failed"].isna()]
    wide = part.pivot(index=["dataset", "seed"], columns="method", values=column)
    return wide.astype(float).reindex(part["dataset"].unique(), level=0)


def by_dataset(values: pd.DataFrame | pd.Series) -> pd.DataFrame | pd.Series:
    """Means over seeds."""
    return values.groupby("dataset", sort=False).mean()


def differences(runs: pd.DataFrame, kind: str, ours: str, theirs: str) -> pd.Series:
    """ours − theirs by data set and seed, on the main network of a kind of data."""
    return compared(main_runs(runs, kind), ours, theirs, "test_primary").differences


def comparisons(runs: pd.DataFrame) -> pd.DataFrame:
    """A row for every comparison on every kind of data that was run.

    `cut_off` names the data sets on which some network of either side has a layer without any
    weight, `other_processors` those on which the sides of a seed ran on different processors (the
    oldest reports do not name theirs).
    """
    mains = {kind: main_runs(runs, kind) for kind in MAIN_NETWORKS}
    found = []
    for row in COMPARISONS.to_dict("records"):
        for kind in row["kinds"].split():
            methods = [row["ours"], row["theirs"]]
            sides = mains[kind][mains[kind]["method"].isin(methods)]
            if sides["method"].nunique() < 2:
                continue
            each = finding(compared(sides, *methods, "test_primary").differences)
            if each.effect is None:
                continue
            sides = sides.set_index(["dataset", "seed"])
            processors = sides.groupby(level=["dataset", "seed"])["processor"].nunique()
            facts = {
                "cut_off": {*sides.query("disconnected").index.get_level_values("dataset")},
                "other_processors": {name for name, _ in processors.index[processors > 1]},
            }
            sets = each.effect.datasets
            named = {key: [n for n in sets if n in names] for key, names in facts.items()}
            found.append(row | {"kind": kind, "finding": each} | named)
    return pd.DataFrame(found)


def markdown(header: list[str], lines: pd.DataFrame | list[list]) -> str:
    """A table of texts and whole numbers."""
    shown = [header, ["---"] * len(header), *pd.DataFrame(lines).astype(str).to_numpy()]
    return "\n".join(f"| {' | '.join(line)} |" for line in shown)
