"""SIGTERM, by which schedulers announce a kill."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

from iunet.errors import UserError


class Stop:
    """Lets the epoch finish and be saved first.

    If that takes longer than the scheduler waits, the last regular checkpoint stands. A training
    that saves nothing (`can_save`) ends at once, as processes do.
    """

    def __init__(self, can_save: bool):
        self.can_save = can_save
        self.asked = False
        self.before = None

    def __enter__(self) -> Stop:
        if self.can_save and threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGTERM, self._ask)
        return self

    def __exit__(self, *_) -> None:
        if self.before is not None:
            signal.signal(signal.SIGTERM, self.before)

    def _ask(self, *_) -> None:
        self.asked = True

    def obey(self, run: str, epoch: int) -> None:
        if self.asked:
            raise UserError(
                f"Run {run} was asked to stop (SIGTERM). It is saved after epoch {epoch} and "
                "continues from there when it is started again."
            )


class Terminated(BaseException):
    """SIGTERM where nothing has to be finished first; `except Exception` does not catch it."""


@contextlib.contextmanager
def raising_at_sigterm() -> Iterator[None]:
    """Inside, SIGTERM is an exception, so that the process can tidy up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(*_) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
