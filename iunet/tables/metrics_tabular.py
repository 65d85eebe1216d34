"""Every cell of table 7 in all metrics, in long form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import METRIC_LABELS, SCORES
from iunet.runs.entries import Benchmark
from iunet.runs.requests import run_requests
from iunet.tables.ask import BEYOND, Ask
from iunet.tables.document import (
    VALUE,
    Cell,
    Column,
    PaperValue,
    Row,
    TableDocument,
    Value,
    compare_with_paper,
)
from iunet.tables.frame import read_runs
from iunet.tables.names import stand_in_text
from iunet.tables.scores import MEAN_NOTE, SWAPPED_NOTE, About
from iunet.tables.table7 import table7

if TYPE_CHECKING:
    import pandas as pd

TITLE = "All metrics of the tabular data sets"
GROUP = BEYOND
MADE_FROM = "table7"


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.table7")
    return Ask(cells, run_requests(bench, cells))


def build(ask: Ask, about: About) -> TableDocument:
    return metrics_tabular(read_runs(ask.requests), about)


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
        title=TITLE,
        caption="Every cell of table 7 in all three metrics (%)." + stand_in_text(about.stand_ins),
        row_header=["Dataset", "Method"],
        rows=rows,
        columns=[Column(metric, METRIC_LABELS[metric], VALUE) for metric in SCORES],
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
