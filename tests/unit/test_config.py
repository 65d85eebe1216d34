"""Config, registry and device: what is refused, and how it is said."""

from __future__ import annotations

import copy
import platform
from pathlib import Path

import jsonschema
import pytest
import yaml

from iunet.data.registry import Dataset, mirror_index, read_registry
from iunet.errors import UserError
from iunet.figures.catalog import KINDS as FIGURE_KINDS
from iunet.machine import device, torch_gpu
from iunet.runs.config import check_datasets, check_ranges, restore_numbers, unavailable
from iunet.runs.entries import Benchmark, datasets_named
from iunet.runs.schema import explain_schema_error, validator
from iunet.tables.catalog import table_attribute

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
SCHEMA = yaml.safe_load((ROOT / "workflow" / "schemas" / "config.schema.yaml").read_text())
REGISTRY = read_registry([ROOT / "config" / "datasets.csv"])


KINDS = table_attribute("KIND") | FIGURE_KINDS


def changed(key: str, value) -> dict:
    config = copy.deepcopy(CONFIG)
    *parents, last = key.split(".")
    section = config
    for parent in parents:
        section = section[parent]
    section[last] = value
    return config


def complaint(config: dict) -> str:
    error = jsonschema.exceptions.best_match(validator(SCHEMA).iter_errors(config))
    return explain_schema_error(error) if error else ""


def test_the_papers_config_is_valid():
    assert complaint(CONFIG) == ""
    check_datasets(CONFIG, REGISTRY, KINDS)


def test_schema_refuses_unknown_keys_everywhere():
    """Every object of the schema is closed; only names that code checks are free."""

    def walk(node, path=""):
        if isinstance(node, dict):
            if node.get("type") == "object":
                assert "additionalProperties" in node, path
                names = ("methods", "experiments", "changes", "stand_ins")
                catalogs = ("tables", "networks", "tuning", "study", "augment", "devices")
                free = path.rsplit("/", 1)[-1] in (*names, *catalogs)
                assert node["additionalProperties"] is False or free, path
            for key, child in node.items():
                walk(child, f"{path}/{key}")
        elif isinstance(node, list):
            for child in node:
                walk(child, path)

    walk(SCHEMA)


@pytest.mark.parametrize(
    ("key", "value", "fragment"),
    [
        ("sedes", [0], "unknown key 'sedes'. Did you mean 'seeds'?"),
        ("train.supernet.epoch", 3, "unknown key 'train.supernet.epoch'. Did you mean 'epochs'?"),
        ("train.supernet.epochs", "many", "'train.supernet.epochs' is 'many', but must be of type"),
        ("train.supernet.epochs", 0, "must be at least 1"),
        ("train.batch_size", 1, "'train.batch_size' is 1"),
        ("seeds", [], "'seeds' is [], but must have at least 1"),
        ("seeds", [1, 1], "must not have an entry twice"),
        ("device", "tpu", "'device' is 'tpu', but must be one of auto, cpu, cuda"),
        ("split.tabular.test", 1.0, "must be less than 1"),
        ("split.tabular.test", 0, "must be greater than 0"),
        ("prune.vision.ratios", [0.5], "'prune.vision.ratios.0' is 0.5, but must be at least 1"),
        ("methods.iunet.kappa", 0, "'methods.iunet.kappa' is 0, but must be greater than 0"),
        ("methods.iunet.objektive", "ilo", "unknown key 'methods.iunet.objektive'"),
        ("augment.vision.color.hue", 0.7, "must be at most 0.5"),
        ("data.openml_server", "openml.org", "'data.openml_server' is 'openml.org'"),
        ("results", "re sults", "'results' is 're sults'"),
        ("methods.iunett", {}, "'methods.iunett' is {}, but needs the keys recipe, or kappa and"),
        ("train.supernet.optimiser.momentum", 0, "'train.supernet.optimiser.momentum' is 0"),
        ("split.seed", 5_000_000_000, "must be at most 4294967295"),
    ],
)
def test_impossible_values_are_named(key, value, fragment):
    assert fragment in complaint(changed(key, value))


def test_missing_key_is_named():
    config = copy.deepcopy(CONFIG)
    del config["train"]["supernet"]["lambda"]
    assert complaint(config) == "The config lacks the key 'train.supernet.lambda'."


@pytest.mark.parametrize(
    ("key", "value", "fragment"),
    [
        ("datasets.tabular", ["vehicel"], "'datasets.tabular' names the data set 'vehicel'"),
        ("datasets.tabular", ["cifar10"], "'cifar10', which is a vision data set"),
        (
            "tables.table8.datasets",
            "visions",
            "'tables.table8.datasets' is 'visions', which is not",
        ),
        ("tables.table9.datasets", ["svhn"], "'tables.table9.datasets' names 'svhn'"),
        ("datasets.search", ["x"], "'datasets.search' names the data set 'x'"),
        ("tables.table7.datasets", "tabel", "'tables.table7.datasets' is 'tabel', which"),
    ],
)
def test_data_sets_that_do_not_fit(key, value, fragment):
    with pytest.raises(UserError) as caught:
        check_datasets(changed(key, value), REGISTRY, KINDS)
    assert fragment in str(caught.value)


def test_ranges_go_upwards():
    with pytest.raises(UserError, match=r"'augment.vision.resize.scale' is \[1.0, 0.08\]"):
        check_ranges(changed("augment.vision.resize.scale", [1.0, 0.08]))


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


@pytest.mark.parametrize("name", ["config", "demo", "test"])
def test_figure2_has_every_objective(name):
    """Of `scl` it shows a decoder that is trained for it alone: small runs are to show it too."""
    figure = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text())["figures"]["figure2"]
    methods = [CONFIG["methods"][method] for method in figure["methods"]]
    assert {method["objective"] for method in methods} == {"sup", "scl", "ilo"}


def test_tables_take_a_group_or_a_list():
    vision = ["cifar10", "cifar100", "svhn"]
    assert datasets_named(CONFIG, "vision", "a key") == vision
    assert datasets_named(CONFIG, ["vehicle", "svhn"], "a key") == ["vehicle", "svhn"]
    assert datasets_named(CONFIG, ["svhn", "vision"], "a key") == ["svhn", *vision[:2]]
    bench = Benchmark(changed("tables.table8.datasets", ["svhn"]), REGISTRY)
    assert bench.datasets_of_table("table8") == ["svhn"]


def test_numbers_from_the_command_line():
    text = {"seeds": ["0", "1"], "a": {"b": "0.5", "c": "null", "d": "true", "e": "wine"}}
    numbers = {"seeds": [0, 1], "a": {"b": 0.5, "c": None, "d": True, "e": "wine"}}
    assert restore_numbers(text) == numbers


# ---- registry


HEADER = "name,kind,source,location,target,categorical\n"


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "lacks the column"),
        ("name,kind,source\n", "lacks the column 'location'"),
        ("name,kind,source,location,tagret\n", "unknown column 'tagret'"),
        (HEADER + "My Set,tabular,file,a.csv,y,\n", "line 2: 'My Set' cannot be the name"),
        (HEADER + "../x,tabular,file,a.csv,y,\n", "cannot be the name"),
        (HEADER + "a,table,file,a.csv,y,\n", "kind of 'a' is 'table'"),
        (HEADER + "a,tabular,flie,a.csv,y,\n", "Did you mean 'file'?"),
        (HEADER + "a,vision,openml,3,,\n", "the source 'openml' has no vision data"),
        (HEADER + "a,tabular,file,,y,\n", "'a' has no location"),
        (HEADER + "a,tabular,file,a.csv,,\n", "target column must be named"),
        (HEADER + "a,tabular,openml,iris,,\n", "named by the number of their task"),
        (HEADER + "a,tabular,file\n", "as many fields as the header"),
        (HEADER + "a,tabular,embedded,wine,,\na,tabular,embedded,wine,,\n", "declared already"),
    ],
)
def test_registry_rows_that_are_refused(tmp_path, text, fragment):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        read_registry([path])
    assert fragment in str(caught.value)
    assert "mine.csv" in str(caught.value)


def test_own_registry_beside_the_projects(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(HEADER + "mine,tabular,file,a b.csv,label,zip; code\n")
    dataset = read_registry([ROOT / "config" / "datasets.csv", path])["mine"]
    assert (dataset.location, dataset.categorical) == ("a b.csv", ("zip", "code"))
    assert dataset.declared_at.endswith("mine.csv, line 2")


def test_absent_registry_is_named():
    with pytest.raises(UserError, match=r"\(config key data.registry\) nowhere.csv cannot be read"):
        read_registry(["nowhere.csv"])


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


def test_folder_that_is_no_mirror(tmp_path):
    with pytest.raises(UserError, match=r"data.mirror is '.*', but there is neither"):
        unavailable(REGISTRY, str(tmp_path))


# ---- device


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with a given number of GPUs, as the driver shows them."""

    def make(gpus: int, visible: str | None = None):
        for i in range(gpus):
            (tmp_path / f"gpu{i}").mkdir()
        monkeypatch.setattr(device, "NVIDIA_GPUS", tmp_path if gpus else tmp_path / "absent")
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        monkeypatch.setenv(torch_gpu.ANSWER, f"{platform.node()}|")  # torch can use it
        if visible is not None:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    return make


@pytest.mark.parametrize(
    ("gpus", "visible", "wanted", "resolved"),
    [
        (0, None, "auto", "cpu"),
        (2, None, "auto", "cuda"),
        (2, "1", "auto", "cuda"),
        (2, "", "auto", "cpu"),
        (2, None, "cpu", "cpu"),
        (0, None, "cuda", "cuda"),
    ],
)
def test_device(machine, gpus, visible, wanted, resolved):
    machine(gpus, visible)
    assert device.resolve_device(wanted) == resolved


def test_unknown_device(machine):
    with pytest.raises(UserError, match="'device' is 'gpu'"):
        device.resolve_device("gpu")
