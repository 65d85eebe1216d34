"""Config, registry and device: what is refused, and how it is said."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from configs import benchmark, merged

from iunet.data.registry import Dataset, mirror_index, read_registry
from iunet.errors import UserError
from iunet.runs.entries import datasets_named
from iunet.runs.schema import read_schema
from iunet.runs.validate import restore_numbers, unavailable

ROOT = Path(__file__).resolve().parents[2]
CONFIG = merged()


def test_a_checked_config_stays_as_it_is():
    """Scripts check it again: `own` is in the groups by then, and numbers are numbers."""
    config = merged("test", own="my.csv", target="7", seeds=["0", 1], results="results/mine/")
    bench = benchmark(config)
    assert bench.config["seeds"] == [0, 1] and bench.root == "results/mine"
    assert bench.config["datasets"] == {
        "tabular": ["my"],
        "ablation": ["my"],
        "search": ["my"],
        "vision": [],
    }
    again = benchmark(bench.config)
    assert (again.config, again.cells) == (bench.config, bench.cells)
    assert config["seeds"] == ["0", 1]  # the caller's is left alone


def test_schema_refuses_unknown_keys_everywhere():
    """Every object of the schema is closed; only names that code checks are free."""

    def walk(node, path=""):
        if isinstance(node, dict):
            if node.get("type") == "object":
                assert "additionalProperties" in node, path
                names = ("methods", "experiments", "changes", "stand_ins", "finetune")
                catalogs = ("tables", "networks", "tuning", "study", "augment", "devices")
                free = path.rsplit("/", 1)[-1] in (*names, *catalogs)
                assert node["additionalProperties"] is False or free, path
            for key, child in node.items():
                walk(child, f"{path}/{key}")
        elif isinstance(node, list):
            for child in node:
                walk(child, path)

    walk(read_schema())


def test_missing_key_is_named():
    config = copy.deepcopy(CONFIG)
    del config["train"]["supernet"]["lambda"]
    with pytest.raises(UserError, match=r"The config key 'train.supernet.lambda' is missing"):
        benchmark(config)


DECIDED = {  # the values of docs/method.md: a change here is a change of the science
    "seeds": [0, 1, 2],
    "init": "torch_default",
    "split": {
        "seed": 11,
        "vision": {"valid": 0.2},
        "tabular": {"test": 0.2, "valid": 0.25},
        "max_categories": 256,
    },
    "networks": {
        "mlp_vis": {"alpha": 8, "shrink": 1},
        "cnn": {"alpha": 8},
        "resnet18": {"width": 1.0},
        "mlp_tab": {"width": 512, "depth": 9, "shrink": 1},
    },
    "augment": {
        "vision": {
            "resize": {"scale": [0.08, 1.0], "ratio": [3 / 4, 4 / 3]},
            "horiz": {"p": 0.5},
            "color": {"p": 0.8, "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1},
            "graysc": {"p": 0.2},
        },
        "tabular": {"corruption": 0.6},
    },
    "train": {
        "threads": 1,
        "batch_size": 128,
        "class_weights": "none",
        "tf32": False,
        "checkpoint_s": 60,
        "validate_every": 10,
        "histograms": {"vision": True, "tabular": False},
        "supernet": {
            "epochs": 100,
            "optimiser": {"name": "sgd", "lr": 0.001, "momentum": 0.9, "nesterov": True},
            "lambda": 1.0,
            "decoder_kappa": 1,
            "normalised_step": 1,
        },
        "finetune_vision": {
            "epochs": 100,
            "optimiser": {"name": "sgd", "lr": 0.001, "momentum": 0.9, "nesterov": True},
            "half_precision": True,
        },
        "finetune_tabular": {
            "optimiser": {"name": "adamw", "lr": 0.001, "weight_decay": 0.01},
            "first_cycle_epochs": 15,
            "cycle_factor": 2,
            "cycles": 3,
            "snapshot_ensemble": True,
        },
    },
    "prune": {
        "vision": {"ratios": [2, 4, 8, 16], "select_by": "accuracy"},
        "tabular": {"ratios": [8], "select_by": "balanced_accuracy"},
    },
    "beta_lasso": {
        "beta": 50,
        "l1": [1e-6, 2e-6, 5e-6, 1e-5, 2e-5],
        "optimiser": {"name": "sgd", "lr": 0.1, "momentum": 0, "nesterov": False},
    },
}


@pytest.mark.parametrize("key", DECIDED)
def test_the_papers_config_has_the_decided_values(key):
    assert CONFIG[key] == DECIDED[key]


def test_the_papers_budgets():
    """40·D and 840 trials, 4000 rounds, 500 of dart, 200 epochs, 15 + 30 + 60 epochs."""
    tuning = CONFIG["tuning"]
    for method in ("xgb", "tabnet"):
        assert (tuning[method]["trials"], tuning[method]["per"]) == (40, "hyperparameter")
    assert (tuning["mlp_c"]["trials"], tuning["mlp_c"]["per"]) == (840, "study")
    assert (tuning["xgb"]["max_rounds"], tuning["xgb"]["max_rounds_dart"]) == (4000, 500)
    assert tuning["tabnet"]["max_epochs"] == 200
    keys = ("width", "first_cycle_epochs", "cycle_factor", "cycles")
    assert [tuning["mlp_c"][key] for key in keys] == [512, 15, 2, 3]
    assert tuning["study_per"] == "dataset"


def test_methods_are_those_of_the_spec():
    points = {
        name: (row.get("kappa"), row.get("objective")) for name, row in CONFIG["methods"].items()
    }
    assert points["omp"] == (1, "sup")
    assert points["iunet"] == (0.25, "ilo")
    assert points["iunet_no_ilo"] == (0.25, "sup")
    assert points["iunet_no_pis"] == (1, "ilo")
    assert points["iunet_no_prune"] == points["iunet"]
    assert CONFIG["methods"]["iunet_no_prune"]["prune"] is False
    assert points["scl"] == (1, "scl")


@pytest.mark.parametrize("overlays", [(), ("demo",), ("test",)])
def test_figure2_has_every_objective(overlays):
    """Of `scl` it shows a decoder that is trained for it alone: small runs are to show it too."""
    bench = benchmark(merged(*overlays))
    methods = [CONFIG["methods"][name] for name in bench.config["figures"]["figure2"]["methods"]]
    assert {method["objective"] for method in methods} == {"sup", "scl", "ilo"}


def test_tables_take_a_group_or_a_list():
    vision = ["cifar10", "cifar100", "svhn"]
    assert datasets_named(CONFIG, "vision", "a key") == vision
    assert datasets_named(CONFIG, ["vehicle", "svhn"], "a key") == ["vehicle", "svhn"]
    assert datasets_named(CONFIG, ["svhn", "vision"], "a key") == ["svhn", *vision[:2]]
    bench = benchmark(merged(tables={"table8": {"datasets": ["svhn"]}}))
    assert bench.datasets_of_table("table8") == ["svhn"]


def test_numbers_from_the_command_line():
    text = {"seeds": ["0", "1"], "a": {"b": "0.5", "c": "null", "d": "true", "e": "wine"}}
    numbers = {"seeds": [0, 1], "a": {"b": 0.5, "c": None, "d": True, "e": "wine"}}
    assert restore_numbers(text) == numbers


# ---- registry


HEADER = "name,kind,source,location,target,categorical\n"


def test_own_registry_beside_the_projects(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(HEADER + "mine,tabular,file,a b.csv,label,zip; code\n")
    dataset = read_registry([ROOT / "config" / "datasets.csv", path])["mine"]
    assert (dataset.location, dataset.categorical) == ("a b.csv", ("zip", "code"))
    assert dataset.declared_at.endswith("mine.csv, line 2")


def test_sets_that_a_mirror_lacks(tmp_path):
    (tmp_path / "tabular").mkdir()
    index = tmp_path / "tabular" / "index.csv"
    index.write_text("name,file,sha256\nvehicle,vehicle.parquet,abc\n")
    registry = {
        "vehicle": Dataset("vehicle", "tabular", "openml", "1"),
        "adult": Dataset("adult", "tabular", "openml", "2"),
        "wine": Dataset("wine", "tabular", "embedded", "wine"),
    }
    assert unavailable(registry, str(tmp_path)) == {"adult": "not in the mirror"}
    assert unavailable(registry, None) == {}
    index.write_text("name,file,sha256\nvehicle,vehicle.parquet,\n")
    with pytest.raises(UserError, match="a row without 'sha256'"):
        mirror_index(tmp_path)
