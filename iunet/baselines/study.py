"""One Optuna study per data set and method, in a journal file that survives its writers.

Workers may share a study. Each makes trials until the budget is spent: a number of trials, or
minutes of all trials together. A finished trial is one line of the journal, with a checksum. So a
killed worker leaves nothing half done, and repeats the trial that it was in. With one worker the
seed determines all trials, whether the study is interrupted or not.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock
from optuna.trial import FrozenTrial, TrialState

from iunet.artifacts import explain_full_disk, read_json, write_json, write_text
from iunet.baselines.learner import Attempt, Machine, Table, learner_module
from iunet.errors import UserError, one_line
from iunet.escape import csv_value
from iunet.machine.device import device_failure, free_gpu_memory
from iunet.machine.time_limit import (
    Terminated,
    TimeUp,
    alarm,
    raising_at_sigterm,
    requeue,
    time_limit,
)

log = logging.getLogger(__name__)
optuna.logging.set_verbosity(optuna.logging.WARNING)
LOCK_S = 10  # after which a lock is taken to be a dead writer's; a trial is one short line
KILLED_TWICE = "killed twice during this trial (out of memory, or longer than a job may take?)"


@dataclass(frozen=True)
class Budget:
    """When a study ends."""

    trials: int
    minutes: float | None = None  # of all trials together


class Journal(JournalFileBackend):
    """Optuna's journal file, each line of which carries a checksum of itself."""

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        super().append_logs([log | {"seal": _seal(log)} for log in logs])

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        for log in super().read_logs(log_number_from):
            if log.pop("seal", None) != _seal(log):
                raise ValueError("a line is not as it was written")
            yield log


def _seal(log: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(log, sort_keys=True).encode()).hexdigest()[:16]


def open_study(journal: str | Path, name: str) -> optuna.Study:
    """The study of that name; its journal is made if there is none, and repaired if it was cut."""
    path = Path(journal)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = JournalFileSymlinkLock(str(path), grace_period=LOCK_S)
    try:
        if path.exists():
            _drop_incomplete_line(path, lock)
        storage = JournalStorage(Journal(str(path), lock_obj=lock))
        study = optuna.create_study(
            storage=storage, study_name=name, direction="maximize", load_if_exists=True
        )
        places = Counter()
        for trial in study.get_trials(deepcopy=False):
            worker, place = (trial.user_attrs[key] for key in ("worker", "place"))
            if place != places[worker]:
                raise ValueError(f"trial {places[worker]} of worker {worker} is gone")
            places[worker] += 1
    except OSError as error:  # of the disk or its rights: the journal itself may be whole
        explain_full_disk(error, path)
        raise UserError(
            f"{path}, the journal of a study, cannot be opened ({one_line(error)}). It is a file "
            "that this process must be able to read and write."
        ) from error
    except Exception as error:  # Optuna fails in many ways on a line that is not its own
        raise UserError(
            f"{path} cannot be read as the journal of a study ({type(error).__name__}: "
            f"{one_line(error)}). {_begin_anew(path)}"
        ) from error
    return study


def _begin_anew(journal: Path) -> str:
    """What to do about a damaged journal. Workers run again only if their reports are gone."""
    reports = sorted(journal.parent.glob("worker*.json"))
    files = " and ".join(["it", *map(str, reports)])
    return f"Delete {files} and run the same command again: the study starts over."


def _drop_incomplete_line(path: Path, lock: JournalFileSymlinkLock) -> None:
    """A writer that was killed may leave half a line, on which Optuna refuses the whole journal."""
    lock.acquire()
    try:
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole != len(content):
            log.warning("%s: dropped an incomplete last line", path)
            with path.open("r+b") as file:
                file.truncate(whole)
        if whole:
            json.loads(content[:whole].splitlines()[-1])  # which Optuna would leave out unread
    finally:
        lock.release()


@dataclass(frozen=True)
class Worker:
    """One of the processes that make the trials of a study."""

    study: optuna.Study
    suggest: Callable[[optuna.Trial], dict[str, Any]]
    try_out: Callable[[dict[str, Any]], Attempt]
    budget: Budget
    seed: int
    marker: Path  # tells, after a kill, which trial the worker was in
    number: int = 0

    def run(self) -> int:
        """Make trials until the budget is spent; the number that this call made.

        SIGTERM, by which schedulers end a job, does not count as a kill. Near the time limit of its
        job the worker puts the job back into the queue, to continue there.
        """
        limit, name = time_limit(), self.study.study_name
        try:
            with raising_at_sigterm(), alarm(limit):
                return self._make_trials()
        except (Terminated, KeyboardInterrupt) as ended:
            self._take_back_start()
            if isinstance(ended, KeyboardInterrupt):
                raise
            raise UserError(
                f"The study {name} was asked to stop (SIGTERM). Its finished trials stay in the "
                "journal, and it continues from there when it is started again."
            ) from None
        except TimeUp:
            if not limit.gave_half(self._begun().get("began", 0.0)):
                self._take_back_start()  # the trial itself did not take too long
        requeue(limit, f"The study {name} has {len(self.study.trials)} trials")

    def _make_trials(self) -> int:
        sampling = optuna.create_study(direction="maximize")  # in memory: asking reads no file
        known, made = 0, 0
        while True:
            trials = self.study.get_trials(deepcopy=False)
            own = sum(trial.user_attrs["worker"] == self.number for trial in trials)
            if _spent(trials, self.budget):
                break
            if self._killed_twice(own):
                self.study.add_trial(self._finished(own, 0.0, {"reason": KILLED_TWICE}))
                continue
            others = (t for t in trials[known:] if t.user_attrs["worker"] != self.number)
            sampling.add_trials(trials if made == 0 else others)
            known = len(trials)
            # A seed for each trial: a resumed worker goes on as if it had never been interrupted.
            seeds = np.random.SeedSequence([self.seed, self.number, own])
            sampling.sampler = optuna.samplers.TPESampler(seed=int(seeds.generate_state(1)[0]))
            trial = sampling.ask()
            finished = self._finish(trial, own)
            sampling.tell(trial, finished.value, state=finished.state)
            if _spent(self.study.get_trials(deepcopy=False), self.budget):
                break  # another worker's trial was the last
            self.study.add_trial(finished)
            made += 1
        self.marker.unlink(missing_ok=True)
        return made

    def _finish(self, trial: optuna.Trial, own: int) -> FrozenTrial:
        """Make one trial. An error in it is recorded, and the study continues.

        But an error of the GPU ends the job: all trials that follow would fail, too.
        """
        started, score = time.monotonic(), None
        try:
            facts = asdict(self._try_out(self.suggest(trial)))
            score = facts.pop("score")
            if not np.isfinite(score):
                raise UserError(f"The score is {score}.")
        except Exception as error:
            if device_failure(error):
                self._take_back_start()
                raise
            kind = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
            reason = f"{kind}{one_line(error)}" if str(error) else type(error).__name__
            log.warning("trial failed: %s (%s)", reason, trial.params)
            score, facts = None, {"reason": reason}
        else:
            log.info("%.3f (%s)", score, trial.params)
        seconds = time.monotonic() - started
        drawn = {"params": trial.params, "distributions": trial.distributions}
        return self._finished(own, seconds, facts, value=score, **drawn)

    def _finished(self, own: int, seconds: float, facts: dict[str, Any], **trial) -> FrozenTrial:
        """A trial for the journal; it failed if it has no value.

        Its `place` among the worker's trials shows if one before it is gone.
        """
        failed = trial.get("value") is None
        return optuna.trial.create_trial(
            state=TrialState.FAIL if failed else TrialState.COMPLETE,
            user_attrs={**facts, "worker": self.number, "place": own, "seconds": seconds},
            **trial,
        )

    def _try_out(self, parameters: dict[str, Any]) -> Attempt:
        """Try again if the GPU's memory is full: it may hold the rest of an earlier trial."""
        try:
            return self.try_out(parameters)
        except Exception as error:
            if device_failure(error) != "memory":
                raise
            log.warning("out of the GPU's memory, tried again: %s", one_line(error))
        free_gpu_memory()  # after the block: the error holds what the trial had
        return self.try_out(parameters)

    def _killed_twice(self, own: int) -> bool:
        """Record that a trial begins; True if it began twice before and never ended.

        A kill may have other causes. But a trial that uses up all memory would be killed and
        repeated without end.
        """
        trial = {"study": self.study.study_name, "trial": own}
        begun = self._begun()
        starts = begun.get("starts", 0) if trial.items() <= begun.items() else 0
        starts = starts if isinstance(starts, int) else 0
        if starts < 2:
            write_json(self.marker, {**trial, "starts": starts + 1, "began": time.time()})
        return starts >= 2

    def _begun(self) -> dict[str, Any]:
        return read_json(self.marker) if self.marker.exists() else {}

    def _take_back_start(self) -> None:
        """The trial that began last was not killed."""
        begun = self._begun()
        if begun.get("starts", 0) > 1:
            write_json(self.marker, {**begun, "starts": begun["starts"] - 1})
        else:
            self.marker.unlink(missing_ok=True)


def _spent(trials: list[FrozenTrial], budget: Budget) -> bool:
    seconds = sum(trial.user_attrs["seconds"] for trial in trials)
    out_of_time = budget.minutes is not None and seconds >= 60 * budget.minutes
    return len(trials) >= budget.trials or out_of_time


def tune(
    method: str,
    inputs: dict[str, str],
    output: str,
    journal: str,
    study_name: str,
    settings: dict[str, Any],
    budget: dict[str, Any],
    seed: int,
    worker: int,
    machine: Machine,
) -> None:
    """The stage: one worker's share of a study. The journal stays when the job fails."""
    started = time.monotonic()
    module = learner_module(method)
    learner = module.Learner(Table(inputs), settings, machine)
    try:
        made = Worker(
            open_study(journal, study_name),
            module.suggest,
            lambda parameters: learner.try_out(parameters, seed),
            Budget(**budget),
            seed,
            Path(journal).with_name(f"worker{worker}.begun"),
            worker,
        ).run()
    except OSError as error:  # Optuna writes the journal, and does not say where
        explain_full_disk(error, journal)
        raise
    total_s = time.monotonic() - started
    content = {"study": study_name, "worker": worker, "trials_made": made, "seconds": total_s}
    write_json(output, content)


# ---- the result of a study


def summarise_study(
    facts: dict[str, Any],
    journal: str | Path,
    study_name: str,
    settings: dict[str, Any],
    budget: dict[str, Any],
    output: dict[str, str],
) -> None:
    """The stage: the table of all trials, and the best of them; `facts` has dataset and method."""
    trials = open_study(journal, study_name).get_trials(deepcopy=False)
    if not _spent(trials, Budget(**budget)):
        raise UserError(
            f"{journal} has {len(trials)} trials, fewer than were made: it was cut short. "
            f"{_begin_anew(Path(journal))}"
        )
    settled = _within_budget(trials, Budget(**budget))
    good = [trial for trial in settled if trial.state == TrialState.COMPLETE]
    reasons = Counter(trial.user_attrs["reason"] for trial in settled if trial not in good)
    if not good:
        told = "; ".join(f"{n} × {reason}" for reason, n in reasons.most_common(3)) or "none ran"
        raise UserError(
            f"The tuning of {facts['method']} on '{facts['dataset']}' has no good trial out of "
            f"{len(settled)} ({told}). There is nothing to fit: raise its budget in the config "
            f"section 'tuning.{facts['method']}', or make the tables without it (partial: true)."
        )
    best = max(good, key=lambda trial: (trial.value, -trial.number))
    # As objects: whole numbers stay whole in columns that not every trial has.
    table = pd.DataFrame([_row(trial) for trial in settled], dtype=object)
    write_text(output["trials"], table.to_csv(index=False, lineterminator="\n"))
    content = {
        **facts,
        "study": study_name,
        "settings": settings,
        "budget": asdict(Budget(**budget)),
        "trials": len(settled),
        "counts": {"complete": len(good), "failed": len(settled) - len(good)},
        "failures": dict(reasons),
        "flagged_trials": sum(bool(trial.user_attrs["flags"]) for trial in good),
        "best": {
            "number": best.number,
            "valid_balanced_accuracy": best.value,
            "parameters": best.params,
            "found": best.user_attrs["found"],
            "flags": best.user_attrs["flags"],
        },
        "times": {
            "total_s": table["seconds"].sum(),
            "fit_s": table["fit_seconds"].dropna().sum(),
        },
    }
    write_json(output["study"], content, files=[output["trials"]])


def _within_budget(trials: list[FrozenTrial], budget: Budget) -> list[FrozenTrial]:
    """The trials that a budget pays for: a journal may have more, from a larger one before."""
    return [trial for i, trial in enumerate(trials) if not _spent(trials[:i], budget)]


def _row(trial: FrozenTrial) -> dict[str, Any]:
    facts = trial.user_attrs
    return {
        "number": trial.number,
        "state": "complete" if trial.state == TrialState.COMPLETE else "failed",
        "score": trial.value,
        "seconds": facts.get("seconds"),
        "fit_seconds": facts.get("fit_seconds"),
        "reason": csv_value(facts.get("reason", "")),
        "flags": "; ".join(facts.get("flags", [])),
        **trial.params,
    }
