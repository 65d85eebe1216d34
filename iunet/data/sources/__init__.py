"""Where data come from: one module per source, each with one function.

    fetch(dataset: Dataset, settings: SourceSettings, scratch: Path) -> RawTable | RawImages

`scratch` is an empty folder that is removed afterwards, so an interrupted or damaged transfer
never serves a later run. A module is imported only when its source is used.
"""

from __future__ import annotations

import importlib
import logging
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from iunet.artifacts import explain_full_disk, is_full_disk
from iunet.data.registry import SOURCES, Dataset
from iunet.errors import UserError, one_line
from iunet.machine.time_limit import on_alarm

if TYPE_CHECKING:
    from iunet.data.images import RawImages
    from iunet.data.table import RawTable

SCRATCH = ".download-"
log = logging.getLogger(__name__)
Result = TypeVar("Result")


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


# ---- an unreliable network


class Overdue(Exception):
    """An attempt took too long. Not a TimeoutError, which the clients would catch."""


def with_retries(
    attempt: Callable[[int], Result],
    what: str,
    settings: SourceSettings,
    transient: tuple[type[BaseException], ...],
) -> Result:
    """Call `attempt(number)` until it succeeds; `what` names the data set and the place.

    Only errors in `transient` are tried again, after 1, 2, 4, … times `pause_s`; and an attempt
    that takes too long, since the clients used here have no time-outs.
    """

    def overdue() -> NoReturn:
        raise Overdue(f"no answer within {settings.timeout_s:g} s (data.timeout_s).")

    for number in range(1, settings.attempts + 1):
        try:
            with on_alarm(settings.timeout_s, overdue):
                return attempt(number)
        except (Overdue, *transient) as error:
            if is_full_disk(error):
                raise
            cause = one_line(error)
            if number == settings.attempts:
                raise UserError(
                    f"{what} could not be downloaded in {number} attempts. The last failed with "
                    f"{type(error).__name__}: {cause} Check the network and run the same command "
                    "again, or set data.mirror to a local copy."
                ) from error
            pause = settings.pause_s * 2 ** (number - 1)
            log.warning(
                "%s: attempt %d failed (%s); trying again in %g s", what, number, cause, pause
            )
            time.sleep(pause)
    raise AssertionError("data.attempts is at least 1")
