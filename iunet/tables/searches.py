"""What the searches of appendix E.2 share. Choices are made on validation data."""

from __future__ import annotations

from iunet.tables.document import VALUE, Cell, TableDocument, Value

AVERAGE = "average"
SPREAD = "Mean ± sample standard deviation over seeds; the best is bold."


def average(cells: list[Cell]) -> Cell:
    """The mean of cells; incomplete if one of them has no value."""
    values = [cell.values[VALUE].mean for cell in cells if VALUE in cell.values]
    if len(values) < len(cells) or not cells:
        return Cell(missing="incomplete")
    return Cell(values={VALUE: Value(sum(values) / len(values))})


def winner_note(
    table: TableDocument, places: dict[str, tuple[str, str]], paper: str, needed: str
) -> str:
    """Which of the places (row and column, by their names) is the best, and the paper's choice."""
    values = {name: table.cell(*place).values.get(VALUE) for name, place in places.items()}
    if not values or None in values.values():
        return f"The averages need {needed}: no winner can be named yet. The paper chose {paper}."
    rounded = {name: round(value.mean, table.decimals) for name, value in values.items()}
    ours = " and ".join(n for n, value in rounded.items() if value == max(rounded.values()))
    same = "the same" if ours == paper else "another"
    return f"Best on average: {ours}. The paper chose {paper}: {same}."
