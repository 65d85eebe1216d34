"""Methods become coordinates, coordinates become paths, and back."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iunet.data.registry import read_registry
from iunet.errors import UserError
from iunet.runs.entries import all_cells
from iunet.runs.methods import config_with_row, resolve_method
from iunet.runs.names import (
    CutName,
    DenseName,
    SupernetName,
    parse_value,
    parse_variant,
    value_text,
    variant_pattern,
    variant_text,
)
from iunet.runs.settings import finetune_defaults, network_settings, supernet_defaults
from iunet.tables.catalog import fixed_pairs

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
REGISTRY = read_registry([ROOT / "config" / "datasets.csv"])


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
    assert re.fullmatch(variant_pattern(defaults), text)


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


@pytest.mark.parametrize(
    ("row", "fragment"),
    [
        ({"recipe": "beta_lasso", "ratios": [2]}, "'methods.mine.ratios' is not for the recipe"),
        ({"recipe": "beta_lasso", "supernet": {"lambda": 1}}, "'methods.mine.supernet.lambda'"),
        ({"recipe": "tabnet", "kappa": 1}, "'methods.mine.kappa' is not for the recipe 'tabnet'"),
    ],
)
def test_keys_that_a_baseline_does_not_have(row, fragment):
    with pytest.raises(UserError, match=re.escape(fragment)):
        resolve_method(with_method(row), "mine", "mlp_vis")


def test_a_row_may_change_what_only_its_networks_have():
    """Table 7 has no images: that mlp_vis knows no such keys does not matter there."""
    row = {"kappa": 1, "objective": "sup", "network": {"width": 256}, "finetune": {"cycles": 1}}
    planned = all_cells(
        with_method(row, datasets=["vehicle"], networks=["mlp_vis", "mlp_tab"]), REGISTRY
    )
    (mine,) = (cell for cell in planned if cell.method.name == "mine")
    assert mine.method.network == "mlp_tab-width256"


def test_network_options_from_a_path():
    assert network_settings(CONFIG, "mlp_vis") == {
        "name": "mlp_vis",
        "options": {"alpha": 8},
    }
    changed = network_settings(CONFIG, "mlp_tab-depth3-width64")
    assert changed == {"name": "mlp_tab", "options": {"width": 64, "depth": 3}}


def test_rows_that_mean_the_same_share_their_runs():
    same = with_method({"kappa": 0.25, "objective": "ilo", "supernet": {"lambda": 1.0}})
    paths = {
        (cell.method.network, *cell.method.supernets)
        for cell in all_cells(same, REGISTRY)
        if cell.method.name in ("mine", "iunet") and cell.method.network == "mlp_vis"
    }
    assert paths == {("mlp_vis", "kappa0.25-ilo")}


@pytest.mark.parametrize(
    ("row", "key"),
    [
        ({"kappa": 0.2500000001, "objective": "ilo"}, "kappa"),
        ({"kappa": 1, "objective": "ilo", "supernet": {"lambda": 1.00000001}}, "supernet.lambda"),
        ({"kappa": 1, "objective": "sup", "ratios": [2.0000001]}, "ratios"),
    ],
)
def test_values_that_a_path_cannot_say_are_refused(row, key):
    with pytest.raises(UserError, match=f"'methods.mine.{key}' is .* holds six digits"):
        all_cells(with_method(row), REGISTRY)


def test_rows_that_a_path_cannot_tell_apart_are_refused():
    """All transforms are what there is without the key: one path, and two rows for it."""
    every = {"only": ["resize", "horiz", "color", "graysc"]}
    config = with_method({"kappa": 0.25, "objective": "ilo", "augment": every})
    config["experiments"]["mine"] |= {"datasets": ["cifar10"], "networks": ["mlp_vis"]}
    with pytest.raises(UserError, match="'iunet' and 'mine' differ in augment, but both would"):
        all_cells(config, REGISTRY)


@pytest.mark.parametrize(
    ("row", "fragment"),
    [
        ({"kappa": 1, "objective": "sup", "supernet": {"lamda": 1}}, "Did you mean 'lambda'?"),
        ({"kappa": 1, "objective": "sup", "network": {"beta": 1}}, "'methods.mine.network.beta'"),
        ({"kappa": 1, "objective": "sup", "finetune": {"cycles": 1}}, "'methods.mine.finetune.cy"),
        ({"recipe": "iunet", "kappa": 1}, "lacks the key 'methods.mine.objective'"),
    ],
)
def test_changes_of_keys_that_do_not_exist(row, fragment):
    with pytest.raises(UserError) as caught:
        all_cells(with_method(row), REGISTRY)
    assert fragment in str(caught.value)


def test_experiments_that_do_not_fit():
    row = {"kappa": 1, "objective": "sup"}
    with pytest.raises(UserError, match="runs mlp_tab on 'cifar10', which is a vision"):
        all_cells(with_method(row, networks=["mlp_tab"]), REGISTRY)
    with pytest.raises(UserError, match=r"names 'iunt', which is not a method. Did you mean"):
        all_cells(with_method(row, methods=["iunt"]), REGISTRY)
    with pytest.raises(UserError, match="runs xgb on 'cifar10', which is no table"):
        all_cells(with_method(row, methods=["xgb"]), REGISTRY)


def test_cuts_of_a_method():
    """Of a data set those that its methods ask for, and no others."""

    def cuts(dataset: str, supernet: str, config: dict = CONFIG) -> set[str]:
        cells = [cell for cell in all_cells(config, REGISTRY) if cell.dataset == dataset]
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
    with pytest.raises(UserError, match=r"names no|is no number"):
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
    planned = all_cells(CONFIG, REGISTRY, fixed_pairs())
    supernets = {
        supernet
        for cell in planned
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
