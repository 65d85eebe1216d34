"""What the reports of runs (`evaluation.json`, `mask.json`, `choice-<method>.json`, …) say.

That a report belongs to its run is checked before by what it says of its own job
(iunet/provenance.py).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from iunet.artifacts import read_json, read_provenance
from iunet.errors import UserError, one_line
from iunet.labels import SCORES
from iunet.results.request import SECONDS, AskedRun

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
SECTIONS = ("consistency", "trained_consistency", "fresh_consistency")
MEASURED = ("same", "distinct_labels", "kappa")  # of a network under a transform
RANGES = {"distinct_labels": (1, math.inf), "kappa": (-1, 1), "total_s": (0, 1e12)}
PERCENTAGE = (0, 100)  # everything else
FIRST_LAYER = ("measure", "value", "shuffled", "ratio", "units", "left_out", "wide_features")
LAYER = {"weight": str, "shape": str, "kept": int, "dead_units": int, "density": float}
TRIAL = {
    **{"number": int, "state": str, "score": float, "seconds": float},
    **{"reason": str, "flags": str},
}
REDO = "The workflow wrote this file: delete it and run the same command again."

Report = dict[str, Any]
Read = Callable[[str], Report]  # `read_json` with a memory: runs share reports


def refuse(path: object, problem: str) -> NoReturn:
    raise UserError(f"{path} {problem}. {REDO}")


def read_run(run: AskedRun, read: Read) -> Report:
    """All values from the reports of a run."""
    path = run.files["evaluation"]
    report = read_json(path)
    failed, overlap = report.get("failed"), report.get("overlap_with_initial_mask")
    row: Report = {
        "ratio": report.get("ratio"),
        "chosen": _is_chosen(run, read),
        "failed": failed,
        "disconnected": bool(report.get("disconnected")),
        "overlap_with_initial_mask": overlap,
        "processor": processor_of(report),
        "id": (read_provenance(path) or {}).get("id"),
    }
    row |= {} if failed else _scores(report, path)
    row |= {key: (report.get("sizes") or {}).get(key) for key in SIZES}
    for section in SECTIONS:
        row |= _consistency(report, section, path)
    first = report.get("first_layer_mask") or {}
    _refuse_unknown(path, first, FIRST_LAYER)
    row |= {f"first_layer_{key}": value for key, value in first.items()}
    return row | _mask(run, overlap, read) | _times(run, read)


def _refuse_unknown(path: str, found: Iterable[str], known: Iterable[str]) -> None:
    if unknown := sorted(set(found) - set(known)):
        raise UserError(f"{path} measures {', '.join(unknown)}: runs.csv has no column for it.")


# ---- evaluations


def _scores(report: Report, path: str) -> dict[str, float]:
    """The scores, in percent, of a network that did not fail.

    A tuned baseline is refitted on train and valid, so on valid it has only its trial's score.
    """
    metrics = report.get("metrics") or {}
    valid_may_lack = report["stage"] == "tuned" and bool(metrics)
    found = {}
    for key in SCORED:
        if key in metrics:
            found[key] = _number(metrics[key], key, path)
        elif not (valid_may_lack and key.startswith("valid")):
            refuse(path, f"has no metric '{key}'")
    return found


def _number(value: Any, place: str, path: str) -> float:
    """A number within the range of its kind; NaN lies in none."""
    low, high = limits = RANGES.get(place.rpartition(".")[2], PERCENTAGE)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not low <= value <= high:
        raise UserError(
            f"{path}: '{place}' is {value!r}, not a number from {low} to {high}. {REDO}"
        )
    return float(value) if limits is PERCENTAGE else value


def _consistency(report: Report, section: str, path: str) -> Report:
    found = {}
    measured = report.get(section) or {}
    _refuse_unknown(path, measured, TRANSFORMS)
    for transform, entry in measured.items():
        for key in MEASURED:
            value = entry.get(key)
            if value is not None or key != "kappa":  # which a constant predictor lacks
                value = _number(value, f"{section}.{transform}.{key}", path)
            found[f"{section}_{transform}_{key}"] = value
    return found


def processor_of(report: Report) -> str | None:
    """The GPU or CPU that made a network: only the same one repeats the same bits.

    None for tuned baselines and for the oldest reports, which do not name their CPU.
    """
    environment = report.get("environment") or {}
    if "cpu" not in environment:
        return None
    return environment["cpu" if environment["device_type"] == "cpu" else "device"]


# ---- masks, times and choices


def _mask(run: AskedRun, overlap: float | None, read: Read) -> Report:
    """The layers of a mask, as lists.

    Networks that differ only in their initial weights share a mask's report. If the mask was
    computed again on another processor, it may not be the one that was evaluated.
    """
    if "mask" not in run.files:
        return {}
    report = read(run.files["mask"])
    layers = [layer | {"shape": "x".join(map(str, layer["shape"]))} for layer in report["layers"]]
    found = {f"layer_{key}": [layer[key] for layer in layers] for key in LAYER}
    of_mask = report["overlap_with_initial_mask"]
    return found | {"mask_overlap": of_mask, "own_mask": of_mask == overlap}


def _times(run: AskedRun, read: Read) -> Report:
    row: Report = {}
    for stage in SECONDS:
        if path := run.files.get(stage):
            seconds = (read(path).get("times") or {}).get("total_s")
            row[f"{stage}_seconds"] = _number(seconds, "times.total_s", path)
    if "study" in run.files:
        study = read(run.files["study"])
        row |= {f"trials_{key}": value for key, value in study["counts"].items()}
        row["best_trial"] = study["best"]["number"] + 1
    return row


def _is_chosen(run: AskedRun, read: Read) -> bool | None:
    """Whether a candidate was chosen; None before the choice, and where there is none."""
    if "choice" not in run.files:
        return None
    chosen = read(run.files["choice"])["chosen"]
    return chosen is not None and (chosen["supernet"], chosen["cut"]) == (run.supernet, run.cut)


# ---- data sets


GREY_SCALE = " (grey-scale, as three equal channels)"


def read_dataset(path: str) -> Report:
    """The statistics of a data set from the report of its split, for tables 8 and 9."""
    split = read_json(path)
    provenance = split["provenance"]
    totals = [sum(entry[part] for part in ("train", "valid", "test")) for entry in split["classes"]]
    task = provenance.get("task_id") or provenance.get("instead_of", {}).get("location")
    sizes = {key: split[key] for key in ("n_train", "n_valid", "n_test", "n_classes")}
    side, grey = split.get("side", 0), GREY_SCALE if provenance.get("grey_scale") else ""
    return sizes | {
        "n_rows": sum(totals),
        "n_features": split.get("n_features"),
        "n_inputs": split.get("n_inputs") or split.get("channels", 3) * side**2,
        "side": side,
        "majority_pct": 100 * max(totals) / sum(totals),
        "minority_pct": 100 * min(totals) / sum(totals),
        "openml_task_id": int(task) if task and split.get("kind") != "vision" else None,
        "source": provenance.get("source") and provenance["source"] + grey,
        "subset": json.dumps(provenance["subset"]) if provenance.get("subset") else None,
    }


def subset_text(subset: str | None) -> str | None:
    """In words, which part of the official data a split has; `subset` is as in runs.csv."""
    if not subset:
        return None
    counts = json.loads(subset)
    if "n_rows" in counts:
        return "{n_rows} of {official_n_rows} rows".format(**counts)
    return "{n_train}+{n_test} of {official_n_train}+{official_n_test} images".format(**counts)


# ---- trials


def read_trials(path: str) -> list[Report]:
    """The trials of a study, by number; a failed one has no score."""
    import pandas as pd

    try:
        trials = pd.read_csv(path, dtype=TRIAL)[[*TRIAL]]
    except (OSError, ValueError, KeyError) as error:
        refuse(path, f"cannot be read as the trials of a study ({one_line(error)})")
    if trials["score"].isna().ne(trials["state"] == "failed").any():
        refuse(path, "has successful trials without a score, or failed trials with one")
    trials = trials.astype(object).where(trials.notna(), None).sort_values("number")
    return trials.to_dict("records")
