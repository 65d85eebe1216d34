"""Appendix E.2: compression ratio and κ on tables."""

from __future__ import annotations

from iunet.labels import dataset_label
from iunet.results.collect import Results
from iunet.results.selection import of_subnetworks
from iunet.tables.cells import cell_of, in_order, select
from iunet.tables.document import VALUE, Column, Row, TableDocument, mark_best
from iunet.tables.searches import AVERAGE, SPREAD, average, winner_note

TITLE = "Appendix E.2: compression ratio and κ on tables"
KIND = "tabular"
PAPER_POINT = "r = 8, κ = 0.25"


def build(results: Results) -> TableDocument:
    runs = of_subnetworks(results.runs)
    datasets = in_order(runs["dataset"])
    points = [
        (ratio, kappa)
        for ratio in sorted(set(runs["ratio"]))
        for kappa in sorted(set(runs["kappa"]), reverse=True)
    ]
    rows, cells, places = [], {}, {}
    for ratio, kappa in points:
        key = f"ratio{ratio:g}-kappa{kappa:g}"
        rows.append(Row(key, [f"{ratio:g}", f"{kappa:g}"]))
        part = select(runs, ratio=ratio, kappa=kappa)
        cells[key] = {
            d: cell_of(select(part, dataset=d), {VALUE: "valid_balanced_accuracy"})
            for d in datasets
        }
        cells[key][AVERAGE] = average(list(cells[key].values()))
        places[f"r = {ratio:g}, κ = {kappa:g}"] = (key, AVERAGE)
    table = TableDocument(
        caption="Validation balanced accuracy (%) of IUNET by compression ratio r and κ.",
        row_header=["r", "κ"],
        rows=rows,
        columns=[*(Column(d, dataset_label(d)) for d in datasets), Column(AVERAGE, "Average")],
        cells=cells,
        notes=[SPREAD],
        best_along="column",
    )
    mark_best(table)
    table.notes.append(winner_note(table, places, PAPER_POINT, "every data set"))
    return table
