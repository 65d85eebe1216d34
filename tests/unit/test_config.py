"""Config, registry and device: what is refused, and how it is said."""

from __future__ import annotations

import copy
from functools import reduce
from operator import getitem

import pytest
from configs import benchmark, merged
from conftest import ROOT

from iunet.data.registry import Dataset, mirror_index, read_registry
from iunet.errors import UserError
from iunet.runs.entries import datasets_named
from iunet.runs.schema import plain, read_schema
from iunet.runs.validate import unavailable

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


SGD = {"name": "sgd", "lr": 0.001, "momentum": 0.9, "nesterov": True}
COLOUR = {"p": 0.8, "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1}
# What the paper says; where it is silent, reports/decisions.yaml decides (test_page.py).
SAID = {
    "networks.mlp_vis.shrink": 1,
    "networks.mlp_tab.shrink": 1,
    "augment.vision.resize.ratio": [3 / 4, 4 / 3],
    "augment.vision.color": COLOUR,
    "train.class_weights": "none",
    "train.tf32": False,
    "train.histograms": {"vision": True, "tabular": False},
    "train.supernet.optimiser": SGD,
    "train.supernet.decoder_kappa": 1,
    "train.supernet.normalised_step": 1,
    "train.finetune_vision.optimiser": SGD,
    "train.finetune_tabular.optimiser": {"name": "adamw", "lr": 0.001, "weight_decay": 0.01},
    "train.finetune_tabular.first_cycle_epochs": 15,
    "beta_lasso.optimiser": {"name": "sgd", "lr": 0.1, "momentum": 0, "nesterov": False},
    "tuning.xgb.per": "hyperparameter",
    "tuning.tabnet.per": "hyperparameter",
    "tuning.mlp_c.per": "study",
    "tuning.mlp_c.width": 512,
    "tuning.mlp_c.first_cycle_epochs": 15,
    "tuning.mlp_c.cycle_factor": 2,
    "tuning.mlp_c.cycles": 3,
}


@pytest.mark.parametrize("key", SAID)
def test_the_papers_config_has_what_the_paper_says(key):
    assert reduce(getitem, key.split("."), CONFIG) == SAID[key]


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
    assert plain(text) == numbers


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
