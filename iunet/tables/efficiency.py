"""What the pruned networks cost to keep and to run, beside the dense ones (beyond the paper)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.labels import dataset_label, method_label, network_label
from iunet.runs import paths
from iunet.runs.entries import Benchmark
from iunet.runs.requests import run_requests
from iunet.tables.ask import BEYOND, Ask
from iunet.tables.cells import cell_of, in_order, select
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value
from iunet.tables.frame import read_runs
from iunet.tables.names import stand_in_text
from iunet.tables.scores import About, with_primary

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Efficiency: size and speed of dense and pruned networks"
GROUP = BEYOND

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


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.efficiency")
    measured = [c for c in cells if c.method.cuts and c.dataset not in bench.unavailable]
    files = [
        bench.path(paths.LATENCY, dataset=c.dataset, network=c.method.network, method=c.method.name)
        for c in measured
    ]
    files = [path for path in files if bench.exists(path)]
    return Ask(cells, run_requests(bench, cells), files=files, more={"measured": files})


def build(ask: Ask, about: About) -> TableDocument:
    measured = [read_json(path) for path in ask.more["measured"]]
    return efficiency(read_runs(ask.requests), measured, about)


def efficiency(
    frame: pd.DataFrame, measured: list[dict[str, Any]], about: About | None = None
) -> TableDocument:
    """One row per data set, network and method; `measured` are the measurements of one seed each.

    Each of `measured` has dataset, network, method, and what `measure_latency` and the files' sizes
    give, under the keys of `MEASURED` (those that are absent show as not measured).
    """
    about = about or About()
    frame = with_primary(frame)
    by_run = _by_run(measured)
    rows, cells = [], {}
    for dataset, network, method in in_order(
        zip(frame["dataset"], frame["network"], frame["method"], strict=True)
    ):
        key = f"{dataset}/{network}/{method}"
        labels = [dataset_label(dataset), network_label(network), method_label(method)]
        rows.append(Row(key, labels, about.of(dataset)))
        part = select(frame, dataset=dataset, network=network, method=method)
        cells[key] = _cells(part, by_run.get((dataset, network, method), {}))
    names = {"score": "Test score (%)", **COUNTS, **MEASURED}
    return TableDocument(
        id="efficiency",
        title=TITLE,
        caption="Sizes are means over seeds, of one network, and beside them of all members of a "
        "snapshot ensemble; latency is the median of repeated forward passes of one network, in "
        "the form that is fastest here." + stand_in_text(about.stand_ins),
        row_header=["Dataset", "Network", "Method"],
        rows=rows,
        columns=[Column(key, label) for key, label in names.items()],
        metrics=[VALUE],
        default_metric=VALUE,
        cells=cells,
        notes=[
            "The score is accuracy on images, balanced accuracy on tables. FLOPs are those of "
            "Linear and Conv layers for one sample; sparse FLOPs count kept weights only. Unlike "
            "FLOPs, latency shows what stock kernels make of unstructured sparsity: often little.",
            *(about.notes or []),
        ],
        best_along="none",
    )


def _by_run(measured: list[dict[str, Any]]) -> dict[tuple[str, str, str], dict[str, Any]]:
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for entry in measured:
        key = (entry["dataset"], entry["network"], entry["method"])
        if key in found:
            raise UserError(f"The efficiency table has two measurements of {', '.join(key)}.")
        found[key] = entry
    return found


def _cells(part: pd.DataFrame, measured: dict[str, Any]) -> dict[str, Cell]:
    cells = {"score": cell_of(part, {VALUE: "test_primary"})}
    gone = cells["score"].missing
    for column in COUNTS:
        cells[column] = cell_of(part, {VALUE: column})
        cells[column].notes = []  # said beside the score
        value = cells[column].values.get(VALUE)
        if value:
            value.std = None  # counts, not scores: their spread is that of the masks
            value.text = f"{value.mean:,.0f}" if value.mean.is_integer() else f"{value.mean:,.2f}"
        elif not gone:
            cells[column].missing = "has no such count"
    for column in MEASURED:
        cells[column] = _measured_cell(measured.get(column), gone)
    return cells


def _measured_cell(value: Any, gone: str | None) -> Cell:
    if value is None:
        return Cell(missing=gone or NOT_MEASURED)
    if isinstance(value, str):
        return Cell(values={VALUE: Value(text=value)})
    text = f"{value:,}" if isinstance(value, int) else None
    return Cell(values={VALUE: Value(float(value), text=text)})
