"""The evaluation of a tuned baseline: the refitted model on test data."""

from __future__ import annotations

import logging
from typing import Any

from iunet.artifacts import read_json, write_json
from iunet.baselines.catalog import LEARNERS
from iunet.baselines.learner import Machine, Table, learner_module
from iunet.machine.device import describe_machine
from iunet.scoring.metrics import classification_metrics

log = logging.getLogger(__name__)


def evaluate_tuned(
    method: str,
    inputs: dict[str, str],
    output: str,
    run: str,
    settings: dict[str, Any],
    machine: Machine,
) -> None:
    """Test metrics. The refitted model has seen valid, so the score there is that of its trial."""
    table, report = Table(inputs), read_json(inputs["report"])
    learner = learner_module(method).Learner(table, settings, machine)
    predicted = learner.predict(inputs["model"], report, "test")
    values = classification_metrics(table.part("test")["labels"], predicted)
    metrics = {f"test_{key}": value for key, value in values.items()}
    log.info("%s: test balanced accuracy %.3f", run, metrics["test_balanced_accuracy"])
    result = {
        "stage": "tuned",
        "ratio": None,
        "failed": None,
        "metrics": {"valid_balanced_accuracy": report["valid_balanced_accuracy"], **metrics},
        "sizes": report["sizes"],
        "disconnected": False,
    }
    content = {
        "run": run,
        "dataset": table.dataset,
        "network": {"name": method},
        "seed": report["seed"],
        "budget": report["budget"],
        "trials": report["trials"],
        **result,
        "environment": describe_machine(
            machine.device, machine.threads, *LEARNERS[method].packages
        ),
    }
    write_json(output, content)
