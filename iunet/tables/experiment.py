"""An experiment of the user's own (`experiments` in the config): its methods on its data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import SCORES, method_label, method_order
from iunet.runs.entries import Benchmark
from iunet.runs.requests import run_requests
from iunet.tables.ask import OWN, Ask
from iunet.tables.document import Column, TableDocument
from iunet.tables.frame import read_runs
from iunet.tables.scores import About, Line, network_rows, score_table, with_primary

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Experiment"
GROUP = OWN


def asks(bench: Benchmark, name: str) -> Ask:
    """Every method at the ratio that was chosen for it."""
    cells = bench.cells_of(f"experiments.{name}")
    return Ask(cells, run_requests(bench, cells), more={"experiment": name})


def build(ask: Ask, about: About) -> TableDocument:
    return experiment(ask.more["experiment"], read_runs(ask.requests), about)


def experiment(name: str, frame: pd.DataFrame, about: About | None = None) -> TableDocument:
    """Networks and data sets by methods, these in the one order that they have everywhere."""
    about = about or About()
    frame = with_primary(frame)
    methods = method_order(frame["method"])
    columns = [Line(Column(m, method_label(m)), {"method": m}) for m in methods]
    return score_table(
        frame,
        network_rows(frame, about),
        columns,
        ["primary", *SCORES],
        lambda keys: None,
        about,
        "Images: test accuracy (%), tables: balanced accuracy (%), each method at the ratio that "
        "was chosen for it.",
        id=name,
        title=f"{TITLE} {name}",
        row_header=["Network", "Dataset"],
        default_metric="primary",
    )
