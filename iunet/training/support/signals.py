"""What ends a training before its last epoch: SIGTERM, by which schedulers announce a kill, and the
time limit of its job."""

from __future__ import annotations

import contextlib
import signal
import time

from iunet.errors import UserError
from iunet.machine.time_limit import (
    TimeLimit,
    TimeUp,
    alarm,
    on_signal,
    requeue,
    time_limit,
    was_restarted,
)

SLOWER = 1.5  # how much longer than the longest epoch so far the next may take, with its checkpoint


class Stop:
    """Ends a training after its epoch is finished and saved.

    After SIGTERM the training ends with an error; if the epoch takes longer than the scheduler
    waits, the last regular checkpoint remains. Near the limit of its job the training requeues the
    job: after the last epoch that surely fits, or, if even that takes too long, in the middle of
    the epoch. A training that saves nothing (`can_save`) ends at once, as processes do.
    """

    def __init__(self, can_save: bool):
        self.can_save = can_save
        self.terminated = False
        self.limit: TimeLimit | None = None
        self.longest_s, self.epochs = 0.0, 0
        self.handlers = contextlib.ExitStack()

    def __enter__(self) -> Stop:
        if self.can_save:
            self.limit = time_limit()
            self.handlers.enter_context(on_signal(signal.SIGTERM, self._terminate))
            self.handlers.enter_context(alarm(self.limit))
        self.began = self.looked = time.time()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_) -> None:
        self.handlers.close()
        if kind is TimeUp:
            self._refuse_endless()
            requeue(self.limit, "An epoch was cut off; the last checkpoint remains")

    def _terminate(self) -> None:
        self.terminated = True

    @property
    def asked(self) -> bool:
        """Whether the training must be saved now; to be read once after every epoch."""
        now = time.time()
        self.longest_s, self.looked = max(self.longest_s, now - self.looked), now
        self.epochs += 1
        return self.terminated or self._time_is_short()

    def _time_is_short(self) -> bool:
        return self.limit is not None and self.limit.is_near(SLOWER * self.longest_s)

    def obey(self, run: str, epoch: int) -> None:
        if self.terminated:
            raise UserError(
                f"Run {run} was stopped (SIGTERM). It is saved after epoch {epoch}; the same "
                "command continues from there."
            )
        if self._time_is_short():
            self.handlers.close()
            requeue(self.limit, f"Run {run} is saved after epoch {epoch}")

    def _refuse_endless(self) -> None:
        if self.epochs > 0:
            return
        if self.limit.gave_half(self.began):
            raise UserError(
                f"One epoch takes longer than a job may run ({self.limit.minutes:.0f} minutes), so "
                "this training would never finish. Raise the config key 'cluster.max_minutes'."
            )
        if was_restarted():  # what was done before it is made again after every restart
            raise UserError(
                f"The jobs of this group share {self.limit.minutes:.0f} minutes, and the others "
                "left less than an epoch for this training, even after the group was requeued. "
                "Snakemake's next attempt asks for more time. If there is none, lower "
                "`group-components` in the profile or raise the config key 'cluster.max_minutes'."
            )
