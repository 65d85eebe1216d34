"""The choice of a ratio, or of β-LASSO's l1, on validation data alone."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from iunet.artifacts import read_arrays, read_json, write_json
from iunet.errors import UserError
from iunet.scoring.metrics import classification_metrics


def choose(candidates: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The candidate with the largest mean score over seeds; of equals, the stronger compression.

    A candidate that failed for any seed is not chosen. None if all failed.
    """
    good = [candidate for candidate in candidates if candidate["failed"] is None]

    def rank(candidate: dict[str, Any]) -> tuple[float, ...]:
        return (candidate["mean"], candidate["ratio"] or 0.0, candidate["l1"] or 0.0)

    return max(good, key=rank, default=None)


def write_choice(
    candidates: list[dict[str, Any]],
    valid: str | Path,
    metric: str,
    facts: dict[str, str],
    output: str | Path,
) -> None:
    """Choose among fine-tuned subnetworks by a metric on the validation rows of `valid`.

    A candidate has its supernet, cut, ratio (None for β-LASSO) and l1 (β-LASSO's), and by seed the
    files of its fine-tuning: `reports`, and `predictions` for the validation rows. `facts` are the
    dataset, network and method of the choice.
    """
    labels = read_arrays(valid, "labels")["labels"]
    scored = [_scored(**candidate, labels=labels, metric=metric) for candidate in candidates]
    chosen = choose(scored)
    content = {
        "run": "/".join(facts.values()),
        **facts,
        "metric": f"valid_{metric}",
        "chosen": chosen and {key: chosen[key] for key in ("supernet", "cut", "ratio")},
        "candidates": scored,
    }
    write_json(output, content)


def _scored(
    reports: dict[int, str],
    predictions: dict[int, str],
    labels: np.ndarray,
    metric: str,
    **candidate: Any,
) -> dict[str, Any]:
    """A candidate with its score for each seed and their mean, or why it failed."""
    per_seed: dict[str, float] = {}
    failures = []
    for seed, path in reports.items():
        report = read_json(path)
        if report.get("failed"):
            failures.append(f"{report['failed']} (seed {seed})")
            continue
        predicted = read_arrays(predictions[seed], "predicted")["predicted"]
        if predicted.shape != labels.shape:
            raise UserError(
                f"{predictions[seed]} has {len(predicted)} predictions, but there are "
                f"{len(labels)} validation rows. Delete it and run the same command again."
            )
        per_seed[str(seed)] = classification_metrics(labels, predicted)[metric]
    return {
        **candidate,
        "mean": fmean(per_seed.values()) if per_seed else None,
        "per_seed": per_seed,
        "failed": "; ".join(failures) or None,
    }
