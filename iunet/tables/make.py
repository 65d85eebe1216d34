"""The table stage: a table from the results of runs, in all its forms."""

from __future__ import annotations

from pathlib import Path

from iunet.artifacts import signed_code
from iunet.provenance import older_modules
from iunet.results.collect import collect
from iunet.runs.entries import Benchmark
from iunet.runs.versions import current_versions
from iunet.tables.catalog import (
    table_context,
    table_module,
    table_request,
    table_title,
    why_table_empty,
)
from iunet.tables.context import SUBSET, subsets_of
from iunet.tables.document import TableDocument
from iunet.tables.render.forms import write_table

OLDER = "Made in part by older versions of"


def make_table(bench: Benchmark, name: str, output: dict[str, str]) -> None:
    """The table in all its forms; if older code made a part of it, it says so."""
    document = build_table(bench, name)
    code = signed_code()
    if older := older_modules(code, current_versions(code)):
        document.notes.append(f"{OLDER} {', '.join(older)}.")
    write_table(document, output)


def build_table(bench: Benchmark, name: str, runs_csv: str | Path | None = None) -> TableDocument:
    """The table document, from the reports of runs or from a runs.csv."""
    if why := why_table_empty(bench, name):
        document = TableDocument(why, ["Dataset"], rows=[], columns=[], cells={})
    else:
        request = table_request(bench, name)
        results = collect(bench, request, runs_csv)
        context = table_context(bench, name, request)
        context.subsets = subsets_of(results.datasets)
        document = table_module(name).build(results, context)
        document.caption += context.stand_in_text()
        document.notes = [*document.notes, *context.notes]
    document.id, document.title = name, table_title(name)
    for row in document.rows:
        if any(note.startswith(SUBSET) for note in row.notes):
            leave_unjudged(document, row.key)
    return document


def leave_unjudged(document: TableDocument, row: str) -> None:
    """Scores on a part of a data set neither agree with the paper's nor contradict them."""
    for cell in document.cells[row].values():
        cell.agrees = cell.agrees and "n/a"
