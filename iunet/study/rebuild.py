"""Tables and claims from runs.csv alone."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from iunet.runs import paths
from iunet.runs.entries import Benchmark
from iunet.study.restore import restore
from iunet.study.rows import read_rows
from iunet.tables.about import about_cells
from iunet.tables.ask import Ask
from iunet.tables.catalog import table_ask
from iunet.tables.document import TableDocument, write_document
from iunet.tables.make import build_document

# All tables that are made of runs; the others are of data sets, of latencies, or of the paper.
OF_RUNS = (
    *("table7", "table1", "table2", "table3", "table4", "table5", "table6"),
    *("search_lambda", "search_tabular", "search_fixed_ratio", "ranking", "metrics_tabular"),
    *("controls", "laziness", "locality", "cost", "claims"),
)


def rebuild(rows: str | Path, bench: Benchmark, folder: Path) -> dict[str, TableDocument]:
    """The tables of a benchmark, by name, from its runs.csv; `folder` is for what lies between."""
    whole = _benchmark_in(bench, folder, partial=False)
    restore(read_rows(rows), whole)
    there = _benchmark_in(bench, folder, partial=True)
    return {name: _table(there, name) for name in OF_RUNS}


def _benchmark_in(bench: Benchmark, folder: Path, partial: bool) -> Benchmark:
    config = copy.deepcopy(bench.config) | {"results": str(folder), "partial": partial}
    return Benchmark(config, bench.registry, bench.unavailable, bench.fixed)


def _table(bench: Benchmark, name: str) -> TableDocument:
    ask: Ask = table_ask(bench, name)
    about: dict[str, Any] = about_cells(bench, ask.cells)
    datasets = dict.fromkeys(cell.dataset for cell in ask.cells)
    splits = [bench.path(paths.SPLIT_REPORT, dataset=dataset) for dataset in datasets]
    document = build_document(name, ask, about, [path for path in splits if Path(path).exists()])
    # Table 2 and the ranking are made from the document of table 7.
    target = Path(bench.path(paths.TABLE_DOCUMENT, table=name))
    target.parent.mkdir(parents=True, exist_ok=True)
    write_document(target, document)
    return document
