"""Class weights of the tuned baselines: what they do, and where they are no part of a study."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
import yaml
from conftest import ROOT
from test_learners import CPU, GOOD, SETTINGS, write_table

from iunet.artifacts import read_arrays, write_arrays
from iunet.baselines.catalog import LEARNERS
from iunet.baselines.learner import Table, learner_module
from iunet.data.registry import read_registry
from iunet.runs.entries import Benchmark
from iunet.runs.schema import check_schema
from iunet.runs.settings import learner_settings
from iunet.tables.catalog import declared_tables
from iunet.tables.notes import tuning_notes
from iunet.training.support.checkpoint import Checkpoint

CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
OTHER = {"none": "balanced", "balanced": "none"}


def overlapping_classes(folder) -> Table:
    """One row of ten is of the second class, and no column tells it from the first for certain."""
    files = write_table(folder, n_train=400, n_classes=2)
    rng = np.random.default_rng(1)
    for part in ("train", "valid"):
        arrays = read_arrays(files[part])
        n = len(arrays["labels"]) if part == "train" else 200
        labels = (np.arange(n) % 10 == 0).astype("i8")
        numeric = np.stack([labels + rng.normal(size=n), np.zeros(n)], axis=1).astype("f4")
        codes = np.zeros((n, 2), dtype=np.int32)
        write_arrays(files[part], {"numeric": numeric, "categorical": codes, "labels": labels})
    return Table(files)


def rare_labels(tmp_path, name: str, **weights: str) -> int:
    """How many of the 200 validation rows a fitted model takes for the rare class."""
    folder = tmp_path / weights.get("class_weights", "usual")
    longer = {"first_cycle_epochs": 8} if name == "mlp_c" else {}
    settings = SETTINGS[name] | longer | weights
    learner = learner_module(name).Learner(overlapping_classes(folder / "split"), settings, CPU)
    # One step an epoch, of all rows, leaves TabNet to chance: another CPU's rounding turns it.
    smaller = {"batch_size": 64, "virtual_batch_size": 64} if name == "tabnet" else {}
    parameters = GOOD[name] | smaller
    model, found = str(folder / "model.safetensors"), {"rounds": 5, "epochs": 15}
    checkpoint = None if name == "xgb" else Checkpoint(folder / "refit.checkpoint", {})
    job = {"run": "r", "checkpoint": checkpoint, "parts": ("train",)}
    facts = learner.refit(parameters, found, 0, model, **job)
    return int(learner.predict(model, {"model": facts, "parameters": parameters}, "valid").sum())


@pytest.mark.parametrize("name", LEARNERS)
def test_balanced_weights_find_the_rare_class(tmp_path, name):
    usual = LEARNERS[name].class_weights  # without the setting
    found = {
        usual: rare_labels(tmp_path, name),
        OTHER[usual]: rare_labels(tmp_path, name, class_weights=OTHER[usual]),
    }
    assert 1.5 * found["none"] + 5 < found["balanced"], found


@pytest.mark.parametrize("name", LEARNERS)
def test_weights_are_a_setting_where_they_are_not_the_original_works(name):
    """So the settings of results from before there was a choice are still those of the config."""
    config = copy.deepcopy(CONFIG)
    usual = LEARNERS[name].class_weights
    assert config["tuning"][name]["class_weights"] == usual
    assert "class_weights" not in learner_settings(config, name)
    config["tuning"][name]["class_weights"] = OTHER[usual]
    assert learner_settings(config, name)["class_weights"] == OTHER[usual]


def test_a_learner_of_the_users_own_may_have_weights_or_none(monkeypatch):
    """Only the catalog and the section `tuning` know of it (docs/extending.md)."""
    xgb = LEARNERS["xgb"]
    monkeypatch.setitem(LEARNERS, "mine", dataclasses.replace(xgb, label="MINE"))
    config = copy.deepcopy(CONFIG)
    config["tuning"]["mine"] = {"trials": 4, "per": "study", "minutes": None}
    registry = read_registry([str(ROOT / "config" / "datasets.csv")])
    for weights, who in ((None, "MLP_TAB+C weights"), ("balanced", "MLP_TAB+C and MINE weight")):
        config["tuning"]["mine"] |= {"class_weights": weights} if weights else {}
        check_schema(config)
        bench = Benchmark(config, registry, declared_tables())
        assert who in tuning_notes(bench, bench.cells_of("tables.table7"))[1]


@pytest.mark.parametrize(
    ("weighted", "words"),
    [
        ((), "None of them weights its classes"),
        (("xgb", "tabnet", "mlp_c"), "XGB, TABN and MLP_TAB+C weight their classes"),
    ],
)
def test_tables_say_who_weights_classes(weighted, words):
    config = copy.deepcopy(CONFIG)
    for name in LEARNERS:
        config["tuning"][name]["class_weights"] = "balanced" if name in weighted else "none"
    registry = read_registry([str(ROOT / "config" / "datasets.csv")])
    bench = Benchmark(config, registry, declared_tables())
    (_, note) = tuning_notes(bench, bench.cells_of("tables.table7"))
    assert words in note
