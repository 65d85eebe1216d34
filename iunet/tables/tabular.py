"""Table 7 (every tabular data set), its summary table 2, and all metrics in long form."""

from __future__ import annotations

import pandas as pd

from iunet.labels import dataset_label, method_label
from iunet.paper import paper_table
from iunet.tables.cells import in_order, with_extras
from iunet.tables.document import (
    VALUE,
    Cell,
    Column,
    PaperValue,
    Row,
    TableDocument,
    Value,
    compare_with_paper,
    mark_best,
)
from iunet.tables.names import METRICS, SCORES, metric_labels, paper_metric, stand_in_text
from iunet.tables.scores import MEAN_NOTE, SWAPPED_NOTE, About, Line, paper_value, score_table

METHODS = ["dense", "omp", "beta_lasso", "iunet", "xgb", "tabnet", "mlp_c"]
LIKE_THE_PAPER = "like_the_paper"
TABLE2_METRICS = ["balanced_accuracy", "accuracy", "swapped_balanced_accuracy", LIKE_THE_PAPER]
SUMMARY = {
    "num_top1": "Num Top1 ↑",
    "average_accuracy": "Average score ↑",
    "average_rank": "Average rank ↓",
}
DECIMALS = 3


def tabular_label(method: str) -> str:
    return "MLP_TAB" if method == "dense" else method_label(method)


def paper_table7() -> dict[tuple[str, str], tuple[float, float | None]]:
    """(mean, std) by data set and method; only IUNET has a std."""
    values = {}
    for row in paper_table(7):
        for method in METHODS:
            std = float(row["iunet_std"]) if method == "iunet" else None
            column = "mlp_tab" if method == "dense" else method
            values[row["dataset"], method] = float(row[column]), std
    return values


def table7(frame: pd.DataFrame, about: About | None = None) -> TableDocument:
    """Seven methods on every tabular data set."""
    about = about or About()
    published = paper_table7()
    rows = [
        Line(Row(dataset, [dataset_label(dataset)], about.of(dataset)), {"dataset": dataset})
        for dataset in in_order(frame["dataset"])
    ]
    methods = with_extras(METHODS, in_order(frame["method"]))
    columns = [
        Line(Column(m, tabular_label(m), paper_metric(m, tabular=True)), {"method": m})
        for m in methods
    ]
    return score_table(
        frame,
        rows,
        columns,
        SCORES,
        lambda k: paper_value(
            published.get((k["dataset"], k["method"])), paper_metric(k["method"], tabular=True)
        ),
        about,
        "Test scores (%) on the tabular data sets. OMP, β-LASSO and IUNET prune MLP_TAB; XGB, TABN "
        "and MLP_TAB+C are tuned on each data set.",
        id="table7",
        title="Table 7: tabular data sets",
        row_header=["Dataset"],
        default_metric="balanced_accuracy",
        notes=[SWAPPED_NOTE],
    )


# ---- table 2


def table2_of(values: pd.DataFrame) -> pd.DataFrame:
    """Table 2 of scores (a row per data set, a column per method, none missing).

    Top-1 counts every tied winner; ties share their average rank, and rank 1 is best. Scores are
    equal if they are in the decimals shown.
    """
    shown = values.round(DECIMALS)
    top1 = shown.eq(shown.max(axis=1), axis=0).sum()
    ranks = shown.rank(axis=1, ascending=False, method="average")
    return pd.DataFrame(
        {"num_top1": top1, "average_accuracy": values.mean(), "average_rank": ranks.mean()}
    ).T


def paper_scores() -> pd.DataFrame:
    """The paper's table 7: data sets by methods."""
    series = pd.Series({key: mean for key, (mean, _) in paper_table7().items()})
    return series.unstack()[METHODS]


def scores_of(table7: TableDocument, metric: str) -> pd.DataFrame:
    """Data sets by methods, of a metric; `like_the_paper` takes each column's own."""

    def mean(row: str, column: Column) -> float | None:
        key = column.paper_metric if metric == LIKE_THE_PAPER else metric
        value = table7.cell(row, column.key).values.get(key)
        return value.mean if value else None

    content = {c.key: [mean(row.key, c) for row in table7.rows] for c in table7.columns}
    return pd.DataFrame(content, index=[row.key for row in table7.rows], dtype=float)


def complete_scores(table7: TableDocument, metric: str) -> pd.DataFrame:
    """Without methods that have no score at all, the data sets on which every method has one."""
    return complete_rows(scores_of(table7, metric))


def complete_rows(scores: pd.DataFrame) -> pd.DataFrame:
    ranked = scores.dropna(axis=1, how="all")
    return ranked.dropna() if len(ranked.columns) else ranked.iloc[:0]


def table2(table7: TableDocument, about: About | None = None) -> TableDocument:
    """Top-1 counts, averages and average ranks, from table 7."""
    about = about or About()
    complete = {metric: complete_scores(table7, metric) for metric in TABLE2_METRICS}
    counted = complete[LIKE_THE_PAPER]
    published, origin = _paper_table2(counted)
    summaries = {metric: table2_of(scores) for metric, scores in complete.items() if len(scores)}
    cells = {
        row: {
            column.key: _summary_cell(row, column.key, summaries, published, table7)
            for column in table7.columns
        }
        for row in SUMMARY
    }
    table = TableDocument(
        id="table2",
        title="Table 2: summary of the tabular data sets",
        caption=f"Summary of table 7 over {len(counted)} of {len(table7.rows)} data sets: where "
        "each method was best (all tied winners count), its average score (%), and its average "
        "rank (ties share theirs, 1 is best)." + stand_in_text(about.stand_ins),
        row_header=["Summary"],
        rows=[Row(key, [label]) for key, label in SUMMARY.items()],
        columns=[
            Column(c.key, c.label, LIKE_THE_PAPER if published is not None else None)
            for c in table7.columns
        ],
        metrics=TABLE2_METRICS,
        default_metric=TABLE2_METRICS[0],
        cells=cells,
        metric_labels=metric_labels(TABLE2_METRICS),
        lower_is_better=["average_rank"],
        notes=[*_table2_notes(table7, counted), *origin, *(about.notes or [])],
    )
    mark_best(table)
    return table


def _paper_table2(counted: pd.DataFrame) -> tuple[pd.DataFrame | None, list[str]]:
    """The paper's table 2, or what its table 7 gives for the data sets and methods that count."""
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
    return table2_of(scores.loc[counted.index, methods]), [note]


def _summary_cell(
    row: str,
    method: str,
    summaries: dict[str, pd.DataFrame],
    published: pd.DataFrame | None,
    table7: TableDocument,
) -> Cell:
    cell = Cell()
    for metric, summary in summaries.items():
        if method in summary:
            value = float(summary.loc[row, method])
            text = f"{value:.0f}" if row == "num_top1" else None
            cell.values[metric] = Value(value, text=text)
    if not cell.values:
        reasons = {table7.cell(r.key, method).missing for r in table7.rows} - {None}
        none = "no data set has a score of every method"
        cell.missing = "; ".join(sorted(reasons)) if len(reasons) else none
    if published is not None and method in published:
        paper = PaperValue(float(published.loc[row, method]), None, LIKE_THE_PAPER)
        compare_with_paper(cell, paper)
    return cell


def _table2_notes(table7: TableDocument, counted: pd.DataFrame) -> list[str]:
    notes = [
        "The paper's table 2 summarises its table 7, whose columns are of two metrics (see there): "
        f"it is compared with “{METRICS[LIKE_THE_PAPER].lower()}”."
    ]
    left_out = [row.labels[0] for row in table7.rows if row.key not in counted.index]
    if left_out:
        notes.append(
            f"Only data sets with a score of every method count; {len(left_out)} do not: "
            f"{', '.join(left_out)}."
        )
    absent = [c.label for c in table7.columns if c.key not in counted.columns]
    if absent:
        notes.append(f"Without any score, and so not ranked: {', '.join(absent)}.")
    return notes


# ---- beyond the paper


def metrics_tabular(frame: pd.DataFrame, about: About | None = None) -> TableDocument:
    """Accuracy, balanced and swapped balanced accuracy of every tabular cell, in long form."""
    about = about or About()
    table = table7(frame, about)
    rows, cells = [], {}
    for row in table.rows:
        for column in table.columns:
            key, source = f"{row.key}/{column.key}", table.cell(row.key, column.key)
            rows.append(Row(key, [*row.labels, column.label], row.notes))
            cells[key] = {metric: _long_cell(source, metric) for metric in SCORES}
    return TableDocument(
        id="metrics_tabular",
        title="All metrics of the tabular data sets",
        caption="Every cell of table 7 in all three metrics (%)." + stand_in_text(about.stand_ins),
        row_header=["Dataset", "Method"],
        rows=rows,
        columns=[Column(metric, METRICS[metric], VALUE) for metric in SCORES],
        metrics=[VALUE],
        default_metric=VALUE,
        cells=cells,
        notes=[MEAN_NOTE, SWAPPED_NOTE, *(about.notes or [])],
        best_along="none",
    )


def _long_cell(source: Cell, metric: str) -> Cell:
    cell = Cell(missing=source.missing, notes=list(source.notes))
    if metric in source.values:
        value = source.values[metric]
        cell.values[VALUE] = Value(value.mean, value.std, value.n)
    if source.paper and source.paper.metric == metric:
        compare_with_paper(cell, PaperValue(source.paper.mean, source.paper.std, VALUE))
    return cell
