"""Every cell of table 7 in all metrics, in long form."""

from __future__ import annotations

from iunet.labels import METRIC_LABELS, SCORES
from iunet.results.collect import Results
from iunet.tables import table7
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
from iunet.tables.scores import MEAN_NOTE, SWAPPED_NOTE

TITLE = "All metrics of the tabular data sets"
ENTRY = "table7"


def build(results: Results) -> TableDocument:
    table = table7.build(results)
    lines = {}
    for row in table.rows:
        for column in table.columns:
            source = table.cell(row.key, column.key)
            content = {metric: _cell(source, metric) for metric in SCORES}
            lines[f"{row.key}/{column.key}"] = ([*row.labels, column.label], content)
    return plain_table(
        "Every cell of table 7 in all three metrics (%).",
        ["Dataset", "Method"],
        [Column(metric, METRIC_LABELS[metric], VALUE) for metric in SCORES],
        lines,
        [MEAN_NOTE, SWAPPED_NOTE],
    )


def _cell(source: Cell, metric: str) -> Cell:
    cell = Cell(missing=source.missing, notes=list(source.notes))
    if metric in source.values:
        value = source.values[metric]
        cell.values[VALUE] = Value(value.mean, value.std, value.n)
    if source.paper and source.paper.metric == metric:
        compare_with_paper(cell, PaperValue(source.paper.mean, source.paper.std, VALUE))
    return cell
