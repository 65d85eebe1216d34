"""Evaluations, choices, masks and times of runs as one tidy data frame, and one of data sets."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iunet.artifacts import read_json
from iunet.baselines.catalog import LEARNERS
from iunet.results.reports import read_dataset, read_run, subset_text
from iunet.results.request import AskedRun, Request, asked_runs, split_reports
from iunet.results.runs_csv import COLUMNS, KEY, TEXTS, read_records
from iunet.runs.entries import NOT_FINISHED, Benchmark
from iunet.runs.names import CutName, SupernetName, base_network, network_variant, parse_changes
from iunet.runs.settings import Config, network_kind

if TYPE_CHECKING:
    import pandas as pd

Record = dict[str, Any]
BOOLEANS = ("chosen", "disconnected", "own_mask")
# Beyond the columns of runs.csv; κ, λ, α and the supernet's epochs follow from the names. Also
# `valid_primary` and `test_primary`: accuracy of images, balanced accuracy of tables.
SETTINGS = ("kappa", "objective", "l1", "lambda", "alpha", "epochs")
FRAME = [*COLUMNS, "mask_overlap", *SETTINGS, "study", "missing"]
DATASET = [
    *("dataset", "kind", "missing", "n_rows", "n_train", "n_valid", "n_test", "n_classes"),
    *("n_features", "n_inputs", "side", "majority_pct", "minority_pct", "openml_task_id"),
    *("source", "subset"),
]
FRAME_TEXTS = (*TEXTS, "objective", "study", "missing", "kind", "source", "transform")


@dataclass(frozen=True)
class Results:
    """Tidy frames of what a request asks for.

    `runs` has a row for every network that was evaluated or is missing: the columns of runs.csv
    (iunet/results/runs_csv.py), the settings in its names, and `missing`, the reason why a run
    is not there. `datasets` has a row for every data set.
    """

    runs: pd.DataFrame
    datasets: pd.DataFrame
    artifacts: list[str] = field(default_factory=list)  # files that a table opens itself
    settings: Record = field(default_factory=dict)  # what a table's `settings` takes of the config

    @property
    def subsets(self) -> dict[str, str]:
        """The data sets that are only a part of the official ones, and which part."""
        parts = self.datasets.dropna(subset="subset").set_index("dataset")["subset"]
        return parts.map(subset_text).to_dict()


def collect(bench: Benchmark, request: Request, runs_csv: str | Path | None = None) -> Results:
    """What a request asks for, from the reports in the results folder, or from a runs.csv.

    A runs.csv has no splits: of data sets it has only which part of them ran.
    """
    rows = None if runs_csv is None else read_records(runs_csv)
    datasets = _dataset_records(bench, request, rows)
    runs = runs_frame(records(bench, request, rows), bench.config)
    return Results(runs, frame_of(datasets, DATASET), request.artifacts)


def records(bench: Benchmark, request: Request, rows: list[Record] | None = None) -> list[Record]:
    """A record for every run that is asked for; if it is missing, with the reason.

    Read from the reports, or from the rows of a runs.csv.
    """
    asked = asked_runs(bench, request)
    if rows is not None:
        return _records_of_csv(asked, rows)
    read = functools.cache(read_json)
    subsets = {d["dataset"]: d.get("subset") for d in _dataset_records(bench, request, None)}
    found = []
    for run in asked:
        record = _record(run)
        if not run.missing:
            record |= read_run(run, read)
            record["subset"] = subsets[run.dataset]
        found.append(record)
    return found


def _record(run: AskedRun) -> Record:
    ratio = CutName.parse(run.cut).ratio if run.cut else None
    return {key: value for key, value in vars(run).items() if key != "files"} | {"ratio": ratio}


def _records_of_csv(asked: list[AskedRun], rows: list[Record]) -> list[Record]:
    known = {tuple(row[key] for key in KEY): row for row in rows}
    # One evaluation of a supernet serves every method that shows it.
    supernets = {_supernet_key(row): row for row in rows if row["stage"] == "supernet"}
    masks = {_mask_key(row): row for row in rows if row["layer_weight"]}
    found = []
    for run in asked:
        record, row = _record(run), known.get(run.key)
        if row is None and run.stage == "supernet":
            row = supernets.get(_supernet_key(vars(run)))
            row = row and row | {"method": run.method}
        if run.missing not in (None, NOT_FINISHED):  # impossible
            row = None
        elif row is None:
            record["missing"] = NOT_FINISHED
        if row:
            record |= row
            if run.cut and (mask := masks.get(_mask_key(row))):
                lists = {key: value for key, value in mask.items() if key.startswith("layer_")}
                record |= lists | {"mask_overlap": mask["overlap_with_initial_mask"]}
        found.append(record)
    return found


def _supernet_key(row: Record) -> tuple:
    return tuple(row[key] for key in ("dataset", "network", "seed", "supernet"))


def _mask_key(row: Record) -> tuple:
    """Networks that differ in their initial weights share a mask."""
    folder = CutName.parse(row["cut"]).folder if row["cut"] else None
    return (row["dataset"], row["network"], row["seed"], row["supernet"], folder)


def _dataset_records(bench: Benchmark, request: Request, rows: list[Record] | None) -> list[Record]:
    """A record for every data set, from its split or from the rows of a runs.csv."""
    names = request.dataset_names()
    subsets = {row["dataset"]: row["subset"] for row in rows or () if row["subset"]}
    splits = {} if rows is not None else split_reports(bench, names)
    found = []
    for name in names:
        record = {"dataset": name, "kind": bench.registry[name].kind}
        record["missing"] = bench.unavailable.get(name)
        if name in splits:
            record |= read_dataset(splits[name])
        elif rows is not None:
            record["subset"] = subsets.get(name)
        else:
            record["missing"] = record["missing"] or NOT_FINISHED
        found.append(record)
    return found


# ---- frames


def runs_frame(found: list[Record], config: Config | None = None) -> pd.DataFrame:
    """A frame with all columns; missing numbers are NaN, missing texts None."""
    frame = frame_of([settings_in_names(record, config) | record for record in found], FRAME)
    tabular = frame["network"].map(is_tabular).astype(bool)
    for part in ("valid", "test"):
        balanced, plain = frame[f"{part}_balanced_accuracy"], frame[f"{part}_accuracy"]
        frame[f"{part}_primary"] = balanced.where(tabular, plain)
    return frame


def is_tabular(network: str) -> bool:
    """Whether a network, or the tuned learner named instead, is for tables."""
    return network in LEARNERS or network_kind(network) == "tabular"


def frame_of(found: list[Record], names: list[str]) -> pd.DataFrame:
    """Texts are objects or None, booleans may be missing, and everything else is a number."""
    import pandas as pd

    columns = {}
    for name, values in pd.DataFrame(found, columns=names).items():
        if name in FRAME_TEXTS or name.startswith("layer_"):
            texts = values.astype(object)
            columns[name] = texts.where(texts.notna(), None)
        else:
            number = name not in BOOLEANS
            columns[name] = pd.to_numeric(values) if number else values.astype("boolean")
    return pd.DataFrame(columns)


def read_runs_csv(path: str | Path, config: Config | None = None) -> pd.DataFrame:
    """The runs of a runs.csv as `collect` gives them.

    A name has λ, α and epochs only where they differ from the config's; without a config, the
    others are unknown.
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
