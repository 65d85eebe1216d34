"""Table documents as the page shows them: a text in every cell, footnotes, what is missing.

A document (results/tables/<id>.json) is plain JSON: `rows` and `columns` with a `key` each, and
`cells[row key][column key]` with our values per metric, the paper's value, and the reason if ours
is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from iunet.labels import METRIC_LABELS, letters

Document = dict[str, Any]
YES, OFF_BY_ONE, NO, NOT_KNOWN = "yes", "off by one", "no", "n/a"
MARKS = {YES: "✓", OFF_BY_ONE: "±1", NO: "✗", NOT_KNOWN: "n/a"}
CLASSES = {YES: "yes", OFF_BY_ONE: "near", NO: "no", NOT_KNOWN: "na", "missing": "missing"}
NUMBER = re.compile(r"[−+-]?[\d,]+(\.(?P<decimals>\d+))?")
WIDE = 8  # columns: more than these are printed in landscape


@dataclass
class Value:
    """One metric of a cell."""

    metric: str
    text: str
    spread: str = ""
    number: float | None = None  # to sort by
    best: bool = False
    shown: bool = False  # in the default view
    like_paper: bool = False  # in the metric of the paper's value


@dataclass
class Cell:
    values: list[Value] = field(default_factory=list)
    missing: str | None = None
    marks: list[str] = field(default_factory=list)  # footnotes
    paper: Value | None = None
    paper_metric: str = ""
    difference: Value | None = None
    mark: str = ""
    mark_class: str = ""


def table_view(document: Document) -> dict[str, Any]:
    """What the template needs of a table."""
    footnotes: dict[str, str] = {}
    compared = {column["key"] for _, column, cell in cells(document) if cell["paper"]}
    columns = [
        column
        | {
            "compared": column["key"] in compared,
            "metric_label": metric_name(document, column["paper_metric"] or ""),
            "textual": _is_textual(document, column["key"]),
            "decimals": _decimals_of_column(document, column["key"]),
        }
        for column in document["columns"]
    ]
    counts = agreement(document)
    return {
        "document": document,
        "columns": columns,
        "rows": [_row(document, row, columns, footnotes) for row in document["rows"]],
        "footnotes": [(mark, text) for text, mark in footnotes.items()],
        "missing": missing_by_reason(document),
        "counts": [(MARKS[kind], CLASSES[kind], counts[kind]) for kind in MARKS if counts[kind]],
        "expected": expected_agreement(document),
        "compared": bool(compared),
        "wide": len(columns) > WIDE,
        "metric_label": metric_name(document, document["default_metric"]),
        "metric_labels": {name: metric_name(document, name) for name in document["metrics"]},
    }


def _row(document: Document, row: dict, columns: list[dict], footnotes: dict) -> dict[str, Any]:
    found = [
        _cell(document, column, document["cells"][row["key"]][column["key"]], footnotes)
        for column in columns
    ]
    marks = [footnote(footnotes, note) for note in row["notes"]]
    return {"labels": row["labels"], "marks": marks, "cells": found}


def _cell(document: Document, column: dict, cell: dict, footnotes: dict) -> Cell:
    decimals, default = column["decimals"], document["default_metric"]
    view = Cell(missing=missing_reason(cell))
    view.marks = [footnote(footnotes, note) for note in cell["notes"]]
    paper = cell["paper"]
    like = paper["metric"] if paper else column["paper_metric"] or default
    for metric in document["metrics"]:
        value = _value(metric, cell["values"].get(metric), decimals)
        value.shown, value.like_paper = metric == default, metric == like
        view.values.append(value)
    if not any(value.like_paper for value in view.values):
        view.values[0].like_paper = True
    if paper:
        # As many decimals as ours has, if ours is a text.
        ours = next(value for value in view.values if value.like_paper)
        shown = decimals_of(ours.text) if ours.number is not None else None
        decimals = decimals if shown is None else shown
        view.paper = _value(like, paper, decimals)
        view.paper_metric = metric_name(document, like)
        agrees = "missing" if view.missing else cell["agrees"] or NOT_KNOWN
        view.mark, view.mark_class = MARKS.get(agrees, ""), CLASSES[agrees]
    if (difference := cell["difference"]) is not None:
        view.difference = Value(like, number_text(difference, decimals, sign=True), "", difference)
    return view


def _value(metric: str, content: dict[str, Any] | None, decimals: int) -> Value:
    if not content or (content.get("mean") is None and not content.get("text")):
        return Value(metric, "")
    mean, std = content.get("mean"), content.get("std")
    text = content.get("text") or number_text(mean, decimals)
    spread = number_text(std, decimals) if std is not None else ""
    return Value(metric, text, spread, mean, bool(content.get("best")))


def footnote(footnotes: dict[str, str], text: str) -> str:
    """The letter of a footnote; equal texts share one."""
    return footnotes.setdefault(text, letters(len(footnotes)))


# ---- texts


def number_text(number: float, decimals: int, sign: bool = False) -> str:
    """With a real minus sign; whole numbers without decimals, in groups of three from 10,000."""
    if isinstance(number, int):
        decimals = 0
    group = "," if decimals == 0 and abs(number) >= 10_000 else ""
    plus = "+" if sign else ""
    text = f"{number:{plus}{group}.{decimals}f}"
    if float(text.replace(",", "")) == 0:  # −0.000 is 0.000
        text = text.lstrip("+-")
    return text.replace("-", "−")


def decimals_of(text: str) -> int | None:
    """The decimals of a number written as text; None if it is something else."""
    match = NUMBER.fullmatch(text)
    return len(match["decimals"] or "") if match else None


def metric_name(document: Document, metric: str) -> str:
    if labels := document["metric_labels"]:
        return labels.get(metric, "")
    if metric in ("", "value"):
        return ""
    return METRIC_LABELS.get(metric, metric.replace("_", " ").capitalize())


def _texts(document: Document, column: str) -> list[str | None]:
    """The texts of a column's cells; None for a cell that has only a number."""
    found = (document["cells"][row["key"]][column]["values"] for row in document["rows"])
    return [value.get("text") for values in found for value in values.values()]


def _is_textual(document: Document, column: str) -> bool:
    """Words, which are read from the left; numbers with a unit are not."""
    texts = _texts(document, column)
    return bool(texts) and all(t is not None and not re.match(r"[−+-]?[\d.]", t) for t in texts)


def _decimals_of_column(document: Document, column: str) -> int:
    """Of a column of counts, which come as text: as they are; else what the document says."""
    found = {None if text is None else decimals_of(text) for text in _texts(document, column)}
    (decimals,) = found if len(found) == 1 else (None,)
    return document["decimals"] if decimals is None else decimals


# ---- agreement with the paper, and what is missing


def cells(document: Document) -> Iterator[tuple[dict, dict, dict]]:
    """Every row, column and cell, in the order of reading."""
    for row in document["rows"]:
        for column in document["columns"]:
            yield row, column, document["cells"][row["key"]][column["key"]]


def _compared(document: Document) -> Iterator[dict]:
    """The cells with a paper value, each value once."""
    for _, column, cell in cells(document):
        if cell["paper"] and not column["repeats"]:
            yield cell


def agreement(document: Document) -> Counter:
    """Cells with a paper value, by agreement; 'missing' where we have none to compare."""
    return Counter(
        "missing" if missing_reason(cell) else cell["agrees"] or NOT_KNOWN
        for cell in _compared(document)
    )


def expected_agreement(document: Document) -> float | None:
    """How many cells would agree if all were equal: each test errs in 5 %.

    Only cells that are judged by their spread count: counts of data are exact. None without any.
    """
    judged = sum(
        cell["paper"]["std"] is not None
        and cell["agrees"] in (YES, NO)
        and not missing_reason(cell)
        for cell in _compared(document)
    )
    return 0.95 * judged if judged else None


def missing_reason(cell: dict) -> str | None:
    """Why there is nothing to show, or None."""
    return cell["missing"] or (None if cell["values"] else "no value")


def missing_by_reason(document: Document) -> dict[str, list[str]]:
    """For each reason the places without a value: a row's name, or row and column."""
    places: dict[str, list[str]] = {}
    for row in document["rows"]:
        found: dict[str, list[str]] = {}
        for column in document["columns"]:
            if reason := missing_reason(document["cells"][row["key"]][column["key"]]):
                found.setdefault(reason, []).append(column["label"])
        name = " ".join(label for label in map(str, row["labels"]) if label)
        for reason, columns in found.items():
            whole = len(columns) == len(document["columns"])
            places.setdefault(reason, []).append(
                name if whole else f"{name} ({', '.join(columns)})"
            )
    return places
