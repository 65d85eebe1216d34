"""Tables of scores: mean ± std over seeds by row and column, with the paper's value beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from iunet.labels import SCORES, method_label, method_order
from iunet.paper import paper_table
from iunet.runs.names import SURVIVORS
from iunet.tables.cells import cell_of, grouped, in_order, table_rows
from iunet.tables.context import Context
from iunet.tables.document import Column, PaperValue, TableDocument, compare_with_paper, mark_best
from iunet.tables.names import metric_labels, with_primary

if TYPE_CHECKING:
    import pandas as pd

MEAN_NOTE = (
    "Mean ± sample standard deviation (n − 1) over seeds; without ± there is one seed. Agreement "
    "with the paper: |ours − paper| ≤ t·√(s²/n + s_paper²/3), t being the 97.5 % quantile of "
    "Student's t at Welch's degrees of freedom and the paper's ± taken for a sample standard "
    "deviation of 3 seeds; n/a where one of the two is missing. If all cells were equal to the "
    "paper's, 95 % of the judged ones would agree."
)
SPREAD_NOTE = MEAN_NOTE + " The best of each row, as rounded here, is bold."
SWAPPED_NOTE = (
    "The paper's MLP_TAB-family columns look computed with the arguments of balanced accuracy "
    "swapped, so they are compared with our swapped balanced accuracy; XGB, TABN and MLP_TAB+C "
    "with balanced accuracy. The paper gives no ± for these three: they look taken from Kadra et "
    "al. (2021)."
)
PRIMARY = ["primary", *SCORES]

Published = dict[tuple[str, ...], tuple[float, float | None]]  # (mean, std) by row and column


def score_table(
    runs: pd.DataFrame,
    context: Context,
    caption: str,
    metrics: list[str],
    rows: tuple[str, ...] = ("network", "dataset"),
    column: str = "method",
    columns: Iterable[str] = (),
    label: Callable[[str], str] = method_label,
    paper: Published | None = None,
    metric_of: Callable[[dict[str, str]], str] | None = None,
    column_metric: Callable[[str], str] | None = None,
    notes: Iterable[str] = (),
    default_metric: str = "",
) -> TableDocument:
    """Mean test scores of `runs` (one row per seed); the first metric is shown first, or another.

    `columns` come first, then what else the runs have. `metric_of` says, for the keys of a row and
    column, with which of our metrics the paper's value is compared; `column_metric` says it of a
    whole column, where it does not depend on the row.
    """
    runs = with_primary(runs)
    names = in_order([*columns, *runs[column]])
    parts = grouped(runs, [*rows, column])
    heads = table_rows(runs, rows, context)
    cells: dict[str, dict] = {}
    for key, head in heads.items():
        cells[head.key] = {}
        for name in names:
            part = parts.get((*key, name))
            cell = cell_of(part, {metric: f"test_{metric}" for metric in metrics})
            cell.notes += [] if part is None else density_note(part)
            if found := (paper or {}).get((*key, name)):
                keys = dict(zip((*rows, column), (*key, name), strict=True))
                compare_with_paper(cell, PaperValue(*found, metric_of(keys)))
            cells[head.key][name] = cell
    table = TableDocument(
        caption=caption,
        row_header=[word.capitalize() for word in rows],
        rows=list(heads.values()),
        columns=[
            Column(name, label(name), column_metric(name) if column_metric else None)
            for name in names
        ],
        metrics=metrics,
        default_metric=default_metric,
        cells=cells,
        metric_labels=metric_labels(metrics),
        notes=[SPREAD_NOTE, *notes],
    )
    mark_best(table)
    return table


def primary_table(
    runs: pd.DataFrame, context: Context, caption: str, notes: Iterable[str] = ()
) -> TableDocument:
    """Networks and data sets by methods, in the one order that these have everywhere."""
    methods = method_order(runs["method"])
    return score_table(runs, context, caption, PRIMARY, columns=methods, notes=notes)


def density_note(rows: pd.DataFrame) -> list[str]:
    """How much β-LASSO keeps, whose density is found and not given."""
    survived = rows[rows["cut"].astype(str).str.startswith(SURVIVORS)]
    shares = survived["kept_encoder_weights"] / survived["encoder_weights"]
    shares = shares.dropna()
    return [] if shares.empty else [f"keeps {100 * shares.mean():.2g} % of the encoder's weights"]


def paper_cells(number: int, *keys: str) -> Published:
    """(mean, std) of a table of the paper in long form, by the named columns."""
    return {
        tuple(row[key] for key in keys): (
            float(row["mean"]),
            float(row["std"]) if row.get("std") else None,
        )
        for row in paper_table(number)
    }
