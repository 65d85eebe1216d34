"""What ends a training before its last epoch: SIGTERM, by which schedulers announce a kill, and the
time limit of its job."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator

from iunet.errors import UserError
from iunet.machine.allocation import restarts
from iunet.machine.time_limit import Alarm, TimeLimit, TimeUp, put_back, time_limit

SLOWER = 1.5  # how much longer than the longest epoch so far the next may take, with its checkpoint


class Stop:
    """Lets the epoch finish and be saved first.

    After SIGTERM the training ends with an error; if the epoch takes longer than the scheduler
    waits, the last regular checkpoint stands. Near the limit of its job the training puts the job
    back into the queue: after the last epoch that surely fits, or, if even that takes too long, in
    the middle of the epoch. A training that saves nothing (`can_save`) ends at once, as processes
    do.
    """

    def __init__(self, can_save: bool):
        self.can_save = can_save
        self.terminated = False
        self.before = None
        self.limit: TimeLimit | None = None
        self.began = self.looked = time.time()
        self.longest_s, self.epochs = 0.0, 0

    def __enter__(self) -> Stop:
        if self.can_save and threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGTERM, self._terminate)
            self.limit = time_limit()
        self.alarm = Alarm(self.limit)
        self.alarm.__enter__()
        self.began = self.looked = time.time()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_) -> None:
        self.alarm.__exit__()
        if self.before is not None:
            signal.signal(signal.SIGTERM, self.before)
        if kind is TimeUp:
            self._refuse_endless()
            put_back(self.limit, "An epoch was cut off, and the last checkpoint stands")

    def _terminate(self, *_) -> None:
        self.terminated = True

    @property
    def asked(self) -> bool:
        """To be looked at once after every epoch: whether the training has to be saved now."""
        now = time.time()
        self.longest_s, self.looked = max(self.longest_s, now - self.looked), now
        self.epochs += 1
        return self.terminated or self._time_is_short()

    def _time_is_short(self) -> bool:
        return self.limit is not None and self.limit.is_near(SLOWER * self.longest_s)

    def obey(self, run: str, epoch: int) -> None:
        if self.terminated:
            raise UserError(
                f"Run {run} was asked to stop (SIGTERM). It is saved after epoch {epoch} and "
                "continues from there when it is started again."
            )
        if self._time_is_short():
            self.alarm.__exit__()
            put_back(self.limit, f"Run {run} is saved after epoch {epoch}")

    def _refuse_endless(self) -> None:
        if self.epochs > 0:
            return
        if self.limit.had_the_whole(self.began):
            raise UserError(
                f"An epoch takes longer than a job may take ({self.limit.minutes:.0f} minutes), so "
                "this training would never end. Raise the config key 'cluster.max_minutes'."
            )
        if restarts() > 0:  # what was done before it is made again after every restart
            raise UserError(
                f"The other jobs of its group left this training less than an epoch of the "
                f"{self.limit.minutes:.0f} minutes that they have together, also after the group "
                "was put back into the queue. Snakemake's next attempt asks for more time; if none "
                "is left, lower `group-components` in the profile, or raise the config key "
                "'cluster.max_minutes'."
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
