"""A table as CSV, Markdown and HTML."""

from __future__ import annotations

import csv
import html
import io
from dataclasses import dataclass, field
from typing import Any

from iunet.artifacts import write_text

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem;
       color: #1b1b1b; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
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


def write_csv(path: str, rows: list[dict[str, Any]]) -> None:
    """Rows that share their keys, in full precision."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def write_markdown(path: str, table: Rendered) -> None:
    rows = [[cell.replace("|", "\\|") for cell in row] for row in [table.header, *table.rows]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.header))]
    rules = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    aligned = [
        [
            row[0].ljust(widths[0]),
            *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)),
        ]
        for row in rows
    ]
    lines = [f"| {' | '.join(row)} |" for row in [aligned[0], rules, *aligned[1:]]]
    notes = "\n\n".join(table.notes)
    write_text(path, "\n".join([f"# {table.title}", "", *lines, "", notes, ""]))


def write_html(path: str, table: Rendered) -> None:
    """A self-contained page."""

    def cells(tag: str, row: list[str]) -> str:
        return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in table.rows)
    notes = "\n".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(table.title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{html.escape(table.title)}</h1>
<div class="scroll"><table>
<thead><tr>{cells("th", table.header)}</tr></thead>
<tbody>
{body}
</tbody>
</table></div>
{notes}
</body>
</html>
"""
    write_text(path, page)
