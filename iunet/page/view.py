"""Table documents as the template needs them: text in every cell, footnotes, what is missing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from iunet.labels import METRIC_LABELS, letters
from iunet.page.documents import (
    NO,
    NOT_KNOWN,
    OFF_BY_ONE,
    YES,
    Document,
    agreement,
    cell_at,
    default_metric,
    expected_to_agree,
    judged_by_spread,
    missing_by_reason,
    missing_reason,
    paper_columns,
)

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


@dataclass
class TableView:
    document: Document
    columns: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    footnotes: list[tuple[str, str]]
    missing: dict[str, list[str]]
    counts: list[tuple[str, str, int]]  # mark, class, count
    expected: float | None  # how many would agree if all were equal; none if none is judged so
    compared: bool  # the paper has values for it
    switchable: bool  # it has more than one metric
    wide: bool
    metric_label: str
    metric_labels: dict[str, str]


def table_view(document: Document) -> TableView:
    footnotes: dict[str, str] = {}
    compared = paper_columns(document)
    metric = default_metric(document)
    columns = [
        column
        | {
            "compared": column["key"] in compared,
            "metric_label": metric_name(document, column.get("paper_metric") or ""),
            "textual": _is_textual(document, column["key"]),
            "decimals": column.get("decimals", _decimals_of_column(document, column["key"])),
        }
        for column in document["columns"]
    ]
    rows = [_row(document, row, columns, footnotes) for row in document["rows"]]
    counts = agreement(document)
    judged = judged_by_spread(document)
    return TableView(
        document=document,
        columns=columns,
        rows=rows,
        footnotes=[(mark, text) for text, mark in footnotes.items()],
        missing=missing_by_reason(document),
        counts=[(MARKS[kind], CLASSES[kind], counts[kind]) for kind in MARKS if counts[kind]],
        expected=expected_to_agree(judged) if judged else None,
        compared=bool(compared),
        switchable=len(document["metrics"]) > 1,
        wide=len(columns) > WIDE,
        metric_label=metric_name(document, metric),
        metric_labels={name: metric_name(document, name) for name in document["metrics"]},
    )


def _row(document: Document, row: dict, columns: list[dict], footnotes: dict) -> dict[str, Any]:
    marks = [footnote(footnotes, note) for note in row.get("notes") or []]
    found = []
    for column in columns:
        cell = cell_at(document, row["key"], column["key"])
        found.append(_cell(document, column, cell, footnotes))
    return {"key": row["key"], "labels": row["labels"], "marks": marks, "cells": found}


def _cell(document: Document, column: dict, cell: dict, footnotes: dict) -> Cell:
    decimals = column["decimals"]
    view = Cell(missing=missing_reason(cell))
    view.marks = [footnote(footnotes, note) for note in cell.get("notes") or []]
    paper = cell.get("paper") or {}
    like = paper.get("metric") or column.get("paper_metric") or default_metric(document)
    for metric in document["metrics"]:
        content = (cell.get("values") or {}).get(metric)
        value = value_of(metric, content, decimals)
        value.shown = metric == default_metric(document)
        value.like_paper = metric == like
        view.values.append(value)
    if not any(value.like_paper for value in view.values):
        view.values[0].like_paper = True
    if paper:
        # As many decimals as ours has, if ours is a text.
        ours = next(value for value in view.values if value.like_paper)
        shown = decimals_of(ours.text) if ours.number is not None else None
        decimals = decimals if shown is None else shown
        view.paper = value_of(like, paper, decimals)
        view.paper_metric = metric_name(document, like)
        agrees = "missing" if view.missing else cell.get("agrees") or NOT_KNOWN
        view.mark, view.mark_class = MARKS.get(agrees, ""), CLASSES.get(agrees, "na")
    if (difference := cell.get("difference")) is not None:
        view.difference = Value(like, number_text(difference, decimals, sign=True), "", difference)
    return view


def value_of(metric: str, content: dict[str, Any] | None, decimals: int) -> Value:
    if not content or (content.get("mean") is None and not content.get("text")):
        return Value(metric, "")
    mean, std = content.get("mean"), content.get("std")
    text = content.get("text") or number_text(mean, decimals)
    spread = number_text(std, decimals) if std is not None else ""
    return Value(metric, text, spread, mean, bool(content.get("best")))


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


def _texts(document: Document, column: str) -> list[str | None]:
    """The texts of a column's cells; None for a cell that has only a number."""
    found = (cell_at(document, row["key"], column).get("values") or {} for row in document["rows"])
    return [value.get("text") for values in found for value in values.values()]


def _is_textual(document: Document, column: str) -> bool:
    """Words, which are read from the left; numbers with a unit are not."""
    texts = _texts(document, column)
    return bool(texts) and all(t is not None and not re.match(r"[−+-]?[\d.]", t) for t in texts)


def _decimals_of_column(document: Document, column: str) -> int:
    """Of a column of counts, which come as text: as they are; else what the document says."""
    found = {None if text is None else decimals_of(text) for text in _texts(document, column)}
    (decimals,) = found if len(found) == 1 else (None,)
    return document.get("decimals", 3) if decimals is None else decimals


def metric_name(document: Document, metric: str) -> str:
    if labels := document.get("metric_labels"):
        return labels.get(metric, "")
    if metric in ("", "value"):
        return ""
    return METRIC_LABELS.get(metric, metric.replace("_", " ").capitalize())


def footnote(footnotes: dict[str, str], text: str) -> str:
    """The letter of a footnote; equal texts share one."""
    return footnotes.setdefault(text, letters(len(footnotes)))
