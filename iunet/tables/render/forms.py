"""A table document as CSV, Markdown, HTML and LaTeX."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from iunet.artifacts import write_json, write_text
from iunet.escape import csv_text, latex_text, markdown_text
from iunet.tables.document import TableDocument
from iunet.tables.render.view import Document, View, cells, missing_by_reason, table_view

if TYPE_CHECKING:
    import pandas as pd

NOTHING = "–"
LONG = 45  # rows beyond which a LaTeX table takes several pages
HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem;
       color: #1b1b1b; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .75rem; text-align: right; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; }}
thead th {{ border-bottom: 2px solid #1b1b1b; }}
tbody tr:nth-child(even) {{ background: #f4f4f4; }}
</style>
</head>
<body>
<h1>{title}</h1>
{content}
</body>
</html>
"""


def write_table(document: TableDocument, output: dict[str, str]) -> None:
    """Write a document in every form that `output` has a path for; JSON last, for what it says."""
    content = document.to_json()
    view = table_view(content)
    writers = {
        "csv": lambda: document.own_csv or csv_text(tidy_rows(content), ["row", "missing"]),
        "markdown": lambda: markdown(view),
        "html": lambda: html_page(view),
        "latex": lambda: latex(view),
    }
    for form, path in output.items():
        if form != "json":
            write_text(path, writers[form]())
    if "json" in output:
        write_json(output["json"], content)


def tidy_rows(document: Document) -> list[dict[str, Any]]:
    """A line per row, column and metric, in full precision; the paper's value with its metric."""
    return [
        _tidy_row(document, row, column["key"], cell, metric)
        for row, column, cell in cells(document)
        for metric in document["metrics"]
    ]


def _tidy_row(document: Document, row: dict, column: str, cell: dict, metric: str) -> dict:
    value = cell["values"].get(metric, {})
    paper = cell["paper"] if cell["paper"] and cell["paper"]["metric"] == metric else None
    is_number = value.get("mean") is not None
    return {
        "row": row["key"],
        **dict(zip(map(str.lower, document["row_header"]), row["labels"], strict=True)),
        "column": column,
        "metric": metric,
        "mean": value.get("mean"),
        "std": value.get("std"),
        "n": value.get("n"),
        "text": None if is_number else value.get("text"),
        "best": value["best"] if is_number else None,
        "paper": paper and paper["mean"],
        "paper_std": paper and paper["std"],
        "difference": paper and cell["difference"],
        "agrees": paper and cell["agrees"],
        "missing": cell["missing"],
        "notes": "; ".join([*row["notes"], *cell["notes"]]) or None,
    }


# ---- forms for readers, which pandas writes

Show = Callable[..., str]  # of a text, whether it is the best, and its footnotes


def frames(view: View, show: Show) -> Iterator[tuple[str, pd.DataFrame, int]]:
    """Values of every metric, the default one first, then the side by side with the paper.

    Each is a title, a frame of texts as `show` marks and escapes them, and how many of its columns
    name a row.
    """
    import pandas as pd

    document = view.document
    labels, columns = document["row_header"], [column["label"] for column in view.columns]
    for metric in dict.fromkeys([document["default_metric"], *document["metrics"]]):
        rows = []
        for row in view.rows:
            *first, last = row.labels
            values = [(cell.values[metric], cell.marks) for cell in row.cells]
            texts = [show(str(value) or NOTHING, value.best, marks) for value, marks in values]
            rows.append([*map(show, first), show(last, marks=row.marks), *texts])
        frame = pd.DataFrame(rows, columns=[*map(show, [*labels, *columns])])
        yield view.metric_labels[metric], frame, len(labels)
    if view.compared:
        header = [*labels, "Column", "Compared as", "Paper", "Ours", "Difference", "Agrees"]
        rows = [[*map(show, line)] for line in _side_by_side(view, columns)]
        frame = pd.DataFrame(rows, columns=[*map(show, header)])
        yield "Side by side with the paper", frame, len(labels) + 1


def _alignment(frame: pd.DataFrame, n_labels: int, left: str, right: str) -> list[str]:
    return [left] * n_labels + [right] * (len(frame.columns) - n_labels)


def _side_by_side(view: View, columns: list[str]) -> Iterable[list[str]]:
    """A line for every cell that the paper has too."""
    for row in view.rows:
        for column, cell in zip(columns, row.cells, strict=True):
            if cell.paper:
                texts = (cell.paper, cell.values[cell.like], cell.difference or "", cell.agrees)
                shown = [str(text) or NOTHING for text in texts]
                yield [*row.labels, column, view.metric_labels[cell.like], *shown]


def notes(view: View) -> list[str]:
    """The text below a table: footnotes, its own notes, and what is missing."""
    footnotes = [f"[{mark}] {text}" for text, mark in view.footnotes.items()]
    gone = missing_by_reason(view.document)
    missing = [f"Missing ({reason}): {'; '.join(places)}." for reason, places in gone.items()]
    return [*footnotes, *view.document["notes"], *missing]


def markdown(view: View) -> str:
    def show(text: str, best: bool = False, marks: Iterable[str] = ()) -> str:
        text = markdown_text(text)
        return (f"**{text}**" if best else text) + "".join(f" [{mark}]" for mark in marks)

    parts = [f"# {markdown_text(view.document['title'])}", markdown_text(view.document["caption"])]
    for title, frame, n_labels in frames(view, show):
        parts += [f"## {markdown_text(title)}"] if title else []
        alignment = _alignment(frame, n_labels, "left", "right") if len(frame) else None
        parts.append(frame.to_markdown(index=False, colalign=alignment, disable_numparse=True))
    return "\n\n".join([*parts, *map(markdown_text, notes(view)), ""])


def html_page(view: View) -> str:
    import pandas as pd

    def show(text: str, best: bool = False, marks: Iterable[str] = ()) -> str:
        text = f"<b>{html.escape(text)}</b>" if best else html.escape(text)
        return text + (f"<sup>{','.join(marks)}</sup>" if marks else "")

    parts = [f"<p>{html.escape(view.document['caption'])}</p>"]
    for title, frame, _ in frames(view, show):
        parts += [f"<h2>{html.escape(title)}</h2>"] if title else []
        with pd.option_context("display.max_colwidth", None):  # it cuts longer texts off
            table = frame.to_html(index=False, escape=False, border=0)
        parts.append(f'<div class="scroll">{table}</div>')
    parts += [f"<p>{html.escape(note)}</p>" for note in notes(view)]
    return HTML.format(title=html.escape(view.document["title"]), content="\n".join(parts))


def latex(view: View) -> str:
    """Tables to be \\input into a paper; one per metric, then the comparison."""

    def show(text: str, best: bool = False, marks: Iterable[str] = ()) -> str:
        text = rf"\textbf{{{latex_text(text)}}}" if best else latex_text(text)
        return text + (rf"$^{{\mathrm{{{','.join(marks)}}}}}$" if marks else "")

    parts = ["% Needs \\usepackage{booktabs,longtable} and UTF-8 input."]
    for name, frame, n_labels in frames(view, show):
        title = ". ".join(filter(None, [view.document["title"], name]))
        table = frame.to_latex(
            index=False,
            escape=False,
            caption=f"{latex_text(title)}. {latex_text(view.document['caption'])}",
            column_format="".join(_alignment(frame, n_labels, "l", "r")),
            longtable=len(frame) > LONG,
        )
        parts.append(table)
    parts += [rf"\noindent {latex_text(note)}\par" for note in notes(view)]
    return "\n".join([*parts, ""])
