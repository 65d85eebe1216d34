"""Where data come from: one module per source, each with one function.

    fetch(dataset: Dataset, settings: SourceSettings, scratch: Path) -> RawTable | RawImages

`scratch` is an empty folder that is removed afterwards, so an interrupted or damaged transfer
never serves a later run. A module is imported only when its source is used.
"""

from __future__ import annotations

import importlib
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from iunet.artifacts import explain_full_disk
from iunet.data.registry import SOURCES, Dataset

if TYPE_CHECKING:
    from iunet.data.images import RawImages
    from iunet.data.table import RawTable


SCRATCH = ".download-"


@dataclass(frozen=True)
class SourceSettings:
    """The `data` section of the config, as far as sources need it."""

    mirror: str | None = None
    openml_server: str = "https://www.openml.org/api/v1/xml"
    openml_format: str = "parquet"
    attempts: int = 5
    pause_s: float = 2.0
    timeout_s: float = 1800.0


def source_settings(data: dict) -> SourceSettings:
    """The settings, from the config's `data` section."""
    names = SourceSettings.__dataclass_fields__
    return SourceSettings(**{name: data[name] for name in names})


def effective_source(dataset: Dataset, mirror: str | None) -> str:
    """The registry's source, or the mirror in place of one that needs the network."""
    return "mirror" if mirror and SOURCES[dataset.source].online else dataset.source


def fetch(
    dataset: Dataset, settings: SourceSettings, scratch_parent: str | Path
) -> RawTable | RawImages:
    """Get a data set from its source."""
    source = effective_source(dataset, settings.mirror)
    module = importlib.import_module(f"iunet.data.sources.{source}")
    Path(scratch_parent).mkdir(parents=True, exist_ok=True)
    for leftover in Path(scratch_parent).glob(f"{SCRATCH}*"):  # of a job that was killed
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=scratch_parent) as scratch:
        try:
            return module.fetch(dataset, settings, Path(scratch))
        except OSError as error:
            explain_full_disk(error, scratch)
            raise
