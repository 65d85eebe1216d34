"""Tables of scores: mean ± std over seeds by row and column, compared with the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from iunet.labels import METRIC_LABELS, SCORES, method_label, method_order
from iunet.runs.names import SURVIVORS
from iunet.tables.cells import cell_of, grouped_table
from iunet.tables.document import Cell, Column, TableDocument, compare_with_paper
from iunet.tables.paper_values import Published

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


def score_table(
    runs: pd.DataFrame,
    caption: str,
    metrics: list[str],
    labels: dict[str, str],
    rows: tuple[str, ...] = ("network", "dataset"),
    column: str = "method",
    paper: Published | None = None,
    column_metric: Callable[[str], str | None] = lambda name: None,
    notes: Iterable[str] = (),
    default_metric: str = "",
    best_among: Iterable[Iterable[str]] | None = None,
) -> TableDocument:
    """Mean test scores of `runs` (one row per seed); the first metric is shown first, or another.

    The columns of `labels` come first, then what else the runs have. `column_metric` says with
    which of our metrics a column of the paper is compared, where it does not depend on the row.
    """
    labels = {name: method_label(name) for name in [*labels, *runs[column]]} | labels

    def cells(key: tuple, part: pd.DataFrame) -> dict[str, Cell]:
        found = {}
        for name in labels:
            own = part[part[column] == name]
            found[name] = cell_of(own, {metric: f"test_{metric}" for metric in metrics})
            found[name].notes += density_note(own)
            compare_with_paper(found[name], (paper or {}).get((*key, name)))
        return found

    return grouped_table(
        runs,
        rows,
        [Column(name, label, column_metric(name)) for name, label in labels.items()],
        cells,
        caption,
        [SPREAD_NOTE, *notes],
        metrics=metrics,
        default_metric=default_metric,
        metric_labels=metric_labels(metrics),
        best_along="row",
        best_among=best_among,
    )


def method_labels(*methods: str) -> dict[str, str]:
    """The labels of methods, in the order that they have everywhere."""
    return {method: method_label(method) for method in method_order(methods)}


def primary_table(runs: pd.DataFrame, caption: str, notes: Iterable[str] = ()) -> TableDocument:
    """Networks and data sets by methods, in the metric that counts for each."""
    return score_table(runs, caption, PRIMARY, method_labels(*runs["method"]), notes=notes)


def density_note(rows: pd.DataFrame) -> list[str]:
    """The share of weights that β-LASSO keeps, which no config sets."""
    survived = rows[rows["cut"].map(lambda cut: str(cut).startswith(SURVIVORS)).astype(bool)]
    shares = (survived["kept_encoder_weights"] / survived["encoder_weights"]).dropna()
    percent = float(f"{100 * shares.mean():.2g}")  # of two digits, and 100 is not 1e+02
    return [] if shares.empty else [f"keeps {percent:g} % of the encoder's weights"]


# ---- metrics


def metric_labels(metrics: Iterable[str]) -> dict[str, str]:
    return {metric: METRIC_LABELS[metric] for metric in metrics if metric in METRIC_LABELS}
