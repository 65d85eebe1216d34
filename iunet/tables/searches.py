"""What the searches of appendix E.2 share. Choices are made on validation data."""

from __future__ import annotations

from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value
from iunet.tables.names import stand_in_text
from iunet.tables.scores import About

AVERAGE = "average"
SPREAD = "Mean ± sample standard deviation over seeds; the best is bold."


def average(cells: list[Cell]) -> Cell:
    """The mean of cells; incomplete if one of them has no value."""
    values = [cell.values[VALUE].mean for cell in cells if VALUE in cell.values]
    if len(values) < len(cells) or not cells:
        return Cell(missing="incomplete")
    return Cell(values={VALUE: Value(sum(values) / len(values))})


def winners(table: TableDocument, places: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The places whose value is the best of them; none if one has no value."""
    values = [table.cell(*place).values.get(VALUE) for place in places]
    if not values or any(value is None for value in values):
        return []
    best = max(round(value.mean, table.decimals) for value in values)
    return [p for p, v in zip(places, values, strict=True) if round(v.mean, table.decimals) == best]


def verdict(ours: str, paper: str, needed: str) -> str:
    if not ours:
        return f"The averages need {needed}: no winner can be named yet. The paper chose {paper}."
    same = "the same" if ours == paper else "another"
    return f"Best on average: {ours}. The paper chose {paper}: {same}."


def search_document(
    id: str,
    title: str,
    caption: str,
    row_header: list[str],
    rows: list[Row],
    columns: list[Column],
    cells: dict[str, dict[str, Cell]],
    about: About,
    best_along: str = "row",
) -> TableDocument:
    return TableDocument(
        id=id,
        title=title,
        caption=caption + stand_in_text(about.stand_ins),
        row_header=row_header,
        rows=rows,
        columns=columns,
        metrics=[VALUE],
        default_metric=VALUE,
        cells=cells,
        notes=[SPREAD, *(about.notes or [])],
        best_along=best_along,
    )
