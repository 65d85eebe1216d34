"""The table stage: a table from the results of runs, in all its forms."""

from __future__ import annotations

from dataclasses import replace

from iunet.artifacts import signed_code
from iunet.provenance import older_modules
from iunet.results.collect import collect
from iunet.runs.entries import Benchmark
from iunet.runs.versions import current_versions
from iunet.tables.catalog import (
    table_entry,
    table_request,
    table_settings,
    why_table_empty,
)
from iunet.tables.document import TableDocument
from iunet.tables.notes import failure_notes, note_subsets, stand_in_text, tuning_notes
from iunet.tables.render.forms import write_table

OLDER = "Made in part by older versions of"


def make_table(bench: Benchmark, name: str, output: dict[str, str]) -> None:
    """Write the table in all its forms; a note names older code that made a part of it."""
    document = build_table(bench, name)
    code = signed_code()
    if older := older_modules(code, current_versions(code)):
        document.notes.append(f"{OLDER} {', '.join(older)}.")
    write_table(document, output)


def build_table(bench: Benchmark, name: str) -> TableDocument:
    """The table document, from the reports of runs."""
    entry = table_entry(name)
    if why := why_table_empty(bench, name):
        document = TableDocument(why, ["Dataset"], rows=[], columns=[], cells={})
    else:
        request = table_request(bench, name)
        results = replace(collect(bench, request), settings=table_settings(bench, name))
        document = entry.build(results)
        document.caption += stand_in_text(bench, request.cells)
        notes = tuning_notes(bench, request.cells) + failure_notes(results.runs)
        document.notes = [*document.notes, *notes]
        note_subsets(document, results.subsets)
    document.id, document.title = name, entry.title
    return document
