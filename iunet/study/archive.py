"""The reports of a study in one file, from which tables and rows are made elsewhere.

Reports and histograms alone: weights and data are left out. Snakemake would take such runs for
finished only as long as nothing new needs their data, so a study asks for what has no report yet,
and for that alone (`python -m iunet.study run`).
"""

from __future__ import annotations

import contextlib
import lzma
import os
import shutil
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

from iunet.artifacts import atomic_path
from iunet.errors import UserError, one_line

FOLDERS = ("runs", "splits", "data", "benchmarks")
ENDINGS = {".json", ".csv", ".tsv"}
SMALL = {"histograms.safetensors"}  # what figure 3 is drawn of
EVALUATION = "evaluation.json"  # of any network, in its folder


def pack(results: Path, archive: Path) -> None:
    """Write all reports below `results`, equal ones as equal bytes."""
    files = sorted(p for p in _files(results) if p.suffix in ENDINGS or p.name in SMALL)
    with atomic_path(archive) as temporary, tarfile.open(temporary, "w:xz", preset=9) as tar:
        for path in files:
            entry = tarfile.TarInfo(str(path.relative_to(results)))
            entry.size = path.stat().st_size
            with path.open("rb") as stream:
                tar.addfile(entry, stream)


def _files(results: Path) -> Iterator[Path]:
    """Those of runs and data; not the hidden ones, which are being written."""
    for folder in FOLDERS:
        for path in (results / folder).rglob("*"):
            hidden = any(part.startswith(".") for part in path.relative_to(results).parts)
            if path.is_file() and not hidden:
                yield path


def read_archive(archive: Path) -> dict[Path, bytes]:
    """The content of every file, by its path below the results."""
    try:
        with tarfile.open(archive, "r:xz") as tar:
            entries = [tarfile.data_filter(entry, ".") for entry in tar if entry.isfile()]
            return {Path(entry.name): tar.extractfile(entry).read() for entry in entries}
    except (OSError, tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise UserError(f"{archive} cannot be unpacked ({one_line(error)}).") from error


def unpack(archive: Path, results: Path) -> int:
    """Put the reports where they were, except those that are there already; their number."""
    new = {p: text for p, text in read_archive(archive).items() if not (results / p).exists()}
    return _write(new, results)


def _write(reports: dict[Path, bytes], results: Path) -> int:
    """Write reports below the results, as new files: links to the old ones keep them."""
    now = time.time()  # none is later than another: else Snakemake would make some again
    temporary = results / ".unpacked"
    for path, content in reports.items():
        (results / path).parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        os.utime(temporary, (now, now))
        temporary.replace(results / path)
    return len(reports)


def published_view(archive: Path, results: Path) -> tuple[Path, int]:
    """A folder beside the results with what is to be published; how many reports were restored.

    The results, as links, so that they stay as they are and a study may run meanwhile; and what was
    published and is not among them.
    """
    view = results.with_name(f"{results.name}-published")
    shutil.rmtree(view, ignore_errors=True)
    for path in _files(results):
        place = view / path.relative_to(results)
        place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
            place.hardlink_to(path)
    if not archive.exists():
        return view, 0
    unpack(archive, view)
    return view, restore_published(archive, view)


def restore_published(archive: Path, results: Path) -> int:
    """Restore published reports that were made again behind a published result; their number.

    A new control needs the weights of a supernet of which only the report is published, so the
    supernet is trained again. Another processor rounds otherwise and gives another network: then
    its report, and that of its mask, would stand beside scores that are not theirs. They are
    restored wherever the evaluation is still the published one.
    """
    reports = {p: content for p, content in read_archive(archive).items() if p.parts[0] == "runs"}
    there = {path: (results / path).read_bytes() for path in reports if (results / path).exists()}
    kept = [p for p in there if p.name == EVALUATION and there[p] == reports[p]]
    behind = {folder for p in kept for folder in (p.parent, p.parent.parent)}  # mask and supernet
    changed = [p for p in there if p.parent in behind and there[p] != reports[p]]
    return _write({p: reports[p] for p in changed}, results)
