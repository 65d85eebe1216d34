"""A table document as text cells: what Markdown, HTML and LaTeX have in common."""

from __future__ import annotations

from dataclasses import dataclass, field

from iunet.labels import letters
from iunet.tables.document import VALUE, Cell, PaperValue, TableDocument, Value

NOTHING = "–"
PAPER_HEADER = ["Compared as", "Paper", "Ours", "Difference", "Agrees"]


@dataclass
class Text:
    """A cell for readers; marks name the footnotes that belong to it."""

    text: str
    best: bool = False
    marks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return self.text + "".join(f" [{mark}]" for mark in self.marks)


@dataclass
class Block:
    """A table of texts; the first `n_labels` cells of a row name it."""

    title: str
    header: list[str]
    rows: list[list[Text]]
    n_labels: int


class Footnotes:
    """Letters for notes, each note once, in order of appearance."""

    def __init__(self) -> None:
        self.marks: dict[str, str] = {}

    def mark(self, note: str) -> str:
        return self.marks.setdefault(note, letters(len(self.marks)))

    def texts(self) -> list[str]:
        return [f"[{mark}] {note}" for note, mark in self.marks.items()]


@dataclass
class View:
    """All that a rendered table shows."""

    title: str
    caption: str
    blocks: list[Block]
    side_by_side: Block | None
    notes: list[str]

    def all_blocks(self) -> list[Block]:
        return [*self.blocks, *([self.side_by_side] if self.side_by_side else [])]


def view_of(document: TableDocument) -> View:
    """Values of every metric, the default one first, then the side by side with the paper."""
    footnotes = Footnotes()
    order = [document.default_metric]
    order += [metric for metric in document.metrics if metric != document.default_metric]
    blocks = [_values(document, metric, footnotes) for metric in order]
    side_by_side = _side_by_side(document, footnotes)
    notes = [*footnotes.texts(), *document.notes]
    return View(document.title, document.caption, blocks, side_by_side, notes)


def metric_label(document: TableDocument, metric: str) -> str:
    return document.metric_labels.get(metric, metric.replace("_", " "))


def _values(document: TableDocument, metric: str, footnotes: Footnotes) -> Block:
    rows = []
    for row in document.rows:
        texts = [Text(label) for label in row.labels]
        if texts:
            texts[-1].marks = [footnotes.mark(note) for note in row.notes]
        cells = [document.cell(row.key, column.key) for column in document.columns]
        rows.append(texts + [_cell_text(cell, metric, document, footnotes) for cell in cells])
    header = [*document.row_header, *(column.label for column in document.columns)]
    title = "" if metric == VALUE else metric_label(document, metric)
    return Block(title, header, rows, len(document.row_header))


def _cell_text(cell: Cell, metric: str, document: TableDocument, footnotes: Footnotes) -> Text:
    value = cell.values.get(metric)
    notes = ([cell.missing] if cell.missing else []) + cell.notes
    marks = [footnotes.mark(note) for note in notes]
    if value is None:
        return Text(NOTHING, marks=marks)
    return Text(spread_text(value, document.decimals), value.best, marks)


def spread_text(value: Value | PaperValue, decimals: int) -> str:
    text = getattr(value, "text", None)
    if text is not None or value.mean is None:
        return text or ""
    spread = "" if value.std is None else f" ± {value.std:.{decimals}f}"
    return f"{value.mean:.{decimals}f}{spread}"


def _side_by_side(document: TableDocument, footnotes: Footnotes) -> Block | None:
    """A line for every cell that the paper has too; none if it has none of them."""
    rows = []
    for row in document.rows:
        for column in document.columns:
            cell = document.cell(row.key, column.key)
            if cell.paper is not None:
                line = [*row.labels, column.label, *_comparison(cell, document)]
                rows.append([Text(text) for text in line])
                if cell.missing:
                    rows[-1][-3].marks = [footnotes.mark(cell.missing)]
    if not rows:
        return None
    header = [*document.row_header, "Column", *PAPER_HEADER]
    return Block("Side by side with the paper", header, rows, len(document.row_header) + 1)


def _comparison(cell: Cell, document: TableDocument) -> list[str]:
    ours = cell.values.get(cell.paper.metric)
    difference = NOTHING if cell.difference is None else f"{cell.difference:+.{document.decimals}f}"
    return [
        metric_label(document, cell.paper.metric),
        spread_text(cell.paper, document.decimals),
        spread_text(ours, document.decimals) if ours else NOTHING,
        difference,
        cell.agrees or NOTHING,
    ]
