"""The choice of a compression ratio, on validation data alone (SPEC section 4)."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from iunet.artifacts import read_json, write_json
from iunet.errors import UserError


def choose_ratio(scores: dict[str, list[float]]) -> str:
    """The ratio with the largest mean score over seeds; of equals, the larger compression."""
    return max(scores, key=lambda name: (fmean(scores[name]), ratio_of(name)))


def ratio_of(name: str) -> float:
    """The ratio in the name of a ratio's folder, `8` or `8-weight_decay0.1`."""
    return float(name.split("-")[0])


def select_ratio(reports: list[dict[str, Any]], metric: str, run: str, output: str | Path) -> None:
    """Choose among fine-tuned subnetworks; each of `reports` has its name, seed and path."""
    scores: dict[str, list[float]] = defaultdict(list)
    for entry in reports:
        metrics = read_json(entry["path"])["metrics"]
        key = f"valid_{metric}"
        if key not in metrics:
            raise UserError(f"{entry['path']} has no metric '{key}' to choose a ratio by.")
        scores[entry["name"]].append(metrics[key])
    chosen = choose_ratio(scores)
    content = {
        "run": run,
        "metric": f"valid_{metric}",
        "chosen": chosen,
        "ratio": ratio_of(chosen),
        "candidates": [
            {"name": name, "ratio": ratio_of(name), "mean": fmean(values), "per_seed": values}
            for name, values in scores.items()
        ],
    }
    write_json(output, content)
