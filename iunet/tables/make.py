"""The table stage: a table from what it asks for, in all its forms."""

from __future__ import annotations

from typing import Any

from iunet.artifacts import read_json, signed_code
from iunet.provenance import older_modules
from iunet.runs.versions import current_versions
from iunet.tables.ask import Ask
from iunet.tables.catalog import table_module
from iunet.tables.data_statistics import subset_text
from iunet.tables.document import TableDocument
from iunet.tables.empty import empty_table
from iunet.tables.render.forms import write_table
from iunet.tables.scores import About

SUBSET = "subset"
OLDER = "Made in part by older versions of"


def make_table(
    name: str, ask: Ask, about: dict[str, Any], splits: list[str], output: dict[str, str]
) -> None:
    """The table in all its forms; if older code made a part of it, it says so."""
    document = build_document(name, ask, about, splits)
    code = signed_code()
    if older := older_modules(code, current_versions(code)):
        document.notes.append(f"{OLDER} {', '.join(older)}.")
    write_table(document, output)


def build_document(name: str, ask: Ask, about: dict[str, Any], splits: list[str]) -> TableDocument:
    """`about` says what the table tells of its run beside the numbers; `splits` are reports."""
    said = About(**about, row_notes=subset_notes(splits))
    module = table_module(name)
    why = ask.more.get("empty")
    document = empty_table(name, module.TITLE, why) if why else module.build(ask, said)
    for row in document.rows:
        if any(note.startswith(SUBSET) for note in row.notes):
            leave_unjudged(document, row.key)
    return document


def leave_unjudged(document: TableDocument, row: str) -> None:
    """Scores on a part of a data set neither agree with the paper's nor contradict them."""
    for cell in document.cells[row].values():
        cell.agrees = cell.agrees and "n/a"


def subset_notes(splits: list[str]) -> dict[str, list[str]]:
    """Which data sets are only a part of the official ones: their scores compare with nothing."""
    notes = {}
    for split in map(read_json, splits):
        if subset := subset_text(split["provenance"].get("subset")):
            notes[split["dataset"]] = [f"{SUBSET}: {subset}"]
    return notes
