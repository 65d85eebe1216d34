"""Table 7: seven methods on every tabular data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.baselines.catalog import LEARNERS
from iunet.labels import SCORES, dataset_label, method_label, method_order
from iunet.paper import paper_table
from iunet.runs.entries import Benchmark
from iunet.runs.requests import run_requests
from iunet.tables.ask import PAPER, Ask
from iunet.tables.cells import in_order, with_extras
from iunet.tables.document import Column, Row, TableDocument
from iunet.tables.frame import read_runs
from iunet.tables.names import paper_metric
from iunet.tables.scores import SWAPPED_NOTE, About, Line, paper_value, score_table

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Table 7: tabular data sets"
GROUP = PAPER
KIND = "tabular"
METHODS = method_order(["dense", "omp", "beta_lasso", "iunet", *LEARNERS])


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.table7")
    return Ask(cells, run_requests(bench, cells))


def build(ask: Ask, about: About) -> TableDocument:
    return table7(read_runs(ask.requests), about)


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
        title=TITLE,
        row_header=["Dataset"],
        default_metric="balanced_accuracy",
        notes=[SWAPPED_NOTE],
    )
