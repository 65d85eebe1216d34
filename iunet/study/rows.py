"""runs.csv: a row for every network that was evaluated, with all that the tables say of it.

Texts are as they are, numbers in full precision, empty cells mean that a network has no such
number. Lists (of layers) are separated by spaces. `iunet.study.restore` makes reports of rows
again.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from iunet.artifacts import read_json, read_provenance, write_text
from iunet.errors import UserError, one_line
from iunet.runs.requests import Requests
from iunet.tables.frame import MEASURED, SIZES
from iunet.tables.render.forms import csv_text
from iunet.tables.reports import SCORED, read_choice, read_evaluation

TRANSFORMS = ("resize", "horiz", "color", "graysc", "feat")  # of images, and of tables
SECTIONS = ("consistency", "trained_consistency")
FIRST_LAYER = ("measure", "value", "shuffled", "ratio", "units", "left_out", "wide_features")
LAYERS = ("weight", "shape", "kept", "dead_units")  # of a mask; densities follow
SECONDS = ("supernet", "finetune", "decoder", "refit", "study")
TEXTS = (
    *("dataset", "network", "method", "stage", "supernet", "cut"),
    *("failed", "subset", "processor", "id"),
)
YES, NO = "yes", "no"
COLUMNS = [
    *("dataset", "network", "method", "seed", "stage", "supernet", "cut", "ratio"),
    *("chosen", "failed", "disconnected"),
    *SCORED,
    *SIZES,
    "overlap_with_initial_mask",
    *(f"{s}_{t}_{m}" for s in SECTIONS for t in TRANSFORMS for m in MEASURED),
    *(f"first_layer_{key}" for key in FIRST_LAYER),
    *(f"layer_{key}" for key in LAYERS),
    "layer_density",
    *(f"{stage}_seconds" for stage in SECONDS),
    "trials_complete",
    "trials_failed",
    "best_trial",
    "subset",
    "processor",
    "id",
]


def write_rows(requests: Requests, path: str) -> None:
    """runs.csv of requests (iunet/study/requests.py)."""
    write_text(path, csv_text([row_of(request) for request in requests], COLUMNS))


def row_of(request: dict[str, Any]) -> dict[str, Any]:
    files = request["files"]
    report = read_evaluation(files["evaluation"], request)
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {key: request[key] for key in ("dataset", "network", "method", "seed", "stage")}
    row |= {"supernet": request["supernet"], "cut": request["cut"], "ratio": report["ratio"]}
    row |= {"chosen": _chosen(request), "failed": report["failed"]}
    row["disconnected"] = YES if report["disconnected"] else NO
    row |= {key: report["metrics"].get(key) for key in SCORED}
    row |= {key: (report.get("sizes") or {}).get(key) for key in SIZES}
    row["overlap_with_initial_mask"] = report.get("overlap_with_initial_mask")
    for section in SECTIONS:
        for transform, values in (report.get(section) or {}).items():
            row |= {f"{section}_{transform}_{m}": values[m] for m in MEASURED}
    first = report.get("first_layer_mask") or {}
    row |= {f"first_layer_{key}": value for key, value in first.items()}
    row["processor"] = processor_of(report)
    if "mask" in files:
        mask = read_json(files["mask"])
        # Networks that differ in their initial weights share a mask's report. Where it was found
        # again on another processor, it is not the one that this network was evaluated with.
        if mask["overlap_with_initial_mask"] == row["overlap_with_initial_mask"]:
            row |= _layers(mask)
    for stage in SECONDS:
        if stage in files:
            row[f"{stage}_seconds"] = read_json(files[stage])["times"]["total_s"]
    if "study" in files:
        study = read_json(files["study"])
        row |= {f"trials_{key}": value for key, value in study["counts"].items()}
        row["best_trial"] = study["best"]["number"] + 1
    subset = read_json(files["split"])["provenance"].get("subset") if "split" in files else None
    row["subset"] = json.dumps(subset) if subset else None
    row["id"] = (read_provenance(files["evaluation"]) or {}).get("id")
    if unknown := set(row) - set(COLUMNS):
        raise UserError(
            f"{files['evaluation']} measures {', '.join(sorted(unknown))}, for which runs.csv has "
            "no column."
        )
    return row


def processor_of(report: dict[str, Any]) -> str | None:
    """The GPU or CPU that a network was made with, since bits repeat on the same one only.

    None of tuned baselines and of the oldest reports, which do not name their CPU.
    """
    environment = report.get("environment") or {}
    if "cpu" not in environment:
        return None
    return environment["cpu" if environment["device_type"] == "cpu" else "device"]


def _chosen(request: dict[str, Any]) -> str | None:
    """Whether a candidate was chosen; None before the choice, and where there is none."""
    path = request["files"].get("choice")
    if path is None:
        return None
    chosen = read_choice(path, request | {"own_choice": True})["chosen"]
    own = (request["supernet"], request["cut"])
    return YES if chosen and (chosen["supernet"], chosen["cut"]) == own else NO


def _layers(report: dict[str, Any]) -> dict[str, str]:
    layers = report["layers"]
    shapes = ["x".join(map(str, layer["shape"])) for layer in layers]
    lists = {
        "weight": [layer["weight"] for layer in layers],
        "shape": shapes,
        "kept": [layer["kept"] for layer in layers],
        "dead_units": [layer["dead_units"] for layer in layers],
        "density": [layer["density"] for layer in layers],
    }
    return {f"layer_{key}": " ".join(map(str, values)) for key, values in lists.items()}


def read_rows(path: str | Path) -> list[dict[str, Any]]:
    """The rows of a runs.csv, with numbers as numbers and None for empty cells."""
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != COLUMNS:
                raise UserError(
                    f"{path} has other columns than this version writes: it was made by another "
                    "version. Make it again with the rule `rows`."
                )
            return [_parsed(row, f"{path}, line {reader.line_num}") for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} cannot be read as runs.csv ({one_line(error)}).") from error


def _parsed(row: dict[str, str], where: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, text in row.items():
        as_text = key in TEXTS or key in ("chosen", "disconnected", "first_layer_measure")
        if not text:
            values[key] = None
        elif as_text or key.startswith("layer_"):
            values[key] = text
        else:
            values[key] = _number(text, key, where)
    return values


def _number(text: str, key: str, where: str) -> int | float:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise UserError(f"{where}: '{key}' is '{text}', which is no number.") from None
