"""The choice of a ratio, or of β-LASSO's l1, on validation data alone."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

from iunet.artifacts import read_json, write_json
from iunet.errors import UserError
from iunet.runs import l1_of, ratio_of


def choose(candidates: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The candidate with the largest mean score over seeds; of equals, the stronger compression.

    A candidate that failed for any seed is not chosen; None if all did.
    """
    good = [candidate for candidate in candidates if candidate["failed"] is None]

    def rank(candidate: dict[str, Any]) -> tuple[float, ...]:
        strength = (candidate["ratio"] or 0.0, l1_of(candidate["supernet"]) or 0.0)
        return (candidate["mean"], *strength)

    return max(good, key=rank, default=None)


def select(
    candidates: list[dict[str, Any]],
    metric: str,
    facts: dict[str, str],
    output: str | Path,
) -> None:
    """Choose among fine-tuned subnetworks.

    Each of `candidates` has the names of its supernet and cut, and `reports`, the paths of its
    fine-tuning reports by seed. `facts` says what is chosen for: dataset, network, method.
    """
    scored = [_scored(candidate, f"valid_{metric}") for candidate in candidates]
    chosen = choose(scored)
    content = {
        "run": "/".join(facts.values()),
        **facts,
        "metric": f"valid_{metric}",
        "chosen": chosen and {key: chosen[key] for key in ("supernet", "cut", "ratio")},
        "candidates": scored,
    }
    write_json(output, content)


def _scored(candidate: dict[str, Any], key: str) -> dict[str, Any]:
    per_seed: dict[str, float] = {}
    failures = []
    for seed, path in candidate["reports"].items():
        report = read_json(path)
        if report.get("failed"):
            failures.append(f"{report['failed']} (seed {seed})")
        elif key not in report["metrics"]:
            raise UserError(f"{path} has no metric '{key}' to choose by.")
        else:
            per_seed[str(seed)] = report["metrics"][key]
    return {
        "supernet": candidate["supernet"],
        "cut": candidate["cut"],
        "ratio": ratio_of(candidate["cut"]),
        "mean": fmean(per_seed.values()) if per_seed else None,
        "per_seed": per_seed,
        "failed": "; ".join(failures) or None,
    }
