"""Trying again over an unreliable network: with growing pauses, and never for ever."""

from __future__ import annotations

import contextlib
import logging
import signal
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from iunet.artifacts import is_full_disk
from iunet.data.sources import SourceSettings
from iunet.errors import UserError, one_line

log = logging.getLogger(__name__)
Result = TypeVar("Result")


class Overdue(Exception):
    """An attempt took too long. Not a TimeoutError: the clients would hide it in one of theirs."""


def with_retries(
    attempt: Callable[[int], Result],
    what: str,
    settings: SourceSettings,
    transient: tuple[type[BaseException], ...],
) -> Result:
    """Call `attempt(number)` until it succeeds; `what` names the data set and the place.

    Only errors in `transient` are tried again, after 1, 2, 4, … times `pause_s`.
    """
    for number in range(1, settings.attempts + 1):
        try:
            with time_limit(settings.timeout_s):
                return attempt(number)
        except (Overdue, *transient) as error:
            if is_full_disk(error):
                raise
            cause = one_line(error)
            if number == settings.attempts:
                raise UserError(
                    f"{what} could not be fetched in {number} attempts. The last one failed with "
                    f"{type(error).__name__}: {cause} Nothing was kept of it. Check the network "
                    "and run the same command again, or set data.mirror to a local copy."
                ) from error
            pause = settings.pause_s * 2 ** (number - 1)
            log.warning("%s: attempt %d failed (%s); next in %g s", what, number, cause, pause)
            time.sleep(pause)
    raise AssertionError("data.attempts is at least 1")


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `Overdue` in the block after that time: the clients used here have no time-outs.

    Uses the process's alarm, so only for the main thread of a job.
    """

    def expire(*_):
        raise Overdue(f"no answer within {seconds:g} s (data.timeout_s).")

    previous = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
