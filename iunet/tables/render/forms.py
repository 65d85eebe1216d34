"""A table as CSV, Markdown and HTML, and the writing of all its forms."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass, field
from typing import Any

from iunet.artifacts import write_text
from iunet.escape import csv_value, markdown_text
from iunet.tables.document import Cell, Column, Row, TableDocument, write_document
from iunet.tables.render.latex import latex
from iunet.tables.render.view import Block, Text, View, view_of

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem;
       color: #1b1b1b; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child, .label { text-align: left; }
thead th { border-bottom: 2px solid #1b1b1b; }
tbody tr:nth-child(even) { background: #f4f4f4; }
"""


@dataclass
class Rendered:
    """A table for readers: text in every cell."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)


def write_csv(path: str, rows: list[dict[str, Any]], fields: list[str] | None = None) -> None:
    write_text(path, csv_text(rows, fields))


def csv_text(rows: list[dict[str, Any]], fields: list[str] | None = None) -> str:
    """Rows that share their keys, in full precision; `fields` are the keys if there is no row."""
    text = io.StringIO()
    names = list(rows[0]) if rows else fields or []
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([csv_value(name) for name in names])
    writer.writerows([csv_value(row[name]) for name in names] for row in rows)
    return text.getvalue()


def simple_markdown(table: Rendered) -> str:
    notes = "\n\n".join(map(markdown_text, table.notes))
    rows = [[markdown_text(cell) for cell in row] for row in table.rows]
    lines = _markdown_lines(table.header, rows, 1)
    return "\n".join([f"# {markdown_text(table.title)}", "", *lines, "", notes, ""])


def _markdown_lines(header: list[str], rows: list[list[str]], n_labels: int) -> list[str]:
    cells = [[markdown_text(name) for name in header], *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]

    def align(row: list[str]) -> list[str]:
        pairs = enumerate(zip(row, widths, strict=True))
        return [cell.ljust(w) if i < n_labels else cell.rjust(w) for i, (cell, w) in pairs]

    rules = ["-" * w if i < n_labels else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return [f"| {' | '.join(row)} |" for row in [align(cells[0]), rules, *map(align, cells[1:])]]


def simple_html(table: Rendered) -> str:
    """A self-contained page."""
    rows = [[Text(cell) for cell in row] for row in table.rows]
    notes = "\n".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
    return _page(table.title, _html_table(table.header, rows, 1) + "\n" + notes)


def _html_table(header: list[str], rows: list[list[Text]], n_labels: int) -> str:
    def kind(i: int) -> str:
        return ' class="label"' if 0 < i < n_labels else ""

    head = "".join(f"<th{kind(i)}>{html.escape(cell)}</th>" for i, cell in enumerate(header))
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{kind(i)}>{_html_cell(cell)}</td>" for i, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f"""<div class="scroll"><table>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table></div>"""


def _html_cell(cell: Text) -> str:
    text = html.escape(cell.text)
    text = f"<b>{text}</b>" if cell.best else text
    return text + (f"<sup>{','.join(cell.marks)}</sup>" if cell.marks else "")


def _page(title: str, content: str) -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{html.escape(title)}</h1>
{content}
</body>
</html>
"""


# ---- documents


def write_table(document: TableDocument, output: dict[str, str]) -> None:
    """Write a document in every form that `output` has a path for; JSON last, for what it says."""
    view = view_of(document)
    writers = {
        "csv": lambda: csv_text(tidy_rows(document), ["row", "missing"]),
        "markdown": lambda: markdown(view),
        "html": lambda: html_page(view),
        "latex": lambda: latex(view),
    }
    for form, path in output.items():
        if form != "json":
            write_text(path, document.own_forms.get(form) or writers[form]())
    if "json" in output:
        write_document(output["json"], document)


def tidy_rows(document: TableDocument) -> list[dict[str, Any]]:
    """A line per row, column and metric, in full precision; the paper's value with its metric."""
    return [
        _tidy_row(document, row, column, document.cell(row.key, column.key), metric)
        for row in document.rows
        for column in document.columns
        for metric in document.metrics
    ]


def _tidy_row(
    document: TableDocument, row: Row, column: Column, cell: Cell, metric: str
) -> dict[str, Any]:
    value = cell.values.get(metric)
    paper = cell.paper if cell.paper and cell.paper.metric == metric else None
    labels = dict(zip(document.row_header, row.labels, strict=True))
    return {
        "row": row.key,
        **{header.lower(): label for header, label in labels.items()},
        "column": column.key,
        "metric": metric,
        "mean": value.mean if value else None,
        "std": value.std if value else None,
        "n": value.n if value else None,
        "text": value.text if value and value.mean is None else None,
        "best": value.best if value and value.mean is not None else None,
        "paper": paper.mean if paper else None,
        "paper_std": paper.std if paper else None,
        "difference": cell.difference if paper else None,
        "agrees": cell.agrees if paper else None,
        "missing": cell.missing,
        "notes": "; ".join([*row.notes, *cell.notes]) or None,
    }


def _blocks(view: View) -> list[Block]:
    return [*view.blocks, *([view.side_by_side] if view.side_by_side else [])]


def markdown(view: View) -> str:
    lines = [f"# {markdown_text(view.title)}", "", markdown_text(view.caption), ""]
    for block in _blocks(view):
        rows = [[_markdown_cell(cell) for cell in row] for row in block.rows]
        lines += [f"## {markdown_text(block.title)}", ""] if block.title else []
        lines += [*_markdown_lines(block.header, rows, block.n_labels), ""]
    return "\n".join([*lines, "\n\n".join(map(markdown_text, view.notes)), ""])


def _markdown_cell(cell: Text) -> str:
    text = markdown_text(cell.text)
    return (f"**{text}**" if cell.best else text) + "".join(f" [{mark}]" for mark in cell.marks)


def html_page(view: View) -> str:
    parts = [f"<p>{html.escape(view.caption)}</p>"]
    for block in _blocks(view):
        parts += [f"<h2>{html.escape(block.title)}</h2>"] if block.title else []
        parts.append(_html_table(block.header, block.rows, block.n_labels))
    parts += [f"<p>{html.escape(note)}</p>" for note in view.notes]
    return _page(view.title, "\n".join(parts))
