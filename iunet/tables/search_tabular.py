"""Appendix E.2: compression ratio and κ on tables."""

from __future__ import annotations

from iunet.labels import dataset_label
from iunet.results.collect import Results
from iunet.results.selection import of_subnetworks
from iunet.tables.cells import cell_of, in_order, plain_table, select
from iunet.tables.document import VALUE, TableDocument
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
    lines, places = {}, {}
    for ratio, kappa in points:
        key = f"ratio{ratio:g}-kappa{kappa:g}"
        part = select(runs, ratio=ratio, kappa=kappa)
        content = {
            d: cell_of(select(part, dataset=d), {VALUE: "valid_balanced_accuracy"})
            for d in datasets
        }
        content[AVERAGE] = average(list(content.values()))
        lines[key] = ([f"{ratio:g}", f"{kappa:g}"], content)
        places[f"r = {ratio:g}, κ = {kappa:g}"] = (key, AVERAGE)
    table = plain_table(
        "Validation balanced accuracy (%) of IUNET by compression ratio r and κ.",
        ["r", "κ"],
        {**{d: dataset_label(d) for d in datasets}, AVERAGE: "Average"},
        lines,
        [SPREAD],
        best_along="column",
    )
    table.notes.append(winner_note(table, places, PAPER_POINT, "every data set"))
    return table
