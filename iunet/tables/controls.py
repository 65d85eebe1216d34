"""Controls: what of IUNET's parts makes the difference, with the scores of table 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import SCORES, method_label, method_order
from iunet.runs.entries import Benchmark
from iunet.runs.names import base_network
from iunet.runs.requests import run_requests
from iunet.tables.ask import BEYOND, Ask
from iunet.tables.document import Column, TableDocument
from iunet.tables.frame import read_runs
from iunet.tables.scores import About, Line, network_rows, score_table, with_primary

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Controls"
GROUP = BEYOND
SHOWN = ["primary", *SCORES]
NOTES = [
    "Mask: shuffled keeps IUNET's number of weights in every layer, random only the number of all; "
    "other seed is the mask of the next seed's supernet, initial that of |θ†| alone. Fresh "
    "starts fine-tuning from new initial weights, trained from those of the supernet. lr × 16 is "
    "the step that κ = 0.25 amounts to under BatchNorm. Relative ranks weights by |θ| over the "
    "spread of their layer's initial weights, layer-wise keeps the same part of every layer. The "
    "small dense network has as many parameters as a subnetwork whose ratio is its `shrink`, "
    "whatever ratio is chosen.",
]


def asks(bench: Benchmark) -> Ask:
    """As the ablations, at the ratio that was chosen for IUNET."""
    cells = bench.cells_of("tables.controls")
    return Ask(cells, run_requests(bench, cells, choice_of="iunet"))


def build(ask: Ask, about: About) -> TableDocument:
    return controls(read_runs(ask.requests), about)


def controls(frame: pd.DataFrame, about: About | None = None) -> TableDocument:
    """Data sets by methods, these in the one order that they have everywhere."""
    about = about or About()
    frame = with_primary(frame)
    # A control may be a variant of the network (fewer units): it stands in its network's row.
    frame = frame.assign(base=frame["network"].map(base_network))
    rows = network_rows(frame, about, "base")
    methods = method_order(frame["method"])
    columns = [Line(Column(m, method_label(m)), {"method": m}) for m in methods]
    return score_table(
        frame,
        rows,
        columns,
        SHOWN,
        lambda keys: None,
        about,
        "IUNET beside controls that share all but one of its properties; methods that have IUNET's "
        "ratios use the one that was chosen for IUNET. Images: test accuracy (%), tables: balanced "
        "accuracy (%).",
        id="controls",
        title=TITLE,
        row_header=["Network", "Dataset"],
        default_metric="primary",
        notes=list(NOTES),
    )
