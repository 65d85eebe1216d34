"""Table 1: the pruning methods on image data sets, for every network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import method_label, method_order
from iunet.runs.entries import Benchmark
from iunet.runs.requests import run_requests
from iunet.tables.ask import PAPER, Ask
from iunet.tables.cells import in_order, with_extras
from iunet.tables.document import Column, TableDocument
from iunet.tables.frame import read_runs
from iunet.tables.scores import About, Line, network_rows, paper_cells, paper_value, score_table

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Table 1: pruning methods on image data sets"
GROUP = PAPER
KIND = "vision"
METHODS = method_order(["dense", "omp", "beta_lasso", "iunet"])


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.table1")
    return Ask(cells, run_requests(bench, cells))


def build(ask: Ask, about: About) -> TableDocument:
    return table1(read_runs(ask.requests), about)


def table1(frame: pd.DataFrame, about: About | None = None) -> TableDocument:
    """Test accuracy of the pruning methods, for every network and image set."""
    about = about or About()
    published = paper_cells(1, "network", "dataset", "method")
    rows = network_rows(frame, about)
    methods = with_extras(METHODS, in_order(frame["method"]))
    columns = [Line(Column(m, method_label(m), "accuracy"), {"method": m}) for m in methods]
    return score_table(
        frame,
        rows,
        columns,
        ["accuracy", "balanced_accuracy"],
        lambda k: paper_value(published.get((k["network"], k["dataset"], k["method"])), "accuracy"),
        about,
        "Test accuracy (%) of pruning methods on image data sets; Dense is the network itself.",
        id="table1",
        title=TITLE,
        row_header=["Network", "Dataset"],
        default_metric="accuracy",
    )
