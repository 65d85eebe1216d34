"""A table document as texts: what the page, Markdown, HTML and LaTeX show alike.

It reads a document as JSON has it (results/tables/<id>.json): `rows` and `columns` with a `key`
each, and `cells[row key][column key]` with our values per metric, the paper's value, and the reason
if ours is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from iunet.labels import METRIC_LABELS, letters
from iunet.tables.document import NO, NOT_KNOWN, YES

Document = dict[str, Any]
MISSING = "missing"
NUMBER = re.compile(r"[−+-]?[\d,]+(\.(?P<decimals>\d+))?")


@dataclass
class Text:
    """A value as text."""

    text: str = ""
    spread: str = ""
    number: float | None = None  # to sort by
    best: bool = False

    def __str__(self) -> str:
        return f"{self.text} ± {self.spread}" if self.spread else self.text


@dataclass
class CellView:
    values: dict[str, Text]  # by metric
    missing: str | None
    marks: list[str]  # footnotes
    like: str  # the metric in which ours is compared with the paper's value
    paper: Text | None = None
    difference: Text | None = None
    agrees: str = ""  # empty if the paper has no value


@dataclass
class RowView:
    labels: list[str]
    marks: list[str]
    cells: list[CellView]


@dataclass
class View:
    """Everything that a table shows."""

    document: Document
    columns: list[dict[str, Any]]
    rows: list[RowView]
    footnotes: dict[str, str]  # mark by text
    metric_labels: dict[str, str]

    @property
    def compared(self) -> bool:
        """Whether the paper has any of the values."""
        return any(column["compared"] for column in self.columns)


def table_view(document: Document) -> View:
    footnotes: dict[str, str] = {}
    compared = {column["key"] for _, column, cell in cells(document) if cell["paper"]}
    columns = [
        column
        | {
            "compared": column["key"] in compared,
            "metric_label": metric_name(document, column["paper_metric"] or ""),
            **_form_of_column(document, column["key"]),
        }
        for column in document["columns"]
    ]
    rows = []
    for row in document["rows"]:
        of_row = document["cells"][row["key"]]
        shown = [_cell(document, column, of_row[column["key"]], footnotes) for column in columns]
        rows.append(RowView(row["labels"], _marks(row["notes"], footnotes), shown))
    labels = {metric: metric_name(document, metric) for metric in document["metrics"]}
    return View(document, columns, rows, footnotes, labels)


def _cell(document: Document, column: dict, cell: dict, footnotes: dict) -> CellView:
    decimals, metrics, paper = column["decimals"], document["metrics"], cell["paper"]
    like = paper["metric"] if paper else column["paper_metric"] or document["default_metric"]
    view = CellView(
        {metric: _text(cell["values"].get(metric), decimals) for metric in metrics},
        missing_reason(cell),
        _marks(cell["notes"], footnotes),
        like if like in metrics else metrics[0],
    )
    ours = view.values[view.like]
    if paper:
        # As many decimals as ours has, if ours is a text.
        own = decimals_of(ours.text) if ours.number is not None else None
        decimals = decimals if own is None else own
        view.paper = _text(paper, decimals)
        view.agrees = MISSING if view.missing else cell["agrees"] or NOT_KNOWN
    if (difference := cell["difference"]) is not None:
        view.difference = Text(number_text(difference, decimals, sign=True), number=difference)
    return view


def _text(value: dict[str, Any] | None, decimals: int) -> Text:
    if not value or (value.get("mean") is None and not value.get("text")):
        return Text()
    mean, std = value.get("mean"), value.get("std")
    text = value.get("text") or number_text(mean, decimals)
    spread = number_text(std, decimals) if std is not None else ""
    return Text(text, spread, mean, bool(value.get("best")))


def _marks(notes: list[str], footnotes: dict[str, str]) -> list[str]:
    """The letters of footnotes; equal texts share one."""
    return [footnotes.setdefault(note, letters(len(footnotes))) for note in notes]


def number_text(number: float, decimals: int, sign: bool = False) -> str:
    """With a real minus sign; whole numbers without decimals, in groups of three from 10,000."""
    if isinstance(number, int):
        decimals = 0
    group = "," if decimals == 0 and abs(number) >= 10_000 else ""
    text = f"{number:{'+' if sign else ''}{group}.{decimals}f}"
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


def _form_of_column(document: Document, column: str) -> dict[str, Any]:
    """Whether a column has words, which are read from the left, and the decimals of its numbers.

    Counts come as text, and have the decimals that are written there.
    """
    found = (document["cells"][row["key"]][column]["values"] for row in document["rows"])
    texts = [value.get("text") for values in found for value in values.values()]
    words = [text is not None and not re.match(r"[−+-]?[\d.]", text) for text in texts]
    decimals = {None if text is None else decimals_of(text) for text in texts}
    (own,) = decimals if len(decimals) == 1 else (None,)
    return {
        "textual": bool(texts) and all(words),
        "decimals": document["decimals"] if own is None else own,
    }


# ---- agreement with the paper, and what is missing


def cells(document: Document) -> Iterator[tuple[dict, dict, dict]]:
    """Every row, column and cell, in the order of reading."""
    for row in document["rows"]:
        for column in document["columns"]:
            yield row, column, document["cells"][row["key"]][column["key"]]


def _compared(document: Document) -> Iterator[dict]:
    """The cells with a paper value, each value once."""
    return (c for _, column, c in cells(document) if c["paper"] and not column["repeats"])


def agreement(document: Document) -> Counter:
    """Cells with a paper value, by agreement; 'missing' where we have none to compare."""
    return Counter(
        MISSING if missing_reason(cell) else cell["agrees"] or NOT_KNOWN
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
    """For each reason the places without a value: a row's name, or row and columns."""
    places: dict[str, list[str]] = {}
    for row in document["rows"]:
        found: dict[str, list[str]] = {}
        for column in document["columns"]:
            if reason := missing_reason(document["cells"][row["key"]][column["key"]]):
                found.setdefault(reason, []).append(column["label"])
        name = " ".join(filter(None, row["labels"]))
        for reason, columns in found.items():
            whole = len(columns) == len(document["columns"])
            place = name if whole else f"{name} ({', '.join(columns)})"
            places.setdefault(reason, []).append(place)
    return places
