"""The time limit of a Slurm job, and how the job continues after it.

No job asks for more than `cluster.max_minutes`, but trainings and studies may take longer. So they
save and stop before the limit, and requeue their own job (`scontrol requeue`): Slurm starts it
again, as often as needed, and for Snakemake it has never ended. Where users may not requeue, the
job fails, and Snakemake sends it again (`retries`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

from iunet.errors import UserError, one_line

log = logging.getLogger(__name__)
SENT = "IUNET_SENT_TO_SCHEDULER"
RESTARTS = "IUNET_RESTARTS"
MARGIN_S, MARGIN_SHARE = 120, 0.1  # before the limit, or a tenth of a short one
ANSWER_S = 90  # Slurm may take so long to requeue, within MARGIN_S


def mark_as_sent() -> None:
    """Tell the processes of a job that Snakemake gave it to a scheduler.

    And how often Slurm has requeued it, which Snakemake's plugin for Slurm hides from them.
    """
    os.environ[SENT] = "1"
    if "SLURM_RESTART_COUNT" in os.environ:
        os.environ[RESTARTS] = os.environ["SLURM_RESTART_COUNT"]


def sent_by_scheduler() -> bool:
    """Whether Snakemake gave this job to a scheduler; not so in the user's own allocation."""
    return SENT in os.environ


def was_restarted() -> bool:
    """Whether Slurm has requeued this process's job before."""
    return os.environ.get(RESTARTS, "0") != "0"


class TimeUp(BaseException):
    """Raised within the work, shortly before the limit. No `except Exception` stops it."""


class Terminated(BaseException):
    """SIGTERM where nothing has to be finished first."""


@dataclass(frozen=True)
class TimeLimit:
    """When a Slurm job began and will be ended, in seconds since 1970."""

    job: str
    began: float
    ends: float

    @property
    def minutes(self) -> float:
        return (self.ends - self.began) / 60

    @property
    def margin_s(self) -> float:
        """Between the alarm and the limit: the time to requeue the job."""
        return min(MARGIN_S, MARGIN_SHARE * (self.ends - self.began))

    def left(self) -> float:
        """Seconds until the alarm."""
        return self.ends - self.margin_s - time.time()

    def is_near(self, next_s: float) -> bool:
        """Whether to save now, because the next step may take longer than what is left."""
        return self.left() < max(next_s, self.margin_s)

    def gave_half(self, since: float) -> bool:
        """Whether work begun at that time had at least half of the job: in effect, all of it."""
        return self.ends - since >= (self.ends - self.began) / 2


def time_limit() -> TimeLimit | None:
    """The limit of the Slurm job that Snakemake sent and this process belongs to, if any."""
    job = os.environ.get("SLURM_JOB_ID")
    if job is None or not sent_by_scheduler():
        return None
    command = ["squeue", "--noheader", f"--jobs={job}", "--format=%S %e"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        began, ends = (datetime.fromisoformat(t).timestamp() for t in answer.stdout.split())
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        log.warning("cannot find the time limit of Slurm job %s: %s", job, one_line(error))
        return None
    return TimeLimit(job, began, ends)


@contextlib.contextmanager
def on_signal(number: signal.Signals, handler: Callable[[], None]) -> Iterator[None]:
    """Inside, the signal calls the handler; in the main thread, since no other gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, lambda *_: handler())
    try:
        yield
    finally:
        signal.signal(number, before)


def interrupt_at_hangup() -> None:
    """Let SIGHUP and SIGQUIT end this process as Ctrl-C does, unless they are ignored (nohup)."""
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


@contextlib.contextmanager
def raising_at_sigterm() -> Iterator[None]:
    """Inside, SIGTERM is an exception, so that the process can tidy up."""

    def terminate() -> NoReturn:
        raise Terminated

    with on_signal(signal.SIGTERM, terminate):
        yield


@contextlib.contextmanager
def on_alarm(seconds: float, handler: Callable[[], None]) -> Iterator[None]:
    """Inside, the handler is called after this number of seconds."""
    with on_signal(signal.SIGALRM, handler):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


@contextlib.contextmanager
def alarm(limit: TimeLimit | None) -> Iterator[None]:
    """Inside, `TimeUp` is raised shortly before the limit, if there is one."""
    if limit is None:
        yield
        return

    def ring() -> NoReturn:
        raise TimeUp

    with on_alarm(max(limit.left(), 0.001), ring):
        yield


def requeue(limit: TimeLimit, saved: str) -> NoReturn:
    """Requeue this job and wait until Slurm ends it; `saved` says what has been saved."""
    log.info("%s; requeueing, since the job's limit of %.0f min is near", saved, limit.minutes)
    command = ["scontrol", "requeue", limit.job]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_S)
        if answer.returncode == 0:
            _wait_for_the_end()
        reason = " ".join(answer.stderr.split())
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = one_line(error)
    raise UserError(
        f"{saved}, because the job's limit of {limit.minutes:.0f} minutes is near. Slurm did not "
        f"put the job back into the queue ({reason}), so it ends here. It continues when it is "
        "started again: run snakemake with a higher --retries, or run the same command again."
    )


def _wait_for_the_end() -> NoReturn:
    """Slurm ends the processes of a job that it requeues."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        time.sleep(60)
