"""Inputs of figures, and what is asked of the drawn ones."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
from matplotlib.text import Text

from iunet.artifacts import write_arrays, write_json

METHODS = {
    "omp": "kappa1-sup",
    "iunet_no_ilo": "kappa0.25-sup",
    "sup_kappa0.125": "kappa0.125-sup",
    "scl": "kappa1-scl",
    "iunet_no_pis": "kappa1-ilo",
    "iunet": "kappa0.25-ilo",
}


def outputs(folder: Path, name: str = "figure") -> dict[str, str]:
    return {kind: str(folder / f"{name}.{kind}") for kind in ("pdf", "png", "csv")}


def written(output: dict[str, str]) -> list[dict[str, str]]:
    """The rows of the CSV, once the other two files are seen to be what they should be."""
    assert Path(output["pdf"]).read_bytes().startswith(b"%PDF")
    assert Path(output["png"]).read_bytes().startswith(b"\x89PNG")
    with Path(output["csv"]).open(newline="") as file:
        return list(csv.DictReader(file))


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text().strip()]


def says(figure, part: str) -> bool:
    return any(part in text.replace("\n", " ") for text in texts(figure))


def panel_of(figure, title: str):
    (panel,) = [axes for axes in figure.axes if axes.get_title() == title]
    return panel


def line(panel, label: str):
    (found,) = [line for line in panel.get_lines() if line.get_label() == label]
    return found


def evaluation(folder: Path, dataset: str, method: str, seed: int, values: dict) -> dict:
    """A request, with its reports written: `values` are accuracies by ratio, or a failure."""
    supernet = METHODS[method]
    paths = {}
    for ratio, value in values.items():
        failed = value if isinstance(value, str) else None
        cut = "" if ratio == 1 else f"/ratio{ratio}"
        report = {
            "run": f"{dataset}/mlp_vis/{supernet}/seed{seed}{cut}",
            "dataset": dataset,
            "seed": seed,
            "stage": "subnetwork" if cut else "supernet",
            "ratio": float(ratio),
            "failed": failed,
            "metrics": {} if failed else {"valid_accuracy": value, "test_accuracy": 0.0},
            "disconnected": False,
        }
        path = folder / f"evaluation-{dataset}-{supernet}-{seed}-{ratio}.json"
        path.write_text(json.dumps(report))
        paths[f"ratio{ratio}"] = str(path)
    return {
        "dataset": dataset,
        "supernet": supernet,
        "method": method,
        "seed": seed,
        "evaluation": paths.pop("ratio1"),
        "cuts": paths,
        "missing": None,
    }


def absent(request: dict, reason: str) -> dict:
    return request | {"evaluation": None, "cuts": {}, "missing": reason}


EDGES = np.logspace(-4, 0, 5)  # four bins, one decade each


def histogram(folder: Path, dataset: str, supernet: str, seed: int, counts) -> dict:
    stem = folder / f"{dataset}-{supernet}-{seed}"
    write_arrays(f"{stem}.safetensors", {"counts": np.array(counts), "edges": EDGES})
    run = f"{dataset}/mlp_vis/{supernet}/seed{seed}"
    write_json(f"{stem}.json", {"run": run, "dataset": dataset})
    return {
        "dataset": dataset,
        "supernet": supernet,
        "seed": seed,
        "histograms": f"{stem}.safetensors",
        "report": f"{stem}.json",
    }


def trained(folder: Path, dataset: str, method: str, weight: np.ndarray, **network) -> dict:
    stem = folder / f"{dataset}-{method}"
    write_arrays(f"{stem}.safetensors", {"encoder.1.weight": weight.astype(np.float32)})
    run = f"{dataset}/net/{METHODS[method]}/seed0"
    report = {"run": run, "dataset": dataset, "first_layer": "encoder.1.weight", "network": network}
    write_json(f"{stem}.json", report)
    groups = [
        {"column": "age", "start": 0, "stop": 1},
        {"column": "colour", "start": 1, "stop": 4},
        {"column": "shape", "start": 4, "stop": 6},
    ]
    write_json(folder / "preprocessing.json", {"groups": groups})
    return {
        "dataset": dataset,
        "supernet": METHODS[method],
        "method": method,
        "seed": 0,
        "weights": f"{stem}.safetensors",
        "report": f"{stem}.json",
        "preprocessing": str(folder / "preprocessing.json"),
    }


def trials(folder: Path, method: str, lines: list[str], budget: int | None = None) -> dict:
    path = folder / f"{method}.csv"
    header = "number,state,score,seconds,fit_seconds,reason,flags,eta"
    path.write_text("\n".join([header, *lines]) + "\n")
    return {"dataset": "vehicle", "method": method, "trials": str(path), "budget": budget}


RANKS = {"iunet": 1.4, "omp": 2.2, "dense": 2.4, "xgb": 4.0}


P_VALUES = {
    "iunet": {"omp": 0.001, "dense": 0.2, "xgb": 0.001},
    "omp": {"dense": 0.9, "xgb": 0.01},
    "dense": {"xgb": 0.03},
}


def ratio_sweep(folder: Path) -> list[dict]:
    """Two data sets, all methods, two seeds; values say which point they are of."""
    return [
        evaluation(folder, dataset, method, seed, {1: 50 + i, 2: 60 + i + seed, 8: 40 + i - seed})
        for dataset in ("cifar10", "svhn")
        for i, method in enumerate(METHODS)
        for seed in (0, 1)
    ]


def three_histograms(folder: Path) -> list[dict]:
    return [
        histogram(folder, "svhn", "kappa0.25-sup", 0, [[10, 10, 0, 0], [0, 10, 10, 0]]),
        histogram(folder, "svhn", "kappa0.25-sup", 1, [[20, 0, 0, 0], [0, 10, 10, 0]]),
        histogram(folder, "svhn", "kappa1-sup", 0, [[0, 0, 5, 15], [0, 0, 10, 10]]),
    ]


def first_layers(folder: Path) -> tuple[list[dict], list[dict]]:
    """Networks of 2 × 2 images with 8 units, and of tables with 6 inputs and 5 units."""
    units = np.arange(1, 9)[:, None] * -np.linspace(0.1, 1.2, 12)[None, :]
    units[0] *= 100  # the largest norm
    image = [
        trained(folder, "cifar10", "iunet", units, side=2, channels=3),
        trained(folder, "cifar10", "omp", units / 2, side=2, channels=3),
    ]
    table = np.arange(30).reshape(5, 6) - 15.0
    tabular = [
        trained(folder, "arrhythmia", "iunet", table),
        trained(folder, "arrhythmia", "omp", table / 3),
    ]
    return image, tabular


def three_studies(folder: Path) -> list[dict]:
    return [
        trials(
            folder,
            "xgb",
            [
                "1,complete,70.5,1,1,,,0.1",
                "0,failed,,2.5,,out of memory,,0.2",
                "2,complete,65,1,1,,time_limit,0.3",
                "3,complete,80,1,1,,,0.3",
            ],
            budget=40,
        ),
        trials(folder, "tabnet", ["0,complete,60,1,1,,,0.1", "1,complete,61,1,1,,,0.1"], 2),
        trials(folder, "mlp_c", ["0,failed,,,,died,,0.1"], 1),
    ]
