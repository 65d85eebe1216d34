"""Inputs of figures, and what is asked of the drawn ones."""

from __future__ import annotations

import csv
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


def evaluated(dataset: str, method: str, seed: int, values: dict, missing=None) -> list[dict]:
    """Records of runs, one for each ratio: `values` are accuracies, or a failure, or None.

    None means that the run is not there; `missing` says why.
    """
    found = []
    for ratio, value in values.items():
        record = {"dataset": dataset, "network": "mlp_vis", "method": method, "seed": seed}
        record |= {"supernet": METHODS[method], "cut": None if ratio == 1 else f"ratio{ratio}"}
        record |= {"stage": "supernet" if ratio == 1 else "subnetwork", "ratio": ratio}
        record |= {"valid_accuracy": None if isinstance(value, str) else value}
        record |= {"failed": value if isinstance(value, str) else None, "disconnected": False}
        found.append(record | {"missing": (missing or "not finished") if value is None else None})
    return found


EDGES = np.logspace(-4, 0, 5)  # four bins, one decade each


def supernet(folder: Path, dataset: str, method: str, seed: int, arrays: dict, **more) -> dict:
    """A supernet as `trained_supernets` gives it, with its files written."""
    stem = folder / f"{dataset}-{method}-{seed}"
    write_arrays(f"{stem}.safetensors", arrays)
    run = {"dataset": dataset, "network": "net", "supernet": METHODS[method], "seed": seed}
    name = f"{dataset}/net/{METHODS[method]}/seed{seed}"
    write_json(f"{stem}.json", {"run": name, "dataset": dataset, **more})
    files = {"arrays": f"{stem}.safetensors", "report": f"{stem}.json"}
    return run | {"method": method, "kind": "vision", "missing": None, "files": files}


def gone(supernet: dict, reason: str) -> dict:
    return supernet | {"missing": reason, "files": {}}


def trained(folder: Path, dataset: str, method: str, weight: np.ndarray, **network) -> dict:
    """Of images if the network has a side, else of a table."""
    weights = {"encoder.1.weight": weight.astype(np.float32)}
    more = {"first_layer": "encoder.1.weight", "network": network}
    found = supernet(folder, dataset, method, 0, weights, **more)
    if not network:
        groups = [
            {"column": "age", "start": 0, "stop": 1},
            {"column": "colour", "start": 1, "stop": 4},
            {"column": "shape", "start": 4, "stop": 6},
        ]
        write_json(folder / "preprocessing.json", {"groups": groups})
        found["files"]["preprocessing"] = str(folder / "preprocessing.json")
        found["kind"] = "tabular"
    return found


def trials(folder: Path, method: str, lines: list[str]) -> tuple[str, str, str | None]:
    path = folder / f"{method}.csv"
    header = "number,state,score,seconds,fit_seconds,reason,flags,eta"
    path.write_text("\n".join([header, *lines]) + "\n")
    return method, str(path), None


RANKS = {"iunet": 1.4, "omp": 2.2, "dense": 2.4, "xgb": 4.0}


P_VALUES = {
    "iunet": {"omp": 0.001, "dense": 0.2, "xgb": 0.001},
    "omp": {"iunet": 0.001, "dense": 0.9, "xgb": 0.01},
    "dense": {"iunet": 0.2, "omp": 0.9, "xgb": 0.03},
    "xgb": {"iunet": 0.001, "omp": 0.01, "dense": 0.03},
}
RANKING = {"ranks": RANKS, "p_values": P_VALUES, "n_datasets": 40, "problem": None}


def ratio_sweep() -> list[dict]:
    """Two data sets, all methods, two seeds; values say which point they are of."""
    return [
        record
        for dataset in ("cifar10", "svhn")
        for i, method in enumerate(METHODS)
        for seed in (0, 1)
        for record in evaluated(
            dataset, method, seed, {1: 50 + i, 2: 60 + i + seed, 8: 40 + i - seed}
        )
    ]


def three_histograms(folder: Path) -> list[dict]:
    counts = {
        ("iunet_no_ilo", 0): [[10, 10, 0, 0], [0, 10, 10, 0]],
        ("iunet_no_ilo", 1): [[20, 0, 0, 0], [0, 10, 10, 0]],
        ("omp", 0): [[0, 0, 5, 15], [0, 0, 10, 10]],
    }
    return [
        supernet(folder, "svhn", method, seed, {"counts": np.array(values), "edges": EDGES})
        for (method, seed), values in counts.items()
    ]


def four_first_layers(folder: Path) -> list[dict]:
    """Networks of 2 × 2 images with 8 units, and of tables with 6 inputs and 5 units."""
    units = np.arange(1, 9)[:, None] * -np.linspace(0.1, 1.2, 12)[None, :]
    units[0] *= 100  # the largest norm
    table = np.arange(30).reshape(5, 6) - 15.0
    return [
        trained(folder, "cifar10", "iunet", units, side=2, channels=3),
        trained(folder, "cifar10", "omp", units / 2, side=2, channels=3),
        trained(folder, "arrhythmia", "iunet", table),
        trained(folder, "arrhythmia", "omp", table / 3),
    ]


def three_studies(folder: Path) -> list[tuple[str, str, str | None]]:
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
        ),
        trials(folder, "tabnet", ["0,complete,60,1,1,,,0.1", "1,complete,61,1,1,,,0.1"]),
        trials(folder, "mlp_c", ["0,failed,,,,died,,0.1"]),
    ]
