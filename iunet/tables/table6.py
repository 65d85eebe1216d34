"""Table 6: pruned MLPs beside the CNN that MLP_VIS contains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import dataset_label
from iunet.runs.entries import Benchmark
from iunet.runs.names import base_network
from iunet.runs.requests import run_requests
from iunet.tables.ask import PAPER, Ask
from iunet.tables.cells import in_order
from iunet.tables.document import Column, Row, TableDocument
from iunet.tables.frame import read_runs
from iunet.tables.scores import About, Line, paper_cells, paper_value, score_table

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Table 6: pruned MLP against CNN"
GROUP = PAPER
KIND = "vision"
COLUMNS = {  # the paper's columns: network and method
    "mlp_vis": ("mlp_vis", "dense", "MLP_VIS"),
    "iunet_mlp_vis": ("mlp_vis", "iunet", "IUNET (MLP_VIS)"),
    "cnn": ("cnn", "dense", "CNN"),
    "iunet_resnet18": ("resnet18", "iunet", "IUNET (RESNET)"),
}
PAIRS = tuple((network, method) for network, method, _ in COLUMNS.values())


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.table6")
    return Ask(cells, run_requests(bench, cells))


def build(ask: Ask, about: About) -> TableDocument:
    return table6(read_runs(ask.requests), about)


def table6(frame: pd.DataFrame, about: About | None = None) -> TableDocument:
    """Test accuracy of MLPs, of the CNN inside of MLP_VIS, and of IUNET's ResNet."""
    about = about or About()
    frame = frame.assign(base=frame["network"].map(base_network))
    published = paper_cells(6, "dataset", "model")
    names = {(network, method): key for key, (network, method, _) in COLUMNS.items()}
    rows = [
        Line(Row(dataset, [dataset_label(dataset)], about.of(dataset)), {"dataset": dataset})
        for dataset in in_order(frame["dataset"])
    ]
    columns = [
        Line(Column(key, label, "accuracy"), {"base": network, "method": method})
        for key, (network, method, label) in COLUMNS.items()
    ]
    return score_table(
        frame,
        rows,
        columns,
        ["accuracy", "balanced_accuracy"],
        lambda k: paper_value(
            published.get((k["dataset"], names[k["base"], k["method"]])), "accuracy"
        ),
        about,
        "Test accuracy (%) of IUNET's pruned networks beside the CNN that MLP_VIS contains, which "
        "also shares its weights.",
        id="table6",
        title=TITLE,
        row_header=["Dataset"],
        default_metric="accuracy",
    )
