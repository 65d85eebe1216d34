"""Appendix E.2: the weight λ of the contrastive loss."""

from __future__ import annotations

from iunet.labels import dataset_label, network_label
from iunet.results.collect import Results
from iunet.results.selection import METHOD, of_results
from iunet.tables.cells import cell_of, plain_table
from iunet.tables.document import VALUE, TableDocument
from iunet.tables.searches import AVERAGE, SPREAD, average, winner_note

TITLE = "Appendix E.2: the weight λ of the contrastive loss"
PAPER = "λ = 1"
CAPTION = "Validation score (%) of IUNET by λ: accuracy on images, balanced accuracy on tables."


def build(results: Results) -> TableDocument:
    """Validation scores of the chosen ratios by λ, which is that of a method's supernets."""
    weights = results.runs.groupby(METHOD)["lambda"].first()
    runs = of_results(results.runs)
    runs = runs.join(weights.rename("weight"), on=METHOD)
    columns = {f"lambda{value:g}": value for value in sorted(set(runs["weight"]))}

    labels = {column: f"λ = {value:g}" for column, value in columns.items()}
    lines = {}
    for (network, dataset), part in runs.groupby(["network", "dataset"], sort=False):
        content = {
            column: cell_of(part[part["weight"] == value], {VALUE: "valid_primary"})
            for column, value in columns.items()
        }
        head = [network_label(network), dataset_label(dataset)]
        lines[f"{network}/{dataset}"] = (head, content)
    averages = {column: average([line[column] for _, line in lines.values()]) for column in columns}
    lines[AVERAGE] = (["", "average"], averages)
    table = plain_table(CAPTION, ["Network", "Dataset"], labels, lines, [SPREAD], best_along="row")
    places = {label: (AVERAGE, column) for column, label in labels.items()}
    table.notes.append(winner_note(table, places, PAPER, "every data set and λ"))
    return table
