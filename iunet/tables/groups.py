"""Tables whose lines are runs with all their seeds: a line's name, and its numbers' mean."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import Any

from iunet.labels import dataset_label, method_label, network_label
from iunet.tables.document import VALUE, Cell, Row, Value
from iunet.tables.scores import About

LABELS = {"dataset": dataset_label, "network": network_label, "method": method_label}


def grouped(
    rows: list[dict[str, Any]], keys: tuple[str, ...], about: About
) -> tuple[list[Row], dict[str, list[dict[str, Any]]]]:
    """The lines of a table, and by line the rows that share its `keys`; in order of appearance."""
    heads: dict[str, Row] = {}
    parts: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        line = "/".join(row[key] for key in keys)
        names = [LABELS[key](row[key]) if key in LABELS else row[key] for key in keys]
        heads.setdefault(line, Row(line, names, about.of(row["dataset"])))
        parts.setdefault(line, []).append(row)
    return list(heads.values()), parts


def summary(values: list[float | None]) -> Cell:
    """Mean and sample standard deviation; a dash where there is no such number."""
    numbers = [value for value in values if value is not None]
    if not numbers:
        return Cell(values={VALUE: Value(text="–")})
    spread = stdev(numbers) if len(numbers) > 1 else None
    return Cell(values={VALUE: Value(fmean(numbers), spread, len(numbers))})
