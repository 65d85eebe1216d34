"""The time limit of a Slurm job, and how a job that comes near it is continued.

No job may ask for more than `cluster.max_minutes`, and trainings and studies may take longer. So
they end by themselves before the limit, with what they have saved, and put their own job back into
the queue (`scontrol requeue`): Slurm starts it again, as often as needed, and for Snakemake it has
never ended. Where that is forbidden the job fails, and Snakemake sends it again (`retries`).
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

from iunet.errors import UserError, one_line
from iunet.machine.allocation import was_sent

log = logging.getLogger(__name__)
MARGIN_S, MARGIN_SHARE = 120, 0.1  # before the limit, or a tenth of a short one
ANSWER_S = 45  # that Slurm may take: twice that is within MARGIN_S
WHOLE = 0.5  # a piece of work that had this share of the limit had the whole of it, in effect


class TimeUp(BaseException):
    """Raised within the work, shortly before the limit. No `except Exception` stops it."""


@dataclass(frozen=True)
class TimeLimit:
    """Of a Slurm job, in seconds since 1970."""

    job: str
    began: float
    ends: float

    @property
    def margin_s(self) -> float:
        return min(MARGIN_S, MARGIN_SHARE * (self.ends - self.began))

    @property
    def stop(self) -> float:
        """When the work must have ended: then the alarm rings, and there is time to requeue."""
        return self.ends - self.margin_s

    def is_near(self, next_s: float) -> bool:
        """Whether to save now: what comes next takes so long, or a stall would be the end of it."""
        return self.left() < max(next_s, self.margin_s)

    @property
    def minutes(self) -> float:
        return (self.ends - self.began) / 60

    def left(self) -> float:
        return self.stop - time.time()

    def had_the_whole(self, since: float) -> bool:
        """Whether work begun at that time had, in effect, all the time that a job can have."""
        return self.ends - since >= WHOLE * (self.ends - self.began)


def time_limit() -> TimeLimit | None:
    """Of the job that Snakemake sent away and this process belongs to; else None."""
    job = os.environ.get("SLURM_JOB_ID")
    if job is None or not was_sent():
        return None
    command = ["squeue", "--noheader", f"--jobs={job}", "--format=%S %e"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        began, ends = map(_seconds, answer.stdout.split())
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        log.warning("the time limit of Slurm job %s is not known: %s", job, one_line(error))
        return None
    return TimeLimit(job, began, ends)


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


class Alarm:
    """Raises `TimeUp` in the main thread shortly before the limit, if there is one."""

    def __init__(self, limit: TimeLimit | None):
        self.limit = limit
        self.before = None

    def __enter__(self) -> Alarm:
        if self.limit is not None and threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, max(self.limit.left(), 0.001))
        return self

    def __exit__(self, *_) -> None:
        if self.before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.before)

    def _ring(self, *_) -> None:
        raise TimeUp


def put_back(limit: TimeLimit, what: str) -> NoReturn:
    """Put this job back into the queue and wait for its end; `what` says what is saved."""
    log.info("%s; the job's limit of %.0f min is near: back into the queue", what, limit.minutes)
    reason = _requeue(limit.job)
    if reason is None:
        _wait_for_the_end()
    raise UserError(
        f"{what}, and the job's limit of {limit.minutes:.0f} minutes is near. Slurm did not put it "
        f"back into the queue ({reason}), so it ends here and goes on when it is started again: "
        "call snakemake with a higher --retries, or start it again."
    )


def _requeue(job: str) -> str | None:
    """Why Slurm does not put the job back, if it does not."""
    reason = None
    for _ in range(2):  # a busy Slurm may answer when it is asked again
        try:
            answer = subprocess.run(
                ["scontrol", "requeue", job], capture_output=True, text=True, timeout=ANSWER_S
            )
        except subprocess.TimeoutExpired as error:
            reason = one_line(error)
        except OSError as error:
            return one_line(error)
        else:
            return None if answer.returncode == 0 else one_line(Exception(answer.stderr))
    return reason


def _wait_for_the_end() -> NoReturn:
    """Slurm ends the processes of a job that it has put back."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        time.sleep(60)
