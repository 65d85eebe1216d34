"""Runs of a study, made up."""

from __future__ import annotations

from iunet.results.collect import runs_frame
from iunet.results.runs_csv import COLUMNS


def row(dataset, method, seed, score, **facts):
    stage = facts.pop("stage", "dense" if method == "dense" else "subnetwork")
    content = dict.fromkeys(COLUMNS) | {"dataset": dataset, "method": method, "seed": seed}
    content |= {"network": "mlp_tab", "stage": stage, "ratio": 8, "chosen": True}
    for metric in ("accuracy", "balanced_accuracy", "swapped_balanced_accuracy"):
        content[f"test_{metric}"] = score
    return content | facts


def frame(rows):
    return runs_frame([row | {"missing": None} for row in rows])


def study(gain, datasets=("a", "b", "c", "d", "e", "f")):
    """IUNET above OMP by `gain` on every data set and seed."""
    return [
        row(dataset, method, seed, 70 + place + 0.1 * seed + gain * (method == "iunet"))
        for place, dataset in enumerate(datasets)
        for method in ("omp", "iunet")
        for seed in range(3)
    ]
