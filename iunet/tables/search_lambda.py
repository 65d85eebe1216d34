"""Appendix E.2: the weight λ of the contrastive loss."""

from __future__ import annotations

from iunet.results.collect import Results
from iunet.results.selection import METHOD, of_results
from iunet.tables.cells import cell_of, grouped, table_rows
from iunet.tables.context import Context
from iunet.tables.document import VALUE, Column, Row, TableDocument, mark_best
from iunet.tables.names import with_primary
from iunet.tables.searches import AVERAGE, SPREAD, average, winner_note

TITLE = "Appendix E.2: the weight λ of the contrastive loss"
PAPER_LAMBDA = 1.0


def build(results: Results, context: Context) -> TableDocument:
    """Validation scores of the chosen ratios by λ, which is that of a method's supernets."""
    weights = {key: part["lambda"].iloc[0] for key, part in grouped(results.runs, METHOD).items()}
    runs = with_primary(of_results(results.runs))
    own = [weights[key] for key in zip(*(runs[column] for column in METHOD), strict=True)]
    parts = grouped(runs.assign(weight=own), ["network", "dataset", "weight"])
    columns = {f"lambda{value:g}": value for value in sorted(set(own))}
    heads = table_rows(runs, ("network", "dataset"), context)
    cells = {
        head.key: {
            column: cell_of(parts.get((*key, value)), {VALUE: "valid_primary"})
            for column, value in columns.items()
        }
        for key, head in heads.items()
    }
    cells[AVERAGE] = {c: average([row[c] for row in cells.values()]) for c in columns}
    table = TableDocument(
        caption="Validation score (%) of IUNET by λ: accuracy on images, balanced accuracy on "
        "tables.",
        row_header=["Network", "Dataset"],
        rows=[*heads.values(), Row(AVERAGE, ["", "average"])],
        columns=[Column(key, f"λ = {value:g}") for key, value in columns.items()],
        cells=cells,
        notes=[SPREAD],
    )
    mark_best(table)
    places = {column.label: (AVERAGE, column.key) for column in table.columns}
    paper = f"λ = {PAPER_LAMBDA:g}"
    table.notes.append(winner_note(table, places, paper, "every data set and λ"))
    return table
