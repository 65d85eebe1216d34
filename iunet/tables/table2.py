"""Table 2: the methods over all tabular data sets, made from table 7."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import METRIC_LABELS
from iunet.paper import paper_table
from iunet.results.collect import Results
from iunet.results.selection import of_results
from iunet.tables.cells import plain_table
from iunet.tables.document import (
    Cell,
    Column,
    PaperValue,
    TableDocument,
    Value,
    compare_with_paper,
)
from iunet.tables.scores import metric_labels
from iunet.tables.table7 import METHODS, paper_table7, table7

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Table 2: summary of the tabular data sets"
ENTRY = "table7"
LIKE_THE_PAPER = "like_the_paper"
METRICS = ["balanced_accuracy", "accuracy", "swapped_balanced_accuracy", LIKE_THE_PAPER]
SUMMARY = {
    "num_top1": "Num Top1 ↑",
    "average_accuracy": "Average score ↑",
    "average_rank": "Average rank ↓",
}
DECIMALS = 3


def build(results: Results) -> TableDocument:
    return table2(table7(of_results(results.runs)))


def table2(source: TableDocument) -> TableDocument:
    """Top-1 counts, averages and average ranks, from table 7."""
    complete = {metric: complete_scores(source, metric) for metric in METRICS}
    counted = complete[LIKE_THE_PAPER]
    published, origin = _paper_table2(counted)
    summaries = {metric: summary_of(scores) for metric, scores in complete.items() if len(scores)}
    sides = (summaries, published)
    lines = {
        row: ([label], {c.key: _cell(row, c.key, *sides, source) for c in source.columns})
        for row, label in SUMMARY.items()
    }
    compared = LIKE_THE_PAPER if published is not None else None
    return plain_table(
        f"Summary of table 7 over {len(counted)} of {len(source.rows)} data sets: where "
        "each method was best (all tied winners count), its average score (%), and its average "
        "rank (ties share theirs, 1 is best).",
        ["Summary"],
        [Column(c.key, c.label, compared) for c in source.columns],
        lines,
        [*_notes(source, counted), *origin],
        metrics=METRICS,
        metric_labels=metric_labels(METRICS),
        lower_is_better=["average_rank"],
        best_along="row",
    )


def summary_of(values: pd.DataFrame) -> pd.DataFrame:
    """The rows of table 2, from scores (a row per data set, a column per method, none missing).

    Top-1 counts every tied winner; ties share their average rank, and rank 1 is best. Scores are
    equal if they are in the decimals shown.
    """
    import pandas as pd

    shown = values.round(DECIMALS)
    top1 = shown.eq(shown.max(axis=1), axis=0).sum()
    ranks = shown.rank(axis=1, ascending=False, method="average")
    return pd.DataFrame(
        {"num_top1": top1, "average_accuracy": values.mean(), "average_rank": ranks.mean()}
    ).T


def paper_scores() -> pd.DataFrame:
    """The paper's table 7: data sets by methods."""
    import pandas as pd

    series = pd.Series({key: value.mean for key, value in paper_table7().items()})
    return series.unstack()[METHODS]


def scores_of(source: TableDocument, metric: str) -> pd.DataFrame:
    """Data sets by methods, of a metric; `like_the_paper` takes each column's own."""
    import pandas as pd

    def mean(row: str, column: Column) -> float | None:
        key = column.paper_metric if metric == LIKE_THE_PAPER else metric
        value = source.cell(row, column.key).values.get(key)
        return value.mean if value else None

    content = {c.key: [mean(row.key, c) for row in source.rows] for c in source.columns}
    return pd.DataFrame(content, index=[row.key for row in source.rows], dtype=float)


def complete_scores(source: TableDocument, metric: str) -> pd.DataFrame:
    """Without methods that have no score at all, the data sets on which every method has one."""
    return complete_rows(scores_of(source, metric))


def complete_rows(scores: pd.DataFrame) -> pd.DataFrame:
    ranked = scores.dropna(axis=1, how="all")
    return ranked.dropna() if len(ranked.columns) else ranked.iloc[:0]


def _paper_table2(counted: pd.DataFrame) -> tuple[pd.DataFrame | None, list[str]]:
    """The paper's table 2, or what its table 7 gives for the data sets and methods that count."""
    import pandas as pd

    scores = paper_scores()
    methods = list(counted.columns)
    known = counted.index.isin(scores.index).all() and set(methods) <= set(METHODS)
    if counted.empty or not known:
        return None, []
    if set(counted.index) == set(scores.index) and set(methods) == set(METHODS):
        rows = {row["metric"]: row for row in paper_table(2)}
        columns = {m: "mlp_tab" if m == "dense" else m for m in METHODS}
        content = {m: [float(rows[key][c]) for key in SUMMARY] for m, c in columns.items()}
        return pd.DataFrame(content, index=list(SUMMARY)), []
    note = (
        f"The paper's side is not its own table 2 but its table 7 summarised over the same "
        f"{len(counted)} data sets and {len(methods)} methods."
    )
    return summary_of(scores.loc[counted.index, methods]), [note]


def _cell(
    row: str,
    method: str,
    summaries: dict[str, pd.DataFrame],
    published: pd.DataFrame | None,
    source: TableDocument,
) -> Cell:
    cell = Cell()
    for metric, summary in summaries.items():
        if method in summary:
            value = float(summary.loc[row, method])
            text = f"{value:.0f}" if row == "num_top1" else None
            cell.values[metric] = Value(value, text=text)
    if not cell.values:
        reasons = {source.cell(r.key, method).missing for r in source.rows} - {None}
        none = "no data set has a score of every method"
        cell.missing = "; ".join(sorted(reasons)) if len(reasons) else none
    if published is not None and method in published:
        paper = PaperValue(float(published.loc[row, method]), None, LIKE_THE_PAPER)
        compare_with_paper(cell, paper)
    return cell


def _notes(source: TableDocument, counted: pd.DataFrame) -> list[str]:
    notes = [
        "The paper's table 2 summarises its table 7, whose columns are of two metrics (see there): "
        f"it is compared with “{METRIC_LABELS[LIKE_THE_PAPER].lower()}”."
    ]
    left_out = [row.labels[0] for row in source.rows if row.key not in counted.index]
    if left_out:
        notes.append(
            f"Only data sets with a score of every method count; {len(left_out)} do not: "
            f"{', '.join(left_out)}."
        )
    absent = [c.label for c in source.columns if c.key not in counted.columns]
    if absent:
        notes.append(f"Without any score, and so not ranked: {', '.join(absent)}.")
    return notes
