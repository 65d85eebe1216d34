"""The refit stage of a tuned baseline: the best parameters of its study, fitted again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from iunet.artifacts import read_json, write_json
from iunet.baselines.catalog import LEARNERS
from iunet.baselines.learner import Machine, Table, learner_module
from iunet.errors import UserError


def refit(
    method: str,
    inputs: dict[str, str],
    output: dict[str, str],
    settings: dict[str, Any],
    seed: int,
    run: str,
    machine: Machine,
    identity: dict[str, Any],
    checkpoint_s: float = 60.0,
    parts: tuple[str, ...] = ("train", "valid"),
) -> None:
    """Fit on the rows of `parts`, with the rounds or epochs that the study found.

    A checkpoint of another `identity` is refused. Of the study its result is part of it: its file
    also holds times, which differ between equal ones.
    """
    started = time.monotonic()
    study = read_json(inputs["study"])
    table = Table(inputs)
    if (study["dataset"], study["method"]) != (table.dataset, method):
        raise UserError(
            f"{inputs['study']} is the study of {study['method']} on '{study['dataset']}', not of "
            f"{method} on '{table.dataset}'. Delete it and run the same command again."
        )
    best = study["best"]
    checkpoint = None
    if LEARNERS[method].torch:  # others refit in seconds
        from iunet.training.support.checkpoint import Checkpoint

        path = Path(output["model"]).with_name("refit.checkpoint")
        checkpoint = Checkpoint(path, {**identity, "best": best}, checkpoint_s)
    learner = learner_module(method).Learner(table, settings, machine)
    facts = learner.refit(
        best["parameters"],
        best["found"],
        seed,
        output["model"],
        run=run,
        checkpoint=checkpoint,
        parts=parts,
    )
    total_s = time.monotonic() - started + (checkpoint.earlier_s if checkpoint else 0.0)
    sizes, history = facts.pop("sizes"), facts.pop("history", [])
    report = {
        "run": run,
        "dataset": table.dataset,
        "method": method,
        "seed": seed,
        "settings": settings,
        "fitted_on": list(parts),
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
