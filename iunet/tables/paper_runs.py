"""The paper's own tables as frames of runs, so that the rule of verdicts applies to them too.

A mean ± std becomes three made-up seeds with that mean and that spread. For a mean alone they are
equal and `spread` is False: only an interval over data sets can use them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from iunet.paper import paper_table

if TYPE_CHECKING:
    import pandas as pd

# Three numbers of mean 0 and standard deviation 1, in two ways that do not correlate: one for
# IUNET, one for what it is compared with, so that a difference has the variance of both.
OURS, THEIRS = (-1.0, 0.0, 1.0), (3**-0.5, -2 * 3**-0.5, 3**-0.5)
VALUES = ("same", "test_primary", "test_accuracy", "test_balanced_accuracy")
MODELS = {  # of table 6
    "mlp_vis": ("mlp_vis", "dense"),
    "iunet_mlp_vis": ("mlp_vis", "iunet"),
    "cnn": ("cnn", "dense"),
}


@functools.cache
def paper_frames() -> dict[str, pd.DataFrame]:
    """By table, with the columns that claims compare."""
    table6 = [row for row in paper_table(6) if row["model"] in MODELS]
    return {
        **{f"table{n}": _frame(map(_of_methods, paper_table(n))) for n in (1, 4)},
        "table5": _frame(
            {"method": method, "transform": row["transform"], "same": row[f"{method}_mean"]}
            | {"std": row[f"{method}_std"], **_place(row)}
            for row in {tuple(r.items()): r for n in (3, 5) for r in paper_table(n)}.values()
            for method in ("iunet", "supernet")
        ),
        "table6": _frame(
            _score(dict(zip(("network", "method"), MODELS[row["model"]], strict=True)) | row)
            for row in table6
        ),
        "table7": _frame(_cells_of_table7()),
    }


def _cells_of_table7() -> Iterator[dict[str, Any]]:
    """One for each method of each row; IUNET alone has a standard deviation."""
    for row in paper_table(7):
        iunet_std = row.pop("iunet_std")
        head = {"dataset": row.pop("dataset"), "network": "mlp_tab"}
        for name, mean in row.items():
            method = {"mlp_tab": "dense"}.get(name, name)
            std = iunet_std if method == "iunet" else ""
            yield _score(head | {"method": method, "mean": mean, "std": std})


def _place(row: dict[str, str]) -> dict[str, str]:
    return {key: row[key] for key in ("dataset", "network")}


def _of_methods(row: dict[str, str]) -> dict[str, Any]:
    return _score({key: row[key] for key in ("method", "mean", "std")} | _place(row))


def _score(row: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(VALUES[1:], row["mean"]) | row


def _frame(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """A row for every made-up seed."""
    import pandas as pd

    found = []
    for row in rows:
        head = {"spread": bool(row["std"])}
        head |= dict.fromkeys(("transform", "distinct_labels", "missing", "failed"))
        names = ("dataset", "network", "method", "transform")
        head |= {key: row[key] for key in names if key in row}
        values = {key: float(row[key]) for key in VALUES if row.get(key)}
        for seed, step in enumerate(OURS if row["method"] == "iunet" else THEIRS):
            more = step * float(row["std"] or 0)
            found.append(head | {"seed": seed} | {k: v + more for k, v in values.items()})
    return pd.DataFrame(found)
