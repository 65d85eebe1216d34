"""Reports of runs, read and checked: what is damaged or belongs to another run is refused by name.

A report is an `evaluation.json`, a `mask.json`, a choice a `choice-<method>.json`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from iunet.artifacts import read_json, read_provenance
from iunet.errors import UserError
from iunet.labels import SCORES
from iunet.results.request import SECONDS, AskedRun
from iunet.runs.names import base_network

SCORED = [f"{part}_{score}" for part in ("valid", "test") for score in SCORES]
SIZES = [
    "encoder_weights",
    "kept_encoder_weights",
    "encoder_compression",
    "parameters",
    "kept_parameters",
    "model_compression",
    "flops_dense",
    "flops_sparse",
    "members",
    "ensemble_kept_parameters",
    "ensemble_flops_sparse",
]
TRANSFORMS = ("resize", "horiz", "color", "graysc", "feat")  # of images, and of tables
SECTIONS = ("consistency", "trained_consistency")
MEASURED = ("same", "distinct_labels", "kappa")  # of a network under a transform
FIRST_LAYER = ("measure", "value", "shuffled", "ratio", "units", "left_out", "wide_features")
REDO = "It is an artifact of the workflow: delete it and run the same command again."


Read = Callable[[str], dict[str, Any]]  # `read_json`, perhaps with a memory: runs share reports


def read_run(
    run: AskedRun, candidates: set[tuple[str, str]], read: Read = read_json
) -> dict[str, Any]:
    """All that the reports of a run say of it; `candidates` are those of its method."""
    path = run.files["evaluation"]
    report = _read_evaluation(path, run)
    failed = report.get("failed")
    row: dict[str, Any] = {
        "ratio": report.get("ratio"),
        "chosen": _is_chosen(run, candidates, read),
        "failed": failed,
        "disconnected": bool(report.get("disconnected")),
        "overlap_with_initial_mask": report.get("overlap_with_initial_mask"),
        "processor": processor_of(report),
        "id": (read_provenance(path) or {}).get("id"),
    }
    row |= {} if failed else _scores(report, path)
    row |= {key: (report.get("sizes") or {}).get(key) for key in SIZES}
    for section in SECTIONS:
        row |= _consistency(report, section, path)
    row |= _first_layer(report, path)
    if "mask" in run.files:
        row |= _layers(run, row["overlap_with_initial_mask"], read)
    return row | _times(run, read)


# ---- evaluations


def _read_evaluation(path: str, run: AskedRun) -> dict[str, Any]:
    """The report at `path`, once it is found to be that of the run."""
    report = read_json(path)
    for key in ("dataset", "seed", "stage"):
        _check_same(path, "report", key, report.get(key), getattr(run, key), run)
    network = report.get("network")
    name = network.get("name") if isinstance(network, dict) else network
    known = (base_network(run.network), run.method)
    if name not in known and not (name is None and run.stage == "tuned"):
        raise UserError(
            f"{path} is the report of network '{name}', but '{run.network}' was asked for ({run}). "
            f"{REDO}"
        )
    return report


def _check_same(path: str, kind: str, key: str, found: Any, asked: Any, run: AskedRun) -> None:
    if found != asked:
        raise UserError(
            f"{path} is the {kind} of {key} {found!r}, but {asked!r} was asked for ({run}). {REDO}"
        )


def _scores(report: dict[str, Any], path: str) -> dict[str, float]:
    """The scores of a network that did not fail: percentages, every one.

    A tuned baseline is fitted again on train and valid, so of valid it has its trial's score only.
    """
    metrics = report.get("metrics")
    found = {}
    for key in SCORED:
        if not isinstance(metrics, dict) or key not in metrics:
            if isinstance(metrics, dict) and report["stage"] == "tuned" and key[:5] == "valid":
                continue
            raise UserError(f"{path} lacks the metric '{key}'. {REDO}")
        found[key] = _percentage(metrics[key], key, path)
    return found


def _percentage(value: Any, key: str, path: str) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= 100:
        raise UserError(f"{path}: '{key}' is {value!r}, which is no percentage. {REDO}")
    return float(value)


def _consistency(report: dict[str, Any], section: str, path: str) -> dict[str, Any]:
    found = {}
    for transform, entry in (report.get(section) or {}).items():
        place = f"{section}.{transform}"
        if transform not in TRANSFORMS:
            raise UserError(f"{path} measures '{place}', for which runs.csv has no column.")
        distinct, kappa = entry.get("distinct_labels"), entry.get("kappa")
        if not isinstance(distinct, int) or distinct < 1:
            raise UserError(
                f"{path}: '{place}.distinct_labels' is {distinct!r}, which is no number of labels. "
                f"{REDO}"
            )
        if kappa is not None and not (isinstance(kappa, int | float) and -1 <= kappa <= 1):
            raise UserError(f"{path}: '{place}.kappa' is {kappa!r}, which is no kappa. {REDO}")
        values = (_percentage(entry.get("same"), f"{place}.same", path), distinct, kappa)
        found |= {f"{section}_{transform}_{m}": v for m, v in zip(MEASURED, values, strict=True)}
    return found


def _first_layer(report: dict[str, Any], path: str) -> dict[str, Any]:
    found = report.get("first_layer_mask") or {}
    if unknown := set(found) - set(FIRST_LAYER):
        names = ", ".join(sorted(unknown))
        raise UserError(f"{path} measures {names}, for which runs.csv has no column.")
    return {f"first_layer_{key}": value for key, value in found.items()}


def processor_of(report: dict[str, Any]) -> str | None:
    """The GPU or CPU that a network was made with, since bits repeat on the same one only.

    None of tuned baselines and of the oldest reports, which do not name their CPU.
    """
    environment = report.get("environment") or {}
    if "cpu" not in environment:
        return None
    return environment["cpu" if environment["device_type"] == "cpu" else "device"]


# ---- masks and times


def _layers(run: AskedRun, overlap: float | None, read: Read) -> dict[str, Any]:
    """The layers of a mask, as lists.

    Networks that differ in their initial weights share a mask's report. Where the mask was found
    again on another processor, it is not the one that this network was evaluated with.
    """
    path = run.files["mask"]
    report = read(path)
    for key in ("dataset", "seed"):
        _check_same(path, "mask", key, report.get(key), getattr(run, key), run)
    layers = report.get("layers")
    if not layers:
        raise UserError(f"{path} has no layers ({run}). {REDO}")
    found = {f"layer_{key}": [layer[key] for layer in layers] for key in ("weight", "kept")}
    found["layer_shape"] = ["x".join(map(str, layer["shape"])) for layer in layers]
    found["layer_dead_units"] = [layer["dead_units"] for layer in layers]
    found["layer_density"] = [layer["density"] for layer in layers]
    of_mask = report["overlap_with_initial_mask"]
    return found | {"mask_overlap": of_mask, "own_mask": of_mask == overlap}


def _times(run: AskedRun, read: Read) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for stage in SECONDS:
        if stage in run.files:
            row[f"{stage}_seconds"] = _seconds(run.files[stage], read)
    if "study" in run.files:
        study = read(run.files["study"])
        row |= {f"trials_{key}": value for key, value in study["counts"].items()}
        row["best_trial"] = study["best"]["number"] + 1
    return row


def _seconds(path: str, read: Read) -> float:
    times = read(path).get("times")
    seconds = times.get("total_s") if isinstance(times, dict) else None
    if not isinstance(seconds, int | float) or not math.isfinite(seconds) or seconds < 0:
        raise UserError(f"{path} has no time: 'times.total_s' is {seconds!r}. {REDO}")
    return seconds


# ---- choices


def _is_chosen(run: AskedRun, candidates: set[tuple[str, str]], read: Read) -> bool | None:
    """Whether a candidate was chosen; None before the choice, and where there is none."""
    if "choice" not in run.files:
        return None
    chosen = _read_choice(run.files["choice"], run, read)["chosen"]
    if chosen is None:
        return False
    pair = (chosen["supernet"], chosen["cut"])
    if pair not in candidates:
        raise UserError(
            f"{run.files['choice']} chooses '{'/'.join(pair)}', which is not among the runs that "
            f"are asked for: {', '.join(map('/'.join, sorted(candidates)))}. {REDO}"
        )
    return pair == (run.supernet, run.cut)


def _read_choice(path: str, run: AskedRun, read: Read) -> dict[str, Any]:
    choice = read(path)
    for key in ("dataset", "network", "method", "chosen", "candidates"):
        if key not in choice:
            raise UserError(f"{path} is not a choice: it lacks '{key}'. {REDO}")
    for key in ("dataset", "network", "method"):
        _check_same(path, "choice", key, choice[key], getattr(run, key), run)
    chosen = choice["chosen"]
    pairs = [(c.get("supernet"), c.get("cut")) for c in choice["candidates"]]
    if chosen is not None and (chosen.get("supernet"), chosen.get("cut")) not in pairs:
        raise UserError(f"{path} chooses {chosen!r}, which is none of its candidates. {REDO}")
    return choice


# ---- data sets


def read_dataset(path: str, dataset: str) -> dict[str, Any]:
    """What the report of a split says of a data set (iunet/tables/table8.py and table9.py)."""
    split = read_json(path)
    if split.get("dataset") != dataset:
        raise UserError(
            f"{path} is the split of {split.get('dataset')!r}, but {dataset!r} was asked for. "
            f"{REDO}"
        )
    provenance = split["provenance"]
    totals = [sum(entry[part] for part in ("train", "valid", "test")) for entry in split["classes"]]
    task = provenance.get("task_id") or provenance.get("instead_of", {}).get("location")
    sizes = {key: split[key] for key in ("n_train", "n_valid", "n_test", "n_classes")}
    side = split.get("side", 0)
    return sizes | {
        "n_rows": sum(totals),
        "n_features": split.get("n_features"),
        "n_inputs": split.get("n_inputs") or split.get("channels", 3) * side**2,
        "side": side,
        "majority_pct": 100 * max(totals) / sum(totals),
        "minority_pct": 100 * min(totals) / sum(totals),
        "openml_task_id": int(task) if task and split.get("kind") != "vision" else None,
        "source": provenance.get("source"),
        "subset": json.dumps(provenance["subset"]) if provenance.get("subset") else None,
    }


def subset_text(subset: str | None) -> str | None:
    """Which part of the official data a split has, in words; `subset` as in runs.csv."""
    if not subset:
        return None
    counts = json.loads(subset)
    if "n_rows" in counts:
        return "{n_rows} of {official_n_rows} rows".format(**counts)
    return "{n_train}+{n_test} of {official_n_train}+{official_n_test} images".format(**counts)
