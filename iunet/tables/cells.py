"""Tables from lines or from a frame: means over seeds, and reasons for what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from iunet.labels import dataset_label, method_label, network_label
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value, mark_best

if TYPE_CHECKING:
    import pandas as pd

NOT_ASKED = "not in this run"
NONE = "–"
LABELS = {"dataset": dataset_label, "network": network_label, "method": method_label}


def plain_table(
    caption: str,
    header: Iterable[str],
    columns: dict[str, str] | list[Column],
    lines: dict[str, tuple[list[str], dict[str, Any] | str]],
    notes: Iterable[str] = (),
    best_among: Iterable[Iterable[str]] | None = None,
    **form: Any,
) -> TableDocument:
    """A table from its lines: for each row key, the labels and the content of the columns.

    Content is what `cell` takes; a text instead of columns is the reason why a row is missing.
    `columns` are labels by key, `best_among` groups of columns that each have a best value, `form`
    other fields of the document.
    """
    if isinstance(columns, dict):
        columns = [Column(key, label) for key, label in columns.items()]
    names = [column.key for column in columns]
    cells = {}
    for key, (_, content) in lines.items():
        if isinstance(content, str):
            content = {name: Cell(missing=content) for name in names}
        cells[key] = {name: cell(value) for name, value in content.items()}
    document = TableDocument(
        caption=caption,
        row_header=list(header),
        rows=[Row(key, labels) for key, (labels, _) in lines.items()],
        columns=columns,
        cells=cells,
        notes=list(notes),
        **{"best_along": "none"} | form,
    )
    if document.best_along != "none":
        for group in best_among or [names]:
            mark_best(document, group)
    return document


def grouped_table(
    frame: pd.DataFrame,
    rows: Iterable[str],
    columns: dict[str, str] | list[Column],
    cells: Callable[[tuple, pd.DataFrame], dict[str, Any] | str],
    caption: str,
    notes: Iterable[str] = (),
    **form: Any,
) -> TableDocument:
    """A table row for each combination of values in the columns `rows` of the frame.

    `cells` makes the content of a row from these values and its part of the frame.
    """
    lines = {}
    for key, part in frame.groupby(list(rows), sort=False):
        labels = [LABELS.get(c, str)(value) for c, value in zip(rows, key, strict=True)]
        lines["/".join(map(str, key))] = (labels, cells(key, part))
    return plain_table(caption, map(str.capitalize, rows), columns, lines, notes, **form)


def cell(content: Any, *notes: str) -> Cell:
    """A cell from a number, a text, or numbers by seed; a dash if there is none."""
    if isinstance(content, Cell):
        return content
    if isinstance(content, str):
        value = Value(text=content)
    elif isinstance(content, Value):
        value = content
    elif isinstance(content, Iterable):
        numbers = [float(x) for x in content if x is not None and x == x]
        spread = stdev(numbers) if len(numbers) > 1 else None
        value = Value(fmean(numbers), spread, len(numbers)) if numbers else Value(text=NONE)
    else:
        value = Value(text=NONE) if content is None else Value(float(content))
    return Cell(values={VALUE: value}, notes=list(notes))


def cell_of(rows: pd.DataFrame, columns: dict[str, str]) -> Cell:
    """The cell of one network, method and data set; `columns` names the frame's, by metric."""
    if rows.empty:
        return Cell(missing=NOT_ASKED)
    values = {metric: summarise(rows[column]) for metric, column in columns.items()}
    cell = Cell(values={metric: value for metric, value in values.items() if value})
    problems = problems_of(rows)
    if problems and not cell.values:
        cell.missing = "; ".join(problems)
    else:
        cell.notes += problem_notes(rows)
    cell.notes += cut_off_notes(rows)
    return cell


def summarise(values: pd.Series) -> Value | None:
    """Mean and sample standard deviation (n − 1) of the known values; one value has no spread."""
    numbers = values.dropna()
    if numbers.empty:
        return None
    std = float(numbers.std(ddof=1)) if len(numbers) > 1 else None
    return Value(float(numbers.mean()), std, len(numbers))


def problems_of(rows: pd.DataFrame) -> Counter[str]:
    """The reasons why seeds have no value, with the number of seeds."""
    reasons = rows["missing"].where(rows["missing"].notna(), rows["failed"])
    return Counter(reasons.dropna())


def problem_notes(rows: pd.DataFrame) -> list[str]:
    return [f"{reason} ({n} of {len(rows)} seeds)" for reason, n in problems_of(rows).items()]


def cut_off_notes(rows: pd.DataFrame, of: str = "seeds") -> list[str]:
    """The number of networks that have a layer without any weight, if there are any."""
    count = int(rows["disconnected"].eq(True).sum()) if "disconnected" in rows else 0
    return [f"disconnected ({count} of {len(rows)} {of})"] * bool(count)


def select(frame: pd.DataFrame, **keys: Any) -> pd.DataFrame:
    for column, value in keys.items():
        frame = frame[frame[column] == value]
    return frame
