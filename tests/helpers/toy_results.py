"""Reports of runs that never ran, for the tests of results, tables and figures."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from conftest import ROOT

from iunet.artifacts import write_json
from iunet.data.registry import read_registry
from iunet.results.request import AskedRun, Request, asked_runs, split_reports
from iunet.runs.entries import Benchmark
from iunet.runs.names import CutName, base_network
from iunet.tables.catalog import declared_tables

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
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
REGISTRY = read_registry(sorted((ROOT / "config").glob("*datasets.csv")))


def toy_bench(folder: Path, unavailable=None, **changes: Any) -> Benchmark:
    """The paper's benchmark with two seeds, its results below `folder`."""
    config = copy.deepcopy(CONFIG) | {"results": str(folder), "seeds": [0, 1]} | changes
    return Benchmark(config, REGISTRY, declared_tables(), unavailable)


def score_of(run: AskedRun) -> float:
    """80 + ratio for subnetworks, 70 for all else; seeds are 1 apart."""
    ratio = CutName.parse(run.cut).ratio or 1 if run.cut else -10
    return 80.0 + ratio + run.seed


def write_results(
    bench: Benchmark, request: Request, score: Callable[[AskedRun], float | None] = score_of
) -> list[AskedRun]:
    """Write every report that a request reads; a run without a score failed."""
    runs = asked_runs(bench, request)
    for run in runs:
        for kind, path in run.files.items():
            report = {"evaluation": evaluation, "mask": mask, "choice": choice}.get(kind, times)
            content = report(run, score(run))
            if kind != "choice" or run.cut == chosen_cut(bench, run):
                write(path, content)
    for name, path in split_reports(bench, request.dataset_names()).items():
        write(path, split(name))
    return runs


def chosen_cut(bench: Benchmark, run: AskedRun) -> str:
    """The strongest ratio; of β-LASSO, what survives (of its last l1, which is written last)."""
    cuts = bench.method(run.method, run.network).cuts
    return max(cuts, key=lambda cut: CutName.parse(cut).ratio or 0)


def write(path: str | Path, content: dict[str, Any]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_json(path, content)


def metrics(score: float) -> dict[str, float]:
    """Six metrics; validation scores are 1 below those of the test."""
    names = ("accuracy", "balanced_accuracy", "swapped_balanced_accuracy")
    test = {f"test_{name}": score for name in names}
    return {f"valid_{name}": score - 1 for name in names} | test


def evaluation(run: AskedRun, score: float | None) -> dict[str, Any]:
    transforms = ["feat"] if run.network in ("mlp_tab",) else ["resize", "horiz"]
    pruned = run.stage == "subnetwork"
    same = {t: {"same": 60.0 + run.seed, "distinct_labels": 4, "kappa": 0.4} for t in transforms}
    content = {
        "dataset": run.dataset,
        "network": {"name": base_network(run.network)},
        "seed": run.seed,
        "stage": run.stage,
        "ratio": CutName.parse(run.cut).ratio if run.cut else 1,
        "failed": None if score is not None else "the loss is not finite",
        "metrics": {} if score is None else metrics(score),
        "sizes": SIZES,
        "disconnected": False,
        "overlap_with_initial_mask": 0.5 if pruned else None,
        "consistency": same if run.stage in ("subnetwork", "supernet") else {},
        "trained_consistency": {} if score is None else same,
    }
    if pruned:
        fresh = {"same": 50.0, "distinct_labels": 10 / 3, "kappa": None}
        content["fresh_consistency"] = dict.fromkeys(transforms, fresh)
    first = {"measure": "raw features", "value": 2.0, "shuffled": 4.0, "ratio": 0.5, "units": 16}
    content["first_layer_mask"] = first | {"left_out": 0, "wide_features": 1} if pruned else None
    return content


def mask(run: AskedRun, score: float | None) -> dict[str, Any]:
    layer = {"weight": "encoder.0.weight", "shape": [16, 13], "kept": 26, "density": 0.125}
    return {
        "dataset": run.dataset,
        "seed": run.seed,
        "ratio": 8,
        "overlap_with_initial_mask": 0.5,
        "disconnected": False,
        "layers": [layer | {"units": 16, "dead_units": 2}],
    }


def choice(run: AskedRun, score: float | None) -> dict[str, Any]:
    pair = {"supernet": run.supernet, "cut": run.cut}
    failed = "the loss is not finite (seed 0)"
    return {
        "dataset": run.dataset,
        "network": run.network,
        "method": run.method,
        "chosen": pair if score is not None else None,
        "candidates": [pair | {"failed": None if score is not None else failed}],
    }


def times(run: AskedRun, score: float | None) -> dict[str, Any]:
    counts = {"counts": {"complete": 5, "failed": 1}, "best": {"number": 2}}
    return {"times": {"total_s": 10.0 + run.seed}} | counts


def split(dataset: str) -> dict[str, Any]:
    classes = [{"name": name, "train": 60, "valid": 20, "test": 20} for name in "ab"]
    return {
        "dataset": dataset,
        "kind": REGISTRY[dataset].kind,
        "provenance": {"source": "embedded"},
        **{"n_train": 120, "n_valid": 40, "n_test": 40, "n_classes": 2, "n_features": 13},
        **{"n_inputs": 13, "classes": classes},
    }
