"""Table 2: the methods over all tabular data sets, made from the scores of table 7."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import METRIC_LABELS, dataset_label
from iunet.paper import paper_table
from iunet.results.collect import Results
from iunet.results.selection import of_results, ranks
from iunet.tables.cells import NOT_ASKED, plain_table, problems_of, select
from iunet.tables.document import Cell, Column, PaperValue, TableDocument, Value, compare_with_paper
from iunet.tables.paper_values import METHODS, paper_scores
from iunet.tables.scores import metric_labels
from iunet.tables.table7 import (
    LIKE_THE_PAPER,
    complete_rows,
    scores_by_method,
    tabular_label,
)

if TYPE_CHECKING:
    import pandas as pd

METRICS = ["balanced_accuracy", "accuracy", "swapped_balanced_accuracy", LIKE_THE_PAPER]
SUMMARY = {
    "num_top1": "Num Top1 ↑",
    "average_accuracy": "Average score ↑",
    "average_rank": "Average rank ↓",
}
METRIC_NOTE = (
    "The paper's table 2 summarises its table 7, and the columns of that have two metrics (see "
    f"there). It is compared with “{METRIC_LABELS[LIKE_THE_PAPER].lower()}”."
)


def build(results: Results) -> TableDocument:
    """Top-1 counts, averages and average ranks."""
    runs = of_results(results.runs)
    scores = {metric: complete_rows(scores_by_method(runs, metric)) for metric in METRICS}
    summaries = {metric: summary_of(part) for metric, part in scores.items() if len(part)}
    counted = scores[LIKE_THE_PAPER]
    published, origin = _paper_table2(counted)
    compared = LIKE_THE_PAPER if published is not None else None
    methods = list(dict.fromkeys([*METHODS, *runs["method"]]))
    why = {method: _why_missing(select(runs, method=method), runs) for method in methods}
    lines = {
        row: ([label], {m: _cell(row, m, summaries, published, why[m]) for m in methods})
        for row, label in SUMMARY.items()
    }
    datasets = list(runs["dataset"].unique())
    notes = [METRIC_NOTE]
    if left_out := [dataset_label(name) for name in datasets if name not in counted.index]:
        notes.append(
            f"Only data sets with a score of every method count; {len(left_out)} do not: "
            f"{', '.join(left_out)}."
        )
    if absent := [tabular_label(method) for method in methods if method not in counted]:
        notes.append(f"Without any score, and so not ranked: {', '.join(absent)}.")
    return plain_table(
        f"Summary of table 7 over {len(counted)} of {len(datasets)} data sets: where "
        "each method was best (all tied winners count), its average score (%), and its average "
        "rank (ties share theirs, 1 is best).",
        ["Summary"],
        [Column(method, tabular_label(method), compared) for method in methods],
        lines,
        [*notes, *origin],
        metrics=METRICS,
        metric_labels=metric_labels(METRICS),
        lower_is_better=["average_rank"],
        best_along="row",
    )


def summary_of(values: pd.DataFrame) -> pd.DataFrame:
    """The rows of table 2, from scores (a row per data set, a column per method, none missing).

    Top-1 counts every tied winner.
    """
    import pandas as pd

    shown = values.round(3)
    rows = {
        "num_top1": shown.eq(shown.max(axis=1), axis=0).sum(),
        "average_accuracy": values.mean(),
        "average_rank": ranks(values).mean(),
    }
    return pd.DataFrame(rows).T


def _paper_table2(counted: pd.DataFrame) -> tuple[pd.DataFrame | None, list[str]]:
    """The paper's table 2, or what its table 7 gives for the data sets and methods that count."""
    import pandas as pd

    scores = paper_scores()
    if counted.empty or not (counted.index.isin(scores.index).all() and {*counted} <= {*METHODS}):
        return None, []
    if len(counted) == len(scores) and {*counted} == {*METHODS}:
        rows = pd.DataFrame(paper_table(2)).set_index("metric").astype(float)
        return rows.rename(columns={"mlp_tab": "dense"}), []
    note = (
        f"The paper's side is not its own table 2 but its table 7 summarised over the same "
        f"{len(counted)} data sets and {len(counted.columns)} methods."
    )
    return summary_of(scores.loc[counted.index, [*counted]]), [note]


def _cell(
    row: str,
    method: str,
    summaries: dict[str, pd.DataFrame],
    published: pd.DataFrame | None,
    why_missing: str,
) -> Cell:
    cell = Cell()
    for metric, summary in summaries.items():
        if method in summary:
            value = float(summary.loc[row, method])
            text = f"{value:.0f}" if row == "num_top1" else None
            cell.values[metric] = Value(value, text=text)
    cell.missing = None if cell.values else why_missing
    if published is not None and method in published:
        paper = PaperValue(float(published.loc[row, method]), None, LIKE_THE_PAPER)
        compare_with_paper(cell, paper)
    return cell


def _why_missing(own: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Why a method has no summary: the reasons of its missing cells in table 7."""
    parts = [select(own, dataset=dataset) for dataset in runs["dataset"].unique()]
    reasons = {
        NOT_ASKED if part.empty else "; ".join(problems_of(part))
        for part in parts
        if part["test_accuracy"].isna().all()
    }
    return "; ".join(sorted(reasons)) or "no data set has a score of every method"
