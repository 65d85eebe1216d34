"""From the rows of a frame to the cells of a table: means over seeds, and what is missing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from iunet.tables.document import Cell, Value

if TYPE_CHECKING:
    import pandas as pd

NOT_ASKED = "not in this run"


def summarise(values: pd.Series) -> Value | None:
    """Mean and sample standard deviation (over n − 1) of what is there; one value has no spread."""
    numbers = values.dropna()
    if numbers.empty:
        return None
    std = float(numbers.std(ddof=1)) if len(numbers) > 1 else None
    return Value(float(numbers.mean()), std, len(numbers))


def cell_of(rows: pd.DataFrame, columns: dict[str, str]) -> Cell:
    """The cell of one network, method and data set; `columns` names the frame's, by metric."""
    if rows.empty:
        return Cell(missing=NOT_ASKED)
    values = {metric: summarise(rows[column]) for metric, column in columns.items()}
    cell = Cell(values={metric: value for metric, value in values.items() if value})
    troubles = troubles_of(rows)
    if len(troubles) and not cell.values:
        cell.missing = "; ".join(troubles)
    else:
        cell.notes += [f"{t} ({n} of {len(rows)} seeds)" for t, n in troubles.items()]
    cell.notes += cut_off_notes(rows)
    return cell


def cut_off_notes(rows: pd.DataFrame, of: str = "seeds") -> list[str]:
    """How many of some networks have a layer without any weight, if there are such."""
    count = int(rows["disconnected"].eq(True).sum()) if "disconnected" in rows else 0
    return [f"disconnected ({count} of {len(rows)} {of})"] * bool(count)


def troubles_of(rows: pd.DataFrame) -> Counter[str]:
    """Reasons for which seeds have no value, with their number."""
    reasons = rows["missing"].where(rows["missing"].notna(), rows["failed"])
    return Counter(reasons.dropna())


def score_columns(metrics: list[str], part: str = "test") -> dict[str, str]:
    return {metric: f"{part}_{metric}" for metric in metrics}


def select(frame: pd.DataFrame, **keys: Any) -> pd.DataFrame:
    for column, value in keys.items():
        frame = frame[frame[column] == value]
    return frame


def in_order(values: pd.Series) -> list[Any]:
    """Distinct values in order of first appearance."""
    return list(dict.fromkeys(values))


def with_extras(known: list[str], found: list[str]) -> list[str]:
    """The paper's own columns, then what the run has beyond them."""
    return [*known, *(name for name in found if name not in known)]
