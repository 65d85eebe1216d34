"""Appendix E.2: the weight λ of the contrastive loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.results.collect import Results
from iunet.results.selection import METHOD, of_results
from iunet.tables.cells import cell_of, grouped_table
from iunet.tables.document import VALUE, Cell, Row, TableDocument, mark_best
from iunet.tables.scores import with_primary
from iunet.tables.searches import AVERAGE, SPREAD, average, winner_note

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Appendix E.2: the weight λ of the contrastive loss"
PAPER = "λ = 1"
CAPTION = "Validation score (%) of IUNET by λ: accuracy on images, balanced accuracy on tables."


def build(results: Results) -> TableDocument:
    """Validation scores of the chosen ratios by λ, which is that of a method's supernets."""
    weights = results.runs.groupby(METHOD)["lambda"].first()
    runs = with_primary(of_results(results.runs))
    runs = runs.join(weights.rename("weight"), on=METHOD)
    columns = {f"lambda{value:g}": value for value in sorted(set(runs["weight"]))}

    def cells(key: tuple, part: pd.DataFrame) -> dict[str, Cell]:
        return {
            column: cell_of(part[part["weight"] == value], {VALUE: "valid_primary"})
            for column, value in columns.items()
        }

    labels = {column: f"λ = {value:g}" for column, value in columns.items()}
    table = grouped_table(
        runs, ("network", "dataset"), labels, cells, CAPTION, [SPREAD], best_along="row"
    )
    averages = {c: average([row[c] for row in table.cells.values()]) for c in columns}
    table.rows.append(Row(AVERAGE, ["", "average"]))
    table.cells[AVERAGE] = averages
    mark_best(table)
    places = {label: (AVERAGE, column) for column, label in labels.items()}
    table.notes.append(winner_note(table, places, PAPER, "every data set and λ"))
    return table
