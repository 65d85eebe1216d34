"""Hand-made run reports and frames for the tests of tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iunet.artifacts import write_json
from iunet.tables.frame import make_frame

SIZES = {
    "encoder_weights": 800,
    "kept_encoder_weights": 100,
    "encoder_compression": 8.0,
    "parameters": 1000,
    "kept_parameters": 300,
    "model_compression": 1000 / 300,
    "flops_dense": 1600,
    "flops_sparse": 400,
    "members": 3,
    "ensemble_kept_parameters": 900,
    "ensemble_flops_sparse": 1200,
}


def metrics(score: float, balanced: float | None = None, swapped: float | None = None):
    """Six metrics; validation scores are 1 below those of the test."""
    values = {
        "accuracy": score,
        "balanced_accuracy": score if balanced is None else balanced,
        "swapped_balanced_accuracy": score if swapped is None else swapped,
    }
    test = {f"test_{key}": value for key, value in values.items()}
    return {f"valid_{key}": value - 1 for key, value in values.items()} | test


def run(dataset, network, method, seed, score=None, **facts) -> dict[str, Any]:
    """A row of a frame."""
    balanced, swapped = facts.pop("balanced", None), facts.pop("swapped", None)
    row = {"dataset": dataset, "network": network, "method": method, "seed": seed}
    if score is not None:
        row |= metrics(score, balanced, swapped) | SIZES | {"disconnected": False}
    return row | facts


def frame_of(*rows: dict[str, Any]):
    return make_frame(list(rows))


def evaluation(stage="subnetwork", ratio=8.0, seed=0, dataset="vehicle", network="mlp_tab"):
    """The report of one network; the subnetwork of ratio r scores 80 + r, all else 70."""
    head = {"dataset": dataset, "network": {"name": network}, "seed": seed, "stage": stage}
    head |= {"failed": None, "sizes": SIZES, "disconnected": False}
    if stage != "subnetwork":
        untrained = {"feat": {"same": 60.0, "distinct_labels": 4, "kappa": 0.4}}
        trained = {"feat": {"same": 70.0, "distinct_labels": 4, "kappa": 0.5}}
        consistency = {"consistency": untrained, "trained_consistency": trained}
        return head | {"ratio": 1, "metrics": metrics(70.0), **consistency}
    return head | {
        "ratio": ratio,
        "metrics": metrics(80.0 + ratio),
        "consistency": {"feat": {"same": 90.0 + ratio, "distinct_labels": 2, "kappa": 0.9}},
        "trained_consistency": {"feat": {"same": 80.0, "distinct_labels": 3, "kappa": None}},
        "disconnected": ratio == 8,
        "overlap_with_initial_mask": 0.5,
    }


def choice(chosen=("kappa0.25-ilo", "ratio8"), failed=None, **changes):
    """A choice between two candidates of one supernet."""
    candidates = [
        {"supernet": "kappa0.25-ilo", "cut": cut, "ratio": ratio, "mean": 80.0, "failed": failed}
        for cut, ratio in (("ratio2", 2.0), ("ratio8", 8.0))
    ]
    content = {"dataset": "vehicle", "network": "mlp_tab", "method": "iunet"}
    content |= {"chosen": chosen and dict(zip(("supernet", "cut"), chosen, strict=True))}
    return content | {"candidates": candidates} | changes


def write(folder: Path, name: str, content: dict[str, Any]) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, content)
    return str(path)


def request(evaluations: dict[str, str], stage="subnetwork", **changes) -> dict[str, Any]:
    content = {
        "dataset": "vehicle",
        "network": "mlp_tab",
        "method": "iunet",
        "seed": 0,
        "stage": stage,
        "evaluations": evaluations,
        "supernets": {},
        "choice": None,
        "own_choice": False,
        "cut": None,
        "missing": None,
    }
    return content | changes
