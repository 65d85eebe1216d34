"""The reports of a study in one file, so that it goes on elsewhere without computing twice.

Reports alone: weights and data are left out, and are made again where something new needs them. In
a folder with a run's reports Snakemake takes the run for finished (docs/reruns.md).
"""

from __future__ import annotations

import io
import lzma
import os
import tarfile
import time
from pathlib import Path

from iunet.artifacts import atomic_path
from iunet.errors import UserError, one_line

FOLDERS = ("runs", "splits", "data", "benchmarks")
ENDINGS = {".json", ".csv", ".tsv"}


def pack(results: Path, archive: Path) -> int:
    """Write all reports below `results`, equal ones as equal bytes; their number."""
    files = sorted(
        path
        for folder in FOLDERS
        for path in (results / folder).rglob("*")
        if path.suffix in ENDINGS and path.is_file() and not path.name.startswith(".")
    )
    with (
        atomic_path(archive) as temporary,
        lzma.open(temporary, "wb", preset=9) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in files:
            content = path.read_bytes()
            entry = tarfile.TarInfo(str(path.relative_to(results)))
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return len(files)


def unpack(archive: Path, results: Path) -> int:
    """Put the reports where they were, except those that are there already; their number."""
    try:
        with tarfile.open(archive, "r:xz") as tar:
            new = [entry for entry in tar.getmembers() if not (results / entry.name).exists()]
            tar.extractall(results, members=new, filter="data")
        # One time for all, later than the clone's scripts: else Snakemake would make them again.
        now = time.time()
        for entry in new:
            os.utime(results / entry.name, (now, now))
    except (OSError, tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise UserError(f"{archive} cannot be unpacked ({one_line(error)}).") from error
    return len(new)
