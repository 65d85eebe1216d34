"""How far a run of the workflow is, in words: jobs done by stage, time left, what failed."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from iunet.labels import duration

STAGES = {  # in the order of the data; any other rule is its own stage
    "download": ("download_table", "download_images"),
    "split": ("split_table", "split_images"),
    "supernet": ("initialise", "supernet"),
    "prune": ("prune",),
    "finetune": ("train_dense", "finetune", "decoder"),
    "tune": ("tune", "study", "refit"),
    "evaluate": (
        *("evaluate", "evaluate_supernet", "evaluate_dense", "evaluate_tuned"),
        *("choose", "latency"),
    ),
    "aggregate": ("table", "figure", "rows", "page"),
}
STAGE_OF = {rule: stage for stage, rules in STAGES.items() for rule in rules}
TRAININGS = ("supernet", "train_dense", "finetune", "tune")  # which take minutes or hours
NAMES_ONLY = ("all", "download_all", "experiments")  # rules without work
LINES = 12  # of a failed job's log
FULL = 2**20  # bytes; with fewer left, a disk counts as full


def stage_of(rule: str) -> str:
    return STAGE_OF.get(rule, rule)


class Started(NamedTuple):
    rule: str
    message: str
    at: float


@dataclass
class Status:
    """Moments are seconds, as `logging` stamps them on what Snakemake says."""

    planned: Counter[str] = field(default_factory=Counter)  # jobs by rule
    finished: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)  # of the finished jobs
    running: dict[int, Started] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    began: float = 0.0

    def plan(self, jobs: dict[str, int], now: float) -> None:
        skipped = ("total", *NAMES_ONLY)
        self.planned = Counter({rule: n for rule, n in jobs.items() if rule not in skipped})
        self.began = now

    def start(self, job: int, rule: str, message: str, now: float) -> None:
        if rule not in NAMES_ONLY:
            self.running[job] = Started(rule, message, now)
            self.failed.discard(job)  # it is tried again

    def finish(self, job: int, now: float) -> str | None:
        """The job's rule, if it was running."""
        started = self.running.pop(job, None)
        if started is None:
            return None
        self.finished[started.rule] += 1
        self.seconds[started.rule] += now - started.at
        return started.rule

    def fail(self, job: int) -> str | None:
        """The job's message, if it was running."""
        self.failed.add(job)
        started = self.running.pop(job, None)
        return started and started.message

    @property
    def done(self) -> int:
        return self.finished.total()

    @property
    def total(self) -> int:
        return self.planned.total()

    def stages(self) -> dict[str, tuple[int, int]]:
        """Done and planned jobs of each stage, in the order of the data."""
        done, planned = Counter(), Counter(dict.fromkeys(STAGES, 0))
        for rule, n in self.planned.items():
            planned[stage_of(rule)] += n
            done[stage_of(rule)] += self.finished[rule]
        return {stage: (done[stage], n) for stage, n in planned.items() if n}

    def counts(self, what: str = "") -> str:
        """`371 jobs: supernet 40, prune 80`"""
        stages = (f"{stage} {n:,}" for stage, (_, n) in self.stages().items())
        return f"{_jobs(self.total)}{what}: {', '.join(stages)}"

    def seconds_left(self, now: float) -> float | None:
        """From the mean time of each rule's finished jobs, and how many run side by side.

        Rules of which no job is finished count with the mean of all. None before the first job, and
        until each kind of training that is left has finished one: a download says nothing of them.
        """
        left = self.planned - self.finished
        if not self.done or any(left[rule] and not self.finished[rule] for rule in TRAININGS):
            return None
        overall = self.seconds.total() / self.done
        means = {rule: self.seconds[rule] / n for rule, n in self.finished.items()}
        work = sum(means.get(rule, overall) * n for rule, n in left.items())
        spent = sum(now - started.at for started in self.running.values())
        side_by_side = max((self.seconds.total() + spent) / max(now - self.began, 1e-9), 0.1)
        return max(work - spent, 0.0) / side_by_side

    def line(self, now: float) -> str:
        """`37 of 371 jobs (10 %), about 4 min left: supernet 14 of 40, prune 3 of 80`"""
        parts = [f"{self.done} of {_jobs(self.total)} ({100 * self.done // max(self.total, 1)} %)"]
        left = self.seconds_left(now)
        if left is not None and self.done < self.total:
            parts.append(f"about {duration(left)} left")
        if self.failed:
            parts.append(f"{len(self.failed)} failed")
        here = {stage_of(started.rule) for started in self.running.values()}
        at_work = [f"{s} {d} of {n}" for s, (d, n) in self.stages().items() if s in here]
        return ", ".join(parts) + (f": {', '.join(at_work)}" if at_work else "")

    def summary(self, now: float) -> str:
        """The last line of a run."""
        took, failed = duration(now - self.began), len(self.failed)
        if self.done == self.total and not failed:
            return f"{_jobs(self.done)} done in {took}"
        done = f"{self.done} of {_jobs(self.total)} done in {took}"
        return f"{done}, {failed} failed, {self.total - self.done - failed} not run"


def _jobs(n: int) -> str:
    return f"{n:,} job{'s' * (n != 1)}"


def last_lines(path: str) -> str:
    """The end of a job's log, or why there may be none, such as a full disk."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace").strip()
        missing = "is empty"
    except OSError:
        text, missing = "", "was not written"
    if text:
        lines = [f"  | {line}" for line in text.splitlines()[-LINES:]]
        return "\n".join([f"  the last lines of {path}:", *lines])
    folder = next((f for f in Path(path).parents if f.is_dir()), Path())
    free = shutil.disk_usage(folder).free
    full = (
        f": the disk of {folder}/ is full ({free:,} bytes free). Make room, or set `results` in "
        "the config to a folder on a larger disk, and run the same command again"
    )
    return f"  its log {path} {missing}{full if free < FULL else ''}"
