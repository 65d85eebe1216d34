"""Evaluations, choices, masks and times of runs as one tidy data frame, and one of data sets."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iunet.artifacts import read_json
from iunet.baselines.catalog import LEARNERS
from iunet.results.reports import read_dataset, read_run, subset_text
from iunet.results.request import Request, asked_runs, split_reports
from iunet.results.runs_csv import COLUMNS, TEXTS, read_records
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


def collect(bench: Benchmark, request: Request) -> Results:
    """What a request asks for, from the reports in the results folder."""
    runs = runs_frame(records(bench, request), bench.config)
    return Results(runs, frame_of(_dataset_records(bench, request), DATASET), request.artifacts)


def records(bench: Benchmark, request: Request) -> list[Record]:
    """A record for every run that is asked for; if it is missing, with the reason."""
    read = functools.cache(read_json)
    subsets = {d["dataset"]: d.get("subset") for d in _dataset_records(bench, request)}
    found = []
    for run in asked_runs(bench, request):
        record = {key: value for key, value in vars(run).items() if key != "files"}
        record["ratio"] = CutName.parse(run.cut).ratio if run.cut else None
        if not run.missing:
            record |= read_run(run, read) | {"subset": subsets[run.dataset]}
        found.append(record)
    return found


def _dataset_records(bench: Benchmark, request: Request) -> list[Record]:
    """A record for every data set, from the report of its split."""
    splits = split_reports(bench, request.dataset_names())
    found = []
    for name in request.dataset_names():
        record = {"dataset": name, "kind": bench.registry[name].kind, "missing": None}
        if name in splits:
            record |= read_dataset(splits[name])
        else:
            record["missing"] = bench.unavailable.get(name, NOT_FINISHED)
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


def read_runs_csv(path: str | Path) -> pd.DataFrame:
    """The runs of a runs.csv, as `collect` gives them.

    λ, α and the epochs are known only of names that have them: others stand in the config.
    """
    return runs_frame(read_records(path))


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
