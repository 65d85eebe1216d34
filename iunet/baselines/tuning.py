"""The stages of a tuned baseline: trials, their summary, and the refit on train and valid."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iunet.artifacts import explain_full_disk, read_json, write_json
from iunet.baselines.catalog import LEARNERS
from iunet.baselines.learner import Machine, Table, learner_module
from iunet.errors import UserError


@dataclass(frozen=True)
class RefitJob:
    """What a refit is told beside its files and settings."""

    run: str  # its name, for logs and reports
    machine: Machine
    identity: dict[str, Any]  # another run's checkpoint is refused
    checkpoint_s: float = 60.0
    parts: tuple[str, ...] = ("train", "valid")  # the rows that it is fitted on

    def checkpoint(self, method: str, model: str, best: dict[str, Any]) -> Any:
        """Of methods that train with torch; others refit in seconds.

        Of the study its result counts: its file also holds times, which differ between equal ones.
        """
        if not LEARNERS[method].torch:
            return None
        from iunet.training.support.checkpoint import Checkpoint

        path = Path(model).with_name("refit.checkpoint")
        return Checkpoint(path, {**self.identity, "best": best}, self.checkpoint_s)


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
    """One worker's share of a study. The journal stays when the job fails or is repeated."""
    from iunet.baselines.study import Budget, open_study, run_trials

    started = time.monotonic()
    module = learner_module(method)
    learner = module.Learner(Table(inputs), settings, machine)
    with _writing(journal):
        made = run_trials(
            open_study(journal, study_name),
            module.suggest,
            lambda parameters: learner.try_out(parameters, seed),
            Budget(**budget),
            seed,
            Path(journal).with_name(f"worker{worker}.begun"),
            worker,
        )
    total_s = time.monotonic() - started
    content = {"study": study_name, "worker": worker, "trials_made": made, "seconds": total_s}
    write_json(output, content)


@contextlib.contextmanager
def _writing(journal: str) -> Iterator[None]:
    """Optuna writes it, and does not say where there was no space."""
    try:
        yield
    except OSError as error:
        explain_full_disk(error, journal)
        raise


def summarise_study(
    facts: dict[str, Any],
    journal: str,
    study_name: str,
    settings: dict[str, Any],
    budget: dict[str, Any],
    output: dict[str, str],
) -> None:
    from iunet.baselines.study import Budget, open_study, summarise

    with _writing(journal):
        study = open_study(journal, study_name)
    facts = {**facts, "study": study_name, "settings": settings}
    summarise(study, facts, Budget(**budget), output)


def refit(
    method: str,
    inputs: dict[str, str],
    output: dict[str, str],
    settings: dict[str, Any],
    seed: int,
    job: RefitJob,
) -> None:
    """Fit the best parameters of a study again, with the rounds or epochs that it found."""
    started = time.monotonic()
    study = read_json(inputs["study"])
    table = Table(inputs)
    if (study["dataset"], study["method"]) != (table.dataset, method):
        raise UserError(
            f"{inputs['study']} is the study of {study['method']} on '{study['dataset']}', not of "
            f"{method} on '{table.dataset}'. Delete it and run the same command again."
        )
    learner = learner_module(method).Learner(table, settings, job.machine)
    best = study["best"]
    checkpoint = job.checkpoint(method, output["model"], best)
    facts = learner.refit(
        best["parameters"],
        best["found"],
        seed,
        output["model"],
        run=job.run,
        checkpoint=checkpoint,
        parts=job.parts,
    )
    total_s = time.monotonic() - started + (checkpoint.earlier_s if checkpoint else 0.0)
    sizes, history = facts.pop("sizes"), facts.pop("history", [])
    report = {
        "run": job.run,
        "dataset": table.dataset,
        "method": method,
        "seed": seed,
        "settings": settings,
        "fitted_on": list(job.parts),
        "parameters": best["parameters"],
        "found": best["found"],
        "flags": best["flags"],
        "valid_balanced_accuracy": best["valid_balanced_accuracy"],
        "budget": study["budget"],
        "trials": study["trials"],
        "model": facts,
        "sizes": sizes,
        "history": history,
        "times": {"total_s": total_s, "tuning_s": study["times"]["total_s"]},
    }
    write_json(output["report"], report)
    if checkpoint is not None:
        checkpoint.remove()
