"""Appendix E.2: compression ratio and κ on tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import dataset_label
from iunet.runs.entries import Benchmark
from iunet.runs.requests import requests_at_each_cut
from iunet.tables.ask import SEARCHES, Ask
from iunet.tables.cells import cell_of, in_order, select
from iunet.tables.document import VALUE, Column, Row, TableDocument, mark_best
from iunet.tables.frame import read_runs
from iunet.tables.scores import About
from iunet.tables.searches import AVERAGE, average, search_document, verdict, winners

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Appendix E.2: compression ratio and κ on tables"
GROUP = SEARCHES
KIND = "tabular"
PAPER_POINT = (8.0, 0.25)  # compression ratio and κ


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.search_tabular")
    kappas = {c.method.name: bench.config["methods"][c.method.name]["kappa"] for c in cells}
    return Ask(cells, requests_at_each_cut(bench, cells), more={"kappas": kappas})


def build(ask: Ask, about: About) -> TableDocument:
    return search_tabular(read_runs(ask.requests), ask.more["kappas"], about)


def search_tabular(
    frame: pd.DataFrame, kappas: dict[str, float], about: About | None = None
) -> TableDocument:
    """Validation balanced accuracy by ratio and κ; `kappas` says the κ of each method."""
    about = about or About()
    frame = frame.assign(kappa=frame["method"].map(kappas))
    datasets = in_order(frame["dataset"])
    columns = [*(Column(d, dataset_label(d)) for d in datasets), Column(AVERAGE, "Average")]
    rows, cells = [], {}
    for ratio in sorted(frame["ratio"].dropna().unique()):
        for kappa in sorted(set(kappas.values()), reverse=True):
            key = _point(ratio, kappa)
            rows.append(Row(key, [f"{ratio:g}", f"{kappa:g}"]))
            part = select(frame, ratio=ratio, kappa=kappa)
            cells[key] = {
                d: cell_of(select(part, dataset=d), {VALUE: "valid_balanced_accuracy"})
                for d in datasets
            }
            cells[key][AVERAGE] = average(list(cells[key].values()))
    table = search_document(
        "search_tabular",
        TITLE,
        "Validation balanced accuracy (%) of IUNET by compression ratio r and κ.",
        ["r", "κ"],
        rows,
        columns,
        cells,
        about,
        best_along="column",
    )
    mark_best(table)
    best = winners(table, [(row.key, AVERAGE) for row in rows])
    names = " and ".join(_point_text(key) for key, _ in best)
    table.notes.append(verdict(names, _point_text(_point(*PAPER_POINT)), "every data set"))
    return table


def _point(ratio: float, kappa: float) -> str:
    return f"ratio{ratio:g}-kappa{kappa:g}"


def _point_text(key: str) -> str:
    return key.replace("ratio", "r = ").replace("-kappa", ", κ = ")
