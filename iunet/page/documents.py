"""Table documents (results/tables/<id>.json): checks, and what the page asks of them.

A document is plain JSON: `rows` and `columns` with a `key` each, and `cells[row key][column key]`
with our values per metric, the paper's value, and the reason if ours is missing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from iunet.errors import UserError

Document = dict[str, Any]
YES, OFF_BY_ONE, NO, NOT_KNOWN = "yes", "off by one", "no", "n/a"
REQUIRED = ("id", "title", "row_header", "rows", "columns", "metrics", "cells")
NO_CELL = "no such run"  # a row and a column without an entry: never shown as if it were empty


def check_document(document: Document) -> None:
    """Refuse a document that contradicts itself; the page would show something wrong."""
    name = document.get("id", "without an id")
    lacking = [key for key in REQUIRED if key not in document]
    if lacking:
        raise UserError(f"The table document '{name}' lacks the key '{lacking[0]}'.")
    if not document["metrics"]:
        raise UserError(f"The table document '{name}' has no metric under 'metrics'.")
    if default_metric(document) not in document["metrics"]:
        raise UserError(
            f"The table document '{name}' has the default metric '{default_metric(document)}', "
            f"which is none of its metrics ({', '.join(document['metrics'])})."
        )
    for axis in ("rows", "columns"):
        keys = Counter(entry["key"] for entry in document[axis])
        if twice := [key for key, count in keys.items() if count > 1]:
            raise UserError(f"The table document '{name}' has '{twice[0]}' twice in its {axis}.")
    for row in document["rows"]:
        if len(row["labels"]) != len(document["row_header"]):
            raise UserError(
                f"The row '{row['key']}' of the table document '{name}' has {len(row['labels'])} "
                f"labels, but its row_header has {len(document['row_header'])}."
            )
    _check_cells(name, document)


def _check_cells(name: str, document: Document) -> None:
    rows, columns = ({entry["key"] for entry in document[axis]} for axis in ("rows", "columns"))
    for row_key, cells in document["cells"].items():
        unknown = [key for key in cells if key not in columns]
        if row_key not in rows or unknown:
            where = f"'{row_key}'" if row_key not in rows else f"'{row_key}' × '{unknown[0]}'"
            raise UserError(
                f"The table document '{name}' has a cell at {where}, outside its rows and columns."
            )
        for column_key, cell in cells.items():
            at = f"The cell '{row_key}' × '{column_key}' of the table document '{name}'"
            values = cell.get("values") or {}
            if cell.get("missing") and values:
                raise UserError(f"{at} has a value and is marked missing ({cell['missing']}).")
            if extra := [metric for metric in values if metric not in document["metrics"]]:
                raise UserError(f"{at} has the metric '{extra[0]}', which its table does not list.")
            numbers = [*values.values(), cell.get("paper") or {}, cell]
            for entry in numbers:
                for key in ("mean", "std", "difference"):
                    _check_number(at, key, entry.get(key))


def _check_number(at: str, key: str, number: Any) -> None:
    if number is None:
        return
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise UserError(f"{at} has {key} = {number!r}, which is no number.")
    if not math.isfinite(number):
        raise UserError(f"{at} has {key} = {number}, which is no finite number.")


def default_metric(document: Document) -> str:
    return document.get("default_metric") or document["metrics"][0]


def cells(document: Document) -> Iterator[tuple[dict, dict, dict]]:
    """Every row, column and cell, in the order of reading."""
    for row in document["rows"]:
        for column in document["columns"]:
            yield row, column, cell_at(document, row["key"], column["key"])


def cell_at(document: Document, row_key: str, column_key: str) -> dict[str, Any]:
    """The cell; one that the document leaves out is missing, not empty."""
    cell = document["cells"].get(row_key, {}).get(column_key)
    return {"missing": NO_CELL} if cell is None else cell


def mean_of(cell: dict, metric: str) -> float | None:
    return ((cell.get("values") or {}).get(metric) or {}).get("mean")


def missing_reason(cell: dict) -> str | None:
    """Why there is nothing to show, or None."""
    if cell.get("missing"):
        return cell["missing"]
    return None if cell.get("values") else "no value"


def paper_columns(document: Document) -> set[str]:
    """The columns for which the paper has at least one value."""
    return {column["key"] for _, column, cell in cells(document) if cell.get("paper")}


def is_papers(document: Document) -> bool:
    """Tables 1 to 9; others may repeat the paper's values, which must not count twice."""
    return document["id"].removeprefix("table").isdigit()


def agreement(document: Document) -> Counter:
    """Cells with a paper value, by agreement; 'missing' where we have none to compare."""
    return Counter(
        "missing" if missing_reason(cell) else cell.get("agrees") or NOT_KNOWN
        for cell in _compared(document)
    )


def _compared(document: Document) -> Iterator[dict]:
    """The cells with a paper value, each value once."""
    for _, column, cell in cells(document):
        if cell.get("paper") and not column.get("repeats"):
            yield cell


def judged_by_spread(document: Document) -> Counter:
    """Cells that agree or not by a test of the means; the rest of them is counts that are exact."""
    return Counter(
        cell["agrees"]
        for cell in _compared(document)
        if cell["paper"].get("std") is not None
        and cell.get("agrees") in (YES, NO)
        and not missing_reason(cell)
    )


def expected_to_agree(judged: Counter) -> float:
    """How many of the judged cells would agree if all were equal: each test errs in 5 %."""
    return 0.95 * judged.total()


def missing_by_reason(document: Document) -> dict[str, list[str]]:
    """For each reason the places without a value: a row's name, or row and column."""
    places: dict[str, list[str]] = {}
    for row in document["rows"]:
        found: dict[str, list[str]] = {}
        for column in document["columns"]:
            if reason := missing_reason(cell_at(document, row["key"], column["key"])):
                found.setdefault(reason, []).append(column["label"])
        name = " ".join(label for label in map(str, row["labels"]) if label)
        for reason, columns in found.items():
            whole = len(columns) == len(document["columns"])
            places.setdefault(reason, []).append(
                name if whole else f"{name} ({', '.join(columns)})"
            )
    return places
