"""From the rows of a frame to a table: a row for each group, means over seeds, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from iunet.labels import dataset_label, method_label, network_label
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value

if TYPE_CHECKING:
    import pandas as pd

NOT_ASKED = "not in this run"
LABELS = {"dataset": dataset_label, "network": network_label, "method": method_label}


def grouped_table(
    frame: pd.DataFrame,
    rows: Iterable[str],
    columns: dict[str, str],
    cells: Callable[[tuple, pd.DataFrame], dict[str, Cell]],
    caption: str,
    notes: Iterable[str] = (),
    **form: Any,
) -> TableDocument:
    """A row for all rows of the frame that share the columns `rows`.

    `cells` makes the cells of a row from the values of these columns and its part of the frame;
    `columns` are the labels of the table's columns, `form` other fields of the document.
    """
    heads, found = [], {}
    for key, part in frame.groupby(list(rows), sort=False):
        named = dict(zip(rows, key, strict=True))
        labels = [LABELS.get(column, str)(value) for column, value in named.items()]
        head = Row("/".join(map(str, key)), labels)
        heads.append(head)
        found[head.key] = cells(key, part)
    return TableDocument(
        caption=caption,
        row_header=[word.capitalize() for word in rows],
        rows=heads,
        columns=[Column(key, label) for key, label in columns.items()],
        cells=found,
        notes=list(notes),
        **{"best_along": "none"} | form,
    )


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
    """Mean and sample standard deviation (over n − 1) of what is there; one value has no spread."""
    numbers = values.dropna()
    if numbers.empty:
        return None
    std = float(numbers.std(ddof=1)) if len(numbers) > 1 else None
    return Value(float(numbers.mean()), std, len(numbers))


def number_cell(values: Iterable[float | None]) -> Cell:
    """A cell of one number by seed; a dash where there is no such number."""
    numbers = [float(value) for value in values if value is not None and value == value]
    if not numbers:
        return text_cell("–")
    spread = stdev(numbers) if len(numbers) > 1 else None
    return Cell(values={VALUE: Value(fmean(numbers), spread, len(numbers))})


def text_cell(text: str | None, mean: float | None = None, n: int | None = None) -> Cell:
    return Cell(values={VALUE: Value(mean, n=n, text=text)})


def problems_of(rows: pd.DataFrame) -> Counter[str]:
    """Reasons for which seeds have no value, with their number."""
    reasons = rows["missing"].where(rows["missing"].notna(), rows["failed"])
    return Counter(reasons.dropna())


def problem_notes(rows: pd.DataFrame) -> list[str]:
    return [f"{reason} ({n} of {len(rows)} seeds)" for reason, n in problems_of(rows).items()]


def cut_off_notes(rows: pd.DataFrame, of: str = "seeds") -> list[str]:
    """How many of some networks have a layer without any weight, if there are such."""
    count = int(rows["disconnected"].eq(True).sum()) if "disconnected" in rows else 0
    return [f"disconnected ({count} of {len(rows)} {of})"] * bool(count)


def select(frame: pd.DataFrame, **keys: Any) -> pd.DataFrame:
    for column, value in keys.items():
        frame = frame[frame[column] == value]
    return frame


def in_order(values: Iterable[Any]) -> list[Any]:
    """Distinct values in order of first appearance."""
    return list(dict.fromkeys(values))
