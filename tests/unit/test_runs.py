"""Methods become coordinates, coordinates become paths, and back."""

from __future__ import annotations

import copy
import re
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest
from configs import benchmark, merged
from hypothesis import given
from hypothesis import strategies as st

from iunet.data.registry import read_registry
from iunet.errors import UserError
from iunet.method.catalog import OBJECTIVES
from iunet.method.pruning import Cut
from iunet.runs import settings
from iunet.runs.entries import Benchmark, Cell
from iunet.runs.lineage import Lineage, with_all_before
from iunet.runs.methods import config_with_row, resolve_method
from iunet.runs.names import (
    INITS,
    KEY_OF_WORD,
    MASKS,
    OTHER_SCORES,
    WORDS,
    CutName,
    DenseName,
    SupernetName,
    parse_value,
    parse_variant,
    value_text,
    variant_text,
)
from iunet.runs.settings import finetune_defaults, network_settings, supernet_defaults
from iunet.runs.stages import STAGES
from iunet.training.finetune import FinetuneSettings
from iunet.training.schedule import schedule_of
from iunet.training.supernet import SupernetSettings

CONFIG = merged()
REGISTRY = read_registry(CONFIG["data"]["registry"])


def planned(config: dict) -> list[Cell]:
    return Benchmark(config, REGISTRY, {}).all_cells


def with_method(row: dict, **experiment) -> dict:
    config = copy.deepcopy(CONFIG)
    config["methods"]["mine"] = row
    defaults = {"datasets": ["cifar10"], "networks": ["mlp_vis"], "methods": ["mine"]}
    config["experiments"]["mine"] = defaults | experiment
    return config


@given(
    st.floats(1e-6, 1e6).map(lambda x: float(f"{x:.6g}")) | st.integers(0, 10**5) | st.booleans()
)
def test_values_in_paths_come_back(value):
    text = value_text(value)
    assert re.fullmatch(r"[0-9.]+|on|off", text)
    assert parse_value(text) == value


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, ""),
        ({"lambda": 1.0}, ""),  # the default, said again
        ({"lambda": 0.5}, "-lambda0.5"),
        ({"lr": 0.00001, "epochs": 50}, "-epochs50-lr0.00001"),
        ({"nesterov": False}, "-nesterovoff"),
    ],
)
def test_variants(options, text):
    defaults = supernet_defaults(CONFIG)
    assert variant_text(options, defaults) == text
    assert parse_variant(text, defaults) == {**defaults, **options}


@pytest.mark.parametrize(
    ("row", "path"),
    [
        (
            {"kappa": 0.25, "objective": "ilo"},
            ("mlp_vis", "kappa0.25-ilo", ["ratio2", "ratio4", "ratio8", "ratio16"]),
        ),
        ({"kappa": 1, "objective": "sup", "ratios": [3]}, ("mlp_vis", "kappa1-sup", ["ratio3"])),
        (
            {"kappa": 0.25, "objective": "ilo", "supernet": {"lambda": 0.5}, "ratios": [8]},
            ("mlp_vis", "kappa0.25-ilo-lambda0.5", ["ratio8"]),
        ),
        (
            {
                "kappa": 0.25,
                "objective": "ilo",
                "network": {"alpha": 4},
                "init": "glorot",
                "finetune": {"epochs": 9},
                "ratios": [8],
            },
            ("mlp_vis-alpha4", "kappa0.25-ilo-glorot", ["ratio8-epochs9"]),
        ),
        ({"recipe": "dense", "init": "he_normal"}, ("mlp_vis", "dense-he_normal", [])),
        ({"kappa": 0.25, "objective": "ilo", "prune": False}, ("mlp_vis", "kappa0.25-ilo", [])),
    ],
)
def test_whatever_differs_from_the_default_is_in_the_path(row, path):
    method = resolve_method(with_method(row), "mine", "mlp_vis")
    assert (method.network, *method.supernets, list(method.cuts)) == path


def test_beta_lasso_has_a_supernet_for_each_l1():
    row = {"recipe": "beta_lasso", "supernet": {"beta": 20}, "finetune": {"epochs": 9}}
    method = resolve_method(with_method(row), "mine", "mlp_vis")
    l1s = ("0.000001", "0.000002", "0.000005", "0.00001", "0.00002")
    assert method.supernets == tuple(f"kappa1-lasso{l1}-beta20" for l1 in l1s)
    assert method.cuts == ("survivors-epochs9",)
    found = [SupernetName.parse(supernet).l1 for supernet in method.supernets]
    assert found == CONFIG["beta_lasso"]["l1"]
    assert CutName.parse(method.cuts[0]).ratio is None
    changed = config_with_row(CONFIG, row, "mlp_vis")
    assert changed["beta_lasso"]["beta"] == 20
    assert changed["train"]["finetune_vision"]["epochs"] == 9


def test_a_row_may_change_what_only_its_networks_have():
    """Table 7 has no images: that mlp_vis knows no such keys does not matter there."""
    row = {"kappa": 1, "objective": "sup", "network": {"width": 256}, "finetune": {"cycles": 1}}
    cells = planned(with_method(row, datasets=["vehicle"], networks=["mlp_vis", "mlp_tab"]))
    (mine,) = (cell for cell in cells if cell.method.name == "mine")
    assert mine.method.network == "mlp_tab-width256"


def test_network_options_from_a_path():
    assert network_settings(CONFIG, "mlp_vis") == {"name": "mlp_vis", "options": {"alpha": 8}}
    changed = network_settings(CONFIG, "mlp_tab-depth3-width64")
    assert changed == {"name": "mlp_tab", "options": {"width": 64, "depth": 3}}


@pytest.mark.parametrize(
    "same",
    [
        {"supernet": {"lambda": 1.0}},
        {"augment": {"only": ["resize", "horiz", "color", "graysc"]}},
        {"schedule": "constant", "mask": "own", "class_weights": "none", "reinit": "initial"},
    ],
)
def test_rows_that_mean_the_same_share_their_runs(same):
    row = {"kappa": 0.25, "objective": "ilo", **same}
    mine = resolve_method(with_method(row), "mine", "mlp_vis")
    iunet = resolve_method(CONFIG, "iunet", "mlp_vis")
    assert (mine.supernets, mine.cuts) == (iunet.supernets, iunet.cuts)


def test_cuts_of_a_method():
    """Of a data set those that its methods ask for, and no others."""

    def cuts(dataset: str, supernet: str, config: dict = CONFIG) -> set[str]:
        cells = [cell for cell in planned(config) if cell.dataset == dataset]
        found = [cell.method.candidates() for cell in cells]
        return {cut for pairs in found for name, cut in pairs if name == supernet}

    controls = {"ratio8-shuffled", "ratio8-fresh", "units8", "ratio1-trained"}
    assert cuts("vehicle", "kappa0.25-ilo") >= {"ratio2", "ratio4", "ratio8"} | controls
    assert cuts("adult", "kappa0.25-ilo") == {"ratio8"}
    assert cuts("adult", "kappa1-lasso0.00001") == {"survivors"}
    assert cuts("svhn", "kappa1-sup") >= {"ratio2", "ratio4", "ratio8", "ratio16"}
    without = with_method({"kappa": 7, "objective": "sup", "prune": False})
    assert cuts("cifar10", "kappa7-sup", without) == set()


@pytest.mark.parametrize(
    ("kind", "text", "initial"),
    [
        (SupernetName, "kappa0.25-ilo", "initial"),
        (SupernetName, "kappa1-sup-he_normal-epochs5-lr0.5", "initial-he_normal"),
        (SupernetName, "kappa1-lasso0.00001-beta20", "initial"),
        (DenseName, "dense-glorot-weight_decay0.1", "initial-glorot"),
        (CutName, "ratio8-weight_decay0.1", None),
        (CutName, "survivors", None),
    ],
)
def test_names_come_back(kind, text, initial):
    name = kind.parse(text)
    assert str(name) == text
    assert getattr(name, "initial", None) == initial


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (SupernetName, "kappa1-lasso"),
        (SupernetName, "kappa1-sup5"),
        (SupernetName, "kappa1.2.3-sup"),
        (DenseName, "dense5"),
        (CutName, "half"),
        (CutName, "ratio"),
    ],
)
def test_what_is_no_name_is_refused(kind, text):
    with pytest.raises(UserError, match=r"is not the name|is not a number"):
        kind.parse(text)


def test_resnet18_keeps_its_initialisation():
    config = with_method({"kappa": 1, "objective": "sup", "init": "glorot"})
    assert resolve_method(config, "mine", "resnet18").supernets == ("kappa1-sup",)
    assert resolve_method(config, "mine", "mlp_vis").supernets == ("kappa1-sup-glorot",)


def test_changes_of_a_row_stand_where_their_defaults_are():
    row = {"kappa": 1, "objective": "sup", "network": {"alpha": 2}}
    row |= {"supernet": {"lr": 0.5, "epochs": 7}, "finetune": {"momentum": 0.5}}
    changed = config_with_row(CONFIG, row, "mlp_vis")
    assert changed["networks"]["mlp_vis"]["alpha"] == 2
    assert changed["train"]["supernet"]["epochs"] == 7
    assert changed["train"]["supernet"]["optimiser"]["lr"] == 0.5
    assert changed["train"]["finetune_vision"]["optimiser"]["momentum"] == 0.5
    assert CONFIG["networks"]["mlp_vis"]["alpha"] == 8


def test_the_paper_trains_each_supernet_once():
    """All tables and figures together ask for these of mlp_vis, whatever is cut from them."""
    supernets = {
        supernet
        for cell in benchmark(CONFIG).all_cells
        if cell.dataset == "cifar10" and cell.method.network == "mlp_vis"
        for supernet in cell.method.supernets
        if cell.method.recipe != "beta_lasso"
    }
    assert supernets == {
        "dense",
        "kappa1-sup",
        "kappa0.25-sup",
        "kappa0.125-sup",
        "kappa0.0625-sup",
        "kappa1-scl",
        "kappa1-ilo",
        "kappa0.25-ilo",
        "kappa0.25-ilo-lambda0.25",
        "kappa0.25-ilo-lambda0.5",
        "kappa1-sup-lr0.016",
        "kappa1-ilo-lr0.016",
        "kappa1-sup-he_normal",
        "kappa1-ilo-he_normal",
        "kappa0.25-ilo-he_normal",
    }


def test_finetune_defaults_by_kind():
    assert finetune_defaults(CONFIG, "vision")["epochs"] == 100
    tabular = finetune_defaults(CONFIG, "tabular")
    assert (tabular["cycles"], tabular["weight_decay"], "epochs" in tabular) == (3, 0.01, False)


# ---- options that are off


def every_parameter() -> dict[str, Any]:
    """The parameters of all jobs behind the results of config/test.yaml."""
    bench = benchmark(merged("test"))
    lineage = Lineage(bench, STAGES)
    jobs = lineage.makers(path for cell in bench.cells for path in bench.results_of(cell))
    return {job.id: job.parameters for job in with_all_before(jobs)}


def test_a_new_option_that_is_off_is_no_parameter_of_any_job(monkeypatch):
    before = every_parameter()
    for stage in ("supernet", "finetune"):
        monkeypatch.setitem(settings.OFF[stage], "clip", 0)
    assert every_parameter() == before
    row = {"recipe": "dense", "finetune": {"clip": 1}}
    assert resolve_method(with_method(row), "mine", "mlp_tab").supernets == ("dense-clip1",)
    point = SimpleNamespace(network="mlp_tab", dense="dense-clip1", seed="0")
    assert settings.finetune_settings(CONFIG, point)["clip"] == 1


def test_a_stage_without_an_option_has_it_off():
    """What the settings leave out is what the stages do by themselves."""
    places = {"supernet": SupernetSettings, "cut": Cut, "finetune": FinetuneSettings}
    for stage, place in places.items():
        defaults = {field.name: field.default for field in fields(place)}
        assert settings.OFF[stage].items() <= defaults.items()


def test_a_schedule_has_the_keys_that_it_needs():
    row = {"recipe": "dense", "schedule": "restarts"}
    with pytest.raises(UserError, match=r"'methods.mine.schedule' is 'restarts', which needs"):
        resolve_method(with_method(row), "mine", "mlp_vis")
    constant = resolve_method(with_method(row | {"schedule": "constant"}), "mine", "mlp_tab")
    assert constant.supernets == ("dense-constant",)
    point = SimpleNamespace(network="mlp_tab", dense="dense-constant", seed="0")
    chosen = schedule_of(settings.finetune_settings(CONFIG, point))
    assert (chosen.epochs, chosen.lr_at, chosen.member_epochs(True)) == (105, None, [105])


def test_words_of_paths_mean_one_thing_each():
    """An option that is a word stands in a path as that word alone."""
    words = [*KEY_OF_WORD, *INITS, *OBJECTIVES, *OTHER_SCORES, *MASKS[1:]]
    assert len(KEY_OF_WORD) == sum(map(len, WORDS.values()))
    assert all(re.fullmatch("[a-z_]+", word) for word in words)
    # A mask and the weights that fine-tuning starts from both may be `initial`: the latter is off.
    assert [word for word in set(words) if words.count(word) > 1] == ["initial"]
