"""Appendix E.2: the weight λ of the contrastive loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import dataset_label, network_label
from iunet.runs.entries import Benchmark
from iunet.runs.requests import run_requests
from iunet.tables.ask import SEARCHES, Ask
from iunet.tables.cells import cell_of, in_order, select
from iunet.tables.document import VALUE, Column, Row, TableDocument, mark_best
from iunet.tables.frame import read_runs
from iunet.tables.scores import About, with_primary
from iunet.tables.searches import AVERAGE, average, search_document, verdict, winners

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Appendix E.2: the weight λ of the contrastive loss"
GROUP = SEARCHES
PAPER_LAMBDA = 1.0


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.search_lambda")
    rows = {cell.method.name: bench.config["methods"][cell.method.name] for cell in cells}
    default = bench.config["train"]["supernet"]["lambda"]
    lambdas = {m: row.get("supernet", {}).get("lambda", default) for m, row in rows.items()}
    return Ask(cells, run_requests(bench, cells), more={"lambdas": lambdas})


def build(ask: Ask, about: About) -> TableDocument:
    return search_lambda(read_runs(ask.requests), ask.more["lambdas"], about)


def search_lambda(
    frame: pd.DataFrame, lambdas: dict[str, float], about: About | None = None
) -> TableDocument:
    """Validation scores by λ; `lambdas` says the λ of each method of the frame."""
    about = about or About()
    frame = with_primary(frame).assign(column=frame["method"].map(lambdas))
    columns = [Column(f"lambda{v:g}", f"λ = {v:g}") for v in sorted(set(lambdas.values()))]
    rows, cells = [], {}
    for network in in_order(frame["network"]):
        for dataset in in_order(select(frame, network=network)["dataset"]):
            key = f"{network}/{dataset}"
            rows.append(
                Row(key, [network_label(network), dataset_label(dataset)], about.of(dataset))
            )
            part = select(frame, network=network, dataset=dataset)
            cells[key] = {
                column.key: cell_of(select(part, column=value), {VALUE: "valid_primary"})
                for column, value in zip(columns, sorted(set(lambdas.values())), strict=True)
            }
    rows.append(Row(AVERAGE, ["", "average"]))
    cells[AVERAGE] = {c.key: average([cells[r.key][c.key] for r in rows[:-1]]) for c in columns}
    table = search_document(
        "search_lambda",
        TITLE,
        "Validation score (%) of IUNET by λ: accuracy on images, balanced accuracy on tables.",
        ["Network", "Dataset"],
        rows,
        columns,
        cells,
        about,
    )
    mark_best(table)
    winner = winners(table, [(AVERAGE, column.key) for column in columns])
    labels = {column.key: column.label for column in columns}
    names = " and ".join(labels[column] for _, column in winner)
    table.notes.append(verdict(names, f"λ = {PAPER_LAMBDA:g}", "every data set and λ"))
    return table
