"""Size and speed of pruned and dense networks (beyond the paper)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iunet.artifacts import read_json
from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.results.selection import of_results
from iunet.runs import paths
from iunet.runs.entries import Benchmark
from iunet.runs.entries import Cell as RunCell
from iunet.tables.cells import cell, cell_of, grouped_table
from iunet.tables.document import VALUE, Cell, TableDocument, Value

if TYPE_CHECKING:
    import pandas as pd

CAPTION = (
    "Sizes are means over seeds, of one network and of all members of a snapshot ensemble; "
    "latency is the median of repeated forward passes of one network, in "
    "the form that is fastest here."
)
NOTE = (
    "The score is accuracy on images, balanced accuracy on tables. FLOPs are those of "
    "Linear and Conv layers for one sample; sparse FLOPs count kept weights only. Unlike "
    "FLOPs, latency shows what stock kernels make of unstructured sparsity: often little."
)
ROWS = ("dataset", "network", "method")
COUNTS = {  # columns of the frame
    "parameters": "Parameters",
    "kept_parameters": "Kept parameters",
    "model_compression": "Compression",
    "kept_encoder_weights": "Kept weights of the encoder",
    "encoder_compression": "Compression of the encoder",
    "flops_dense": "FLOPs, dense",
    "flops_sparse": "FLOPs, sparse",
    "members": "Members",
    "ensemble_kept_parameters": "Kept parameters, all members",
    "ensemble_flops_sparse": "FLOPs, sparse, all members",
}
MEASURED = {  # keys of the measurements (iunet/evaluation/latency.py)
    "bytes_dense": "Bytes, dense",
    "bytes_pruned": "Bytes, pruned",
    "latency_1_dense_ms": "1 sample, dense (ms)",
    "latency_1_pruned_ms": "1 sample, pruned (ms)",
    "latency_128_dense_ms": "128 samples, dense (ms)",
    "latency_128_pruned_ms": "128 samples, pruned (ms)",
    "form": "Fastest form",
}
NOT_MEASURED = "not measured"


def request(bench: Benchmark) -> Request:
    """The latencies, too, of the methods that prune."""
    cells = bench.cells_of("tables.efficiency")
    return Request(cells, artifacts=latency_files(bench, cells))


def latency_files(bench: Benchmark, cells: list[RunCell]) -> list[str]:
    """The measurements of the methods that prune."""
    measured = [c for c in cells if c.method.cuts and c.dataset not in bench.unavailable]
    files = [
        bench.path(paths.LATENCY, dataset=c.dataset, network=c.method.network, method=c.method.name)
        for c in measured
    ]
    return [path for path in files if bench.exists(path)]


def build(results: Results) -> TableDocument:
    """One row per data set, network and method, with the measurement of one seed."""
    measured = [read_json(path) for path in results.artifacts]
    by_run = {tuple(entry[key] for key in ROWS): entry for entry in measured}

    def cells(run: tuple, part: pd.DataFrame) -> dict[str, Cell]:
        return _cells(part, by_run.get(run, {}))

    names = {"score": "Test score (%)", **COUNTS, **MEASURED}
    return grouped_table(of_results(results.runs), ROWS, names, cells, CAPTION, [NOTE])


def _cells(part: pd.DataFrame, measured: dict[str, Any]) -> dict[str, Cell]:
    cells = {"score": cell_of(part, {VALUE: "test_primary"})}
    gone = cells["score"].missing
    for column in COUNTS:
        cells[column] = cell_of(part, {VALUE: column})
        cells[column].notes = []  # the score's cell has them
        value = cells[column].values.get(VALUE)
        if value:
            value.std = None  # counts, not scores: their spread is that of the masks
            value.text = f"{value.mean:,.0f}" if value.mean.is_integer() else f"{value.mean:,.2f}"
        elif not gone:
            cells[column].missing = "has no such count"
    for column in MEASURED:
        value = measured.get(column)
        if isinstance(value, int):
            value = Value(float(value), text=f"{value:,}")
        cells[column] = Cell(missing=gone or NOT_MEASURED) if value is None else cell(value)
    return cells
