"""Checks of the raw text of a CSV: what pandas would silently put right is refused by its line.

Of two columns with one name pandas calls the second `label.1`, and a label becomes a feature; to a
short row it adds missing values; at a NUL byte it cuts a value off.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from iunet.errors import UserError

NAMES = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "vertical bars"}
OF_ARROW = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}  # compression that pyarrow reads


def check_csv_text(dataset: str, path: Path, separator: str) -> None:
    """Refuse a file of which pandas would make other rows and columns."""
    where = f"Data set '{dataset}': {path}"
    rows = _rows(where, path, separator)
    _, header = next(rows, (0, []))
    if not header:
        raise UserError(f"{where} is empty.")
    _check_header(where, header, separator)
    for line, row in rows:
        if len(row) != len(header):
            which = "more" if len(row) > len(header) else "fewer"
            raise UserError(
                f"{where}, line {line}: the row has {len(row)} fields, {which} fields than its "
                f"header, which has {len(header)}. Repair the row; leave a field empty if its "
                "value is missing."
            )


def _rows(where: str, path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with their line numbers, without blank lines, which pandas skips too."""
    with _opened(path) as text:
        reader = csv.reader(text, delimiter=separator)
        for row in reader:
            if any("\0" in value for value in row):
                raise UserError(
                    f"{where}, line {reader.line_num} holds a NUL byte: the file is damaged, or "
                    "its text is not UTF-8."
                )
            if len(row) > 1 or "".join(row).strip():
                yield reader.line_num, row


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """The text of a file, uncompressed as the ending of its name says."""
    import pyarrow

    suffix = path.suffix.lower()
    with contextlib.ExitStack() as stack:
        if suffix == ".xz":
            from lzma import LZMAFile

            content = stack.enter_context(LZMAFile(path))
        elif suffix == ".zip":
            from zipfile import ZipFile

            archive = stack.enter_context(ZipFile(path))
            if len(archive.namelist()) != 1:
                raise ValueError(f"the archive has to hold 1 file, not {len(archive.namelist())}")
            content = archive.open(archive.namelist()[0])
        else:
            content = pyarrow.input_stream(path, compression=OF_ARROW.get(suffix))
        yield stack.enter_context(io.TextIOWrapper(content, "utf-8-sig", newline=""))


def _check_header(where: str, header: list[str], separator: str) -> None:
    if len(header) == 1:
        found = [name for s, name in NAMES.items() if s != separator and s in header[0]]
        hint = f" It seems to be separated by {found[0]}." if found else ""
        raise UserError(
            f"{where} has a single column, '{header[0]}', since its fields are to be separated by "
            f"{NAMES[separator]}.{hint}"
        )
    places: dict[str, int] = {}
    for place, name in enumerate(map(str.strip, header), start=1):
        if name and places.setdefault(name, place) != place:
            raise UserError(
                f"{where} has two columns named '{name}': the columns {places[name]} and {place} "
                "of its header. Rename or remove one of them."
            )
