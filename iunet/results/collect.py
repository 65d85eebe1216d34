"""Evaluations, choices, masks and times of runs as one tidy data frame, with three small ones."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.results.reports import read_dataset, read_run
from iunet.results.request import AskedRun, Request, asked_runs, split_reports, studies
from iunet.results.runs_csv import COLUMNS, KEY, TEXTS, layer_lists, read_records
from iunet.runs.entries import NOT_FINISHED, Benchmark
from iunet.runs.names import CutName, SupernetName, base_network, network_variant, parse_changes
from iunet.runs.settings import Config

if TYPE_CHECKING:
    import pandas as pd

Record = dict[str, Any]
BOOLEANS = ("chosen", "disconnected", "own_mask")
# Beyond the columns of runs.csv. κ, λ, α and the supernet's epochs follow from the names.
SETTINGS = ("kappa", "objective", "l1", "lambda", "alpha", "epochs")
FRAME = [*COLUMNS, "mask_overlap", *SETTINGS, "study", "missing"]
FRAME_TEXTS = (*TEXTS, "objective", "study", "missing", "kind", "source")
LAYERS = [*KEY, "layer", "weight", "shape", "kept", "density", "units", "dead_units"]
DATASET = [
    *("dataset", "kind", "missing", "n_rows", "n_train", "n_valid", "n_test", "n_classes"),
    *("n_features", "n_inputs", "side", "majority_pct", "minority_pct", "openml_task_id"),
    *("source", "subset"),
]


@dataclass(frozen=True)
class Results:
    """Tidy frames of what a request asks for.

    `runs` has a row for every network that was evaluated, or is missing: the columns of runs.csv
    (iunet/results/runs_csv.py), the settings that its names hold, and `missing`, the reason why a
    run that is asked for is not there. `layers` has a row for every layer of their masks,
    `datasets` one for every data set, `trials` one for every trial of a study.
    """

    runs: pd.DataFrame
    layers: pd.DataFrame
    datasets: pd.DataFrame
    trials: pd.DataFrame


def collect(bench: Benchmark, request: Request, runs_csv: str | Path | None = None) -> Results:
    """What a request asks for, from the reports below the config's root, or from a runs.csv.

    A runs.csv knows no splits and no trials: of data sets it says only which part of them ran.
    """
    import pandas as pd

    rows = None if runs_csv is None else read_records(runs_csv)
    found = records(bench, request, rows)
    datasets = _dataset_records(bench, request, rows)
    trials = _trial_records(bench, request)
    return Results(
        runs_frame(found, bench.config),
        layers_frame(found),
        typed(pd.DataFrame(datasets, columns=DATASET)),
        pd.DataFrame(trials),
    )


def records(bench: Benchmark, request: Request, rows: list[Record] | None = None) -> list[Record]:
    """A record for every run that is asked for; of a missing one, where it belongs and why.

    From the reports, or from the rows of a runs.csv.
    """
    asked = asked_runs(bench, request)
    _refuse_repeated(asked)
    if rows is not None:
        return _records_of_csv(asked, rows)
    candidates: dict[tuple, set[tuple[str, str]]] = {}
    for run in asked:
        candidates.setdefault(run.key[:3], set()).add((run.supernet, run.cut or ""))
    read = functools.cache(read_json)
    splits = split_reports(bench, request.dataset_names())
    subsets = {name: read_dataset(path, name)["subset"] for name, path in splits.items()}
    found = []
    for run in asked:
        content = {} if run.missing else read_run(run, candidates[run.key[:3]], read)
        if not run.missing:
            content["subset"] = subsets.get(run.dataset)
        found.append(_record(run) | content)
    return found


def _refuse_repeated(asked: list[AskedRun]) -> None:
    """A seed counted twice would make a spread look smaller than it is."""
    seen: set[tuple] = set()
    for run in asked:
        if run.key in seen:
            raise UserError(f"The same run is asked for twice ({run}). Each seed counts once.")
        seen.add(run.key)


def _record(run: AskedRun) -> Record:
    keys = ("dataset", "network", "method", "seed", "stage", "supernet", "cut", "study", "missing")
    ratio = CutName.parse(run.cut).ratio if run.cut else None
    return {key: getattr(run, key) for key in keys} | {"ratio": ratio}


def _records_of_csv(asked: list[AskedRun], rows: list[Record]) -> list[Record]:
    known = {tuple(row[key] for key in KEY): row for row in rows}
    masks = {_mask_key(row): row for row in rows if row["layer_weight"]}
    found = []
    for run in asked:
        row = known.get(run.key)
        reason = _impossible(run) or (None if row else NOT_FINISHED)
        record = _record(run) | {"missing": reason}
        if row and not reason:
            record |= row
            if run.cut and (mask := masks.get(_mask_key(row))):
                lists = {key: value for key, value in mask.items() if key.startswith("layer_")}
                record |= lists | {"mask_overlap": mask["overlap_with_initial_mask"]}
        found.append(record)
    return found


def _impossible(run: AskedRun) -> str | None:
    return run.missing if run.missing != NOT_FINISHED else None


def _mask_key(row: Record) -> tuple:
    """Networks that differ in their initial weights share a mask."""
    folder = CutName.parse(row["cut"]).folder if row["cut"] else None
    return (row["dataset"], row["network"], row["seed"], row["supernet"], folder)


# ---- frames


def runs_frame(found: list[Record], config: Config | None = None) -> pd.DataFrame:
    """A frame with all columns; numbers that a record lacks are NaN, texts None."""
    import pandas as pd

    named = [settings_in_names(record, config) | record for record in found]
    return typed(pd.DataFrame(named, columns=FRAME))


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Texts are objects (None where there is none), truth is three-valued, all else numbers."""
    import pandas as pd

    columns = {}
    for name in frame.columns:
        if name in FRAME_TEXTS or name.startswith("layer_"):
            texts = frame[name].astype(object)
            columns[name] = texts.where(texts.notna(), None)
        elif name in BOOLEANS:
            columns[name] = frame[name].astype("boolean")
        else:
            columns[name] = pd.to_numeric(frame[name])
    return pd.DataFrame(columns, index=frame.index)


def read_runs_csv(path: str | Path, config: Config | None = None) -> pd.DataFrame:
    """The runs of a runs.csv as `collect` gives them.

    λ, α and epochs stand in a name only where they are not the config's: without one, only those.
    """
    return runs_frame(read_records(path), config)


def settings_in_names(record: Record, config: Config | None) -> Record:
    """κ, objective, l1, λ, α and epochs of a run."""
    base = base_network(record["network"])
    defaults = (config or {}).get("networks", {}).get(base, {})
    found: Record = {"alpha": defaults.get("alpha")}
    found |= _only(parse_changes(network_variant(record["network"])), "alpha")
    if record["stage"] in ("dense", "tuned") or not record["supernet"]:
        return found
    name = SupernetName.parse(record["supernet"])
    section = config["train"]["supernet"] if config else {}
    found |= _only(section, "lambda" if name.l1 is None else "", "epochs")
    found |= _only(parse_changes(name.variant), "lambda", "epochs")
    return found | {"kappa": float(name.kappa), "objective": name.objective, "l1": name.l1}


def _only(content: Record, *keys: str) -> Record:
    return {key: content[key] for key in keys if key in content}


def layers_frame(found: list[Record]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for record in found:
        if not record.get("layer_weight") or record["missing"]:
            continue
        lists = layer_lists(record)
        for number, layer in enumerate(lists, start=1):
            rows.append({key: record[key] for key in KEY} | {"layer": number} | layer)
    return pd.DataFrame(rows, columns=LAYERS)


def _dataset_records(bench: Benchmark, request: Request, rows: list[Record] | None) -> list[Record]:
    """One for every data set; without splits, what the rows of a runs.csv say."""
    names = request.dataset_names()
    subsets = {row["dataset"]: row.get("subset") for row in rows or () if row.get("subset")}
    splits = {} if rows is not None else split_reports(bench, names)
    found = []
    for name in names:
        reason = bench.unavailable.get(name)
        record = {"dataset": name, "kind": bench.registry[name].kind}
        if name in splits:
            record |= read_dataset(splits[name], name)
        else:
            reason = reason or (NOT_FINISHED if rows is None else None)
            record["subset"] = subsets.get(name)
        found.append(record | {"missing": reason})
    return found


def _trial_records(bench: Benchmark, request: Request) -> list[Record]:
    """Every trial of every study; a missing study is a record with the reason."""
    from iunet.results.trials import read_trials

    found = []
    for cell, study, path, missing in studies(bench, request):
        head = {"dataset": cell.dataset, "method": cell.method.name, "study": study}
        if missing:
            found.append(head | {"missing": missing})
        else:
            found += [head | trial | {"missing": None} for trial in read_trials(path)]
    return found
