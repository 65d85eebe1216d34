"""A table as CSV, Markdown and HTML, and the writing of all its forms."""

from __future__ import annotations

import html
from typing import Any

from iunet.artifacts import write_text
from iunet.escape import csv_text, markdown_text
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


def write_table(document: TableDocument, output: dict[str, str]) -> None:
    """Write a document in every form that `output` has a path for; JSON last, for what it says."""
    view = view_of(document)
    writers = {
        "csv": lambda: document.own_csv or csv_text(tidy_rows(document), ["row", "missing"]),
        "markdown": lambda: markdown(view),
        "html": lambda: html_page(view),
        "latex": lambda: latex(view),
    }
    for form, path in output.items():
        if form != "json":
            write_text(path, writers[form]())
    if "json" in output:
        write_document(output["json"], document)


def write_csv(path: str, rows: list[dict[str, Any]], fields: list[str] | None = None) -> None:
    write_text(path, csv_text(rows, fields))


# ---- CSV


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


# ---- Markdown


def markdown(view: View) -> str:
    lines = [f"# {markdown_text(view.title)}", "", markdown_text(view.caption), ""]
    for block in view.all_blocks():
        rows = [[_markdown_cell(cell) for cell in row] for row in block.rows]
        lines += [f"## {markdown_text(block.title)}", ""] if block.title else []
        lines += [*_markdown_lines(block.header, rows, block.n_labels), ""]
    return "\n".join([*lines, "\n\n".join(map(markdown_text, view.notes)), ""])


def _markdown_cell(cell: Text) -> str:
    text = markdown_text(cell.text)
    return (f"**{text}**" if cell.best else text) + "".join(f" [{mark}]" for mark in cell.marks)


def _markdown_lines(header: list[str], rows: list[list[str]], n_labels: int) -> list[str]:
    cells = [[markdown_text(name) for name in header], *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]

    def align(row: list[str]) -> list[str]:
        pairs = enumerate(zip(row, widths, strict=True))
        return [cell.ljust(w) if i < n_labels else cell.rjust(w) for i, (cell, w) in pairs]

    rules = ["-" * w if i < n_labels else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    return [f"| {' | '.join(row)} |" for row in [align(cells[0]), rules, *map(align, cells[1:])]]


# ---- HTML


def html_page(view: View) -> str:
    parts = [f"<p>{html.escape(view.caption)}</p>"]
    for block in view.all_blocks():
        parts += [f"<h2>{html.escape(block.title)}</h2>"] if block.title else []
        parts.append(html_table(block))
    parts += [f"<p>{html.escape(note)}</p>" for note in view.notes]
    return _page(view.title, "\n".join(parts))


def html_table(block: Block) -> str:
    def kind(i: int) -> str:
        return ' class="label"' if 0 < i < block.n_labels else ""

    head = "".join(f"<th{kind(i)}>{html.escape(cell)}</th>" for i, cell in enumerate(block.header))
    body = "\n".join(
        "<tr>"
        + "".join(f"<td{kind(i)}>{_html_cell(cell)}</td>" for i, cell in enumerate(row))
        + "</tr>"
        for row in block.rows
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
