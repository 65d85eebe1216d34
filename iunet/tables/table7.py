"""Table 7: seven methods on every tabular data set, and its cells in all metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import METRIC_LABELS, SCORES, method_label
from iunet.results.collect import Results
from iunet.results.selection import mean_scores, of_results
from iunet.tables.cells import plain_table
from iunet.tables.document import (
    VALUE,
    Cell,
    Column,
    PaperValue,
    TableDocument,
    Value,
    compare_with_paper,
)
from iunet.tables.paper_values import METHODS, paper_metric, paper_table7
from iunet.tables.scores import MEAN_NOTE, SWAPPED_NOTE, score_table

if TYPE_CHECKING:
    import pandas as pd

LIKE_THE_PAPER = "like_the_paper"


def table7(results: Results) -> TableDocument:
    return score_table(
        of_results(results.runs),
        "Test scores (%) on the tabular data sets. OMP, β-LASSO and IUNET prune MLP_TAB; XGB, TABN "
        "and MLP_TAB+C are tuned on each data set.",
        SCORES,
        {method: tabular_label(method) for method in METHODS},
        rows=("dataset",),
        paper=paper_table7(),
        column_metric=lambda method: paper_metric(method, "mlp_tab"),
        notes=[SWAPPED_NOTE],
        default_metric="balanced_accuracy",
    )


def metrics_tabular(results: Results) -> TableDocument:
    """Every cell of table 7 in all metrics, in long form."""
    table = table7(results)
    lines = {}
    for row in table.rows:
        for column in table.columns:
            source = table.cell(row.key, column.key)
            content = {metric: _in_metric(source, metric) for metric in SCORES}
            lines[f"{row.key}/{column.key}"] = ([*row.labels, column.label], content)
    return plain_table(
        "Every cell of table 7 in all three metrics (%).",
        ["Dataset", "Method"],
        [Column(metric, METRIC_LABELS[metric], VALUE) for metric in SCORES],
        lines,
        [MEAN_NOTE, SWAPPED_NOTE],
    )


def _in_metric(source: Cell, metric: str) -> Cell:
    cell = Cell(missing=source.missing, notes=list(source.notes))
    if metric in source.values:
        value = source.values[metric]
        cell.values[VALUE] = Value(value.mean, value.std, value.n)
    if source.paper and source.paper.metric == metric:
        compare_with_paper(cell, PaperValue(source.paper.mean, source.paper.std, VALUE))
    return cell


def scores_by_method(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean test scores, data sets by methods; `like_the_paper` takes each column's own metric."""
    import pandas as pd

    means = {m: mean_scores(runs, f"test_{m}") for m in SCORES}
    methods = dict.fromkeys([*METHODS, *runs["method"]])
    like_the_paper = metric == LIKE_THE_PAPER
    columns = {m: paper_metric(m, "mlp_tab") if like_the_paper else metric for m in methods}
    found = {m: means[column].get(m) for m, column in columns.items()}
    return pd.DataFrame(found, index=runs["dataset"].unique(), dtype=float)


def complete_rows(scores: pd.DataFrame) -> pd.DataFrame:
    """Without methods that have no score at all, the data sets on which every method has one."""
    ranked = scores.dropna(axis=1, how="all")
    return ranked.dropna() if len(ranked.columns) else ranked.iloc[:0]


def tabular_label(method: str) -> str:
    return "MLP_TAB" if method == "dense" else method_label(method)
