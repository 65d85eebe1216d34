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
from iunet.runs.names import (
    config_with_row,
    cuts_of,
    finetune_defaults,
    l1_of,
    network_options,
    parse_value,
    parse_variant,
    plan,
    ratio_of,
    resolve_method,
    supernet_defaults,
    value_text,
    variant_pattern,
    variant_text,
)

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
    assert [l1_of(supernet) for supernet in method.supernets] == CONFIG["beta_lasso"]["l1"]
    assert ratio_of("survivors-epochs9") is None and ratio_of("ratio8-epochs9") == 8.0
    changed = config_with_row(with_method(row), "mine", "mlp_vis")
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
    planned = plan(
        with_method(row, datasets=["vehicle"], networks=["mlp_vis", "mlp_tab"]), REGISTRY
    )
    (mine,) = (run for run in planned if run.method.name == "mine")
    assert mine.method.network == "mlp_tab-width256"


def test_network_options_from_a_path():
    assert network_options(CONFIG, "mlp_vis") == {"alpha": 8}
    assert network_options(CONFIG, "mlp_tab-depth3-width64") == {"width": 64, "depth": 3}


def test_rows_that_mean_the_same_share_their_runs():
    same = with_method({"kappa": 0.25, "objective": "ilo", "supernet": {"lambda": 1.0}})
    paths = {
        (run.method.network, *run.method.supernets)
        for run in plan(same, REGISTRY)
        if run.method.name in ("mine", "iunet") and run.method.network == "mlp_vis"
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
        plan(with_method(row), REGISTRY)


def test_rows_that_a_path_cannot_tell_apart_are_refused():
    """A dense network has no supernet, so its path cannot show κ."""
    config = with_method({"recipe": "dense", "kappa": 0.5})
    with pytest.raises(UserError, match="'dense' and 'mine' differ in kappa, but both would write"):
        plan(config, REGISTRY)


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
        plan(with_method(row), REGISTRY)
    assert fragment in str(caught.value)


def test_experiments_that_do_not_fit():
    row = {"kappa": 1, "objective": "sup"}
    with pytest.raises(UserError, match="runs mlp_tab on 'cifar10', which is a vision"):
        plan(with_method(row, networks=["mlp_tab"]), REGISTRY)
    with pytest.raises(UserError, match=r"names 'iunt', which is not a method. Did you mean"):
        plan(with_method(row, methods=["iunt"]), REGISTRY)
    with pytest.raises(UserError, match="runs xgb on 'cifar10', which is no table"):
        plan(with_method(row, methods=["xgb"]), REGISTRY)


def test_cuts_of_a_supernet_are_those_of_all_methods_together():
    planned = plan(CONFIG, REGISTRY)

    def cuts(*point: str) -> list[str] | None:
        return cuts_of(planned, *point)

    assert cuts("vehicle", "mlp_tab", "kappa0.25-ilo") == ["ratio2", "ratio4", "ratio8"]
    assert cuts("adult", "mlp_tab", "kappa0.25-ilo") == ["ratio8"]
    assert cuts("adult", "mlp_tab", "kappa1-lasso0.00001") == ["survivors"]
    assert cuts("svhn", "mlp_vis", "kappa1-sup") == ["ratio2", "ratio4", "ratio8", "ratio16"]
    assert cuts("svhn", "mlp_vis", "kappa7-sup") is None
    without = with_method({"kappa": 7, "objective": "sup", "prune": False})
    assert cuts_of(plan(without, REGISTRY), "cifar10", "mlp_vis", "kappa7-sup") == []


def test_resnet18_keeps_its_initialisation():
    config = with_method({"kappa": 1, "objective": "sup", "init": "glorot"})
    assert resolve_method(config, "mine", "resnet18").supernets == ("kappa1-sup",)
    assert resolve_method(config, "mine", "mlp_vis").supernets == ("kappa1-sup-glorot",)


def test_changes_of_a_row_stand_where_their_defaults_are():
    row = {"kappa": 1, "objective": "sup", "network": {"alpha": 2}}
    row |= {"supernet": {"lr": 0.5, "epochs": 7}, "finetune": {"momentum": 0.5}}
    changed = config_with_row(with_method(row), "mine", "mlp_vis")
    assert changed["networks"]["mlp_vis"] == {"alpha": 2}
    assert changed["train"]["supernet"]["epochs"] == 7
    assert changed["train"]["supernet"]["optimiser"]["lr"] == 0.5
    assert changed["train"]["finetune_vision"]["optimiser"]["momentum"] == 0.5
    assert CONFIG["networks"]["mlp_vis"] == {"alpha": 8}


def test_the_paper_trains_each_supernet_once():
    """Figure 2, tables 1 and 4 and the searches ask for seven supernets of mlp_vis per set."""
    planned = plan(CONFIG, REGISTRY)
    supernets = {
        supernet
        for run in planned
        if run.dataset == "cifar10" and run.method.network == "mlp_vis"
        for supernet in run.method.supernets
        if run.method.recipe != "beta_lasso"
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
    }


def test_finetune_defaults_by_kind():
    assert finetune_defaults(CONFIG, "vision")["epochs"] == 100
    tabular = finetune_defaults(CONFIG, "tabular")
    assert (tabular["cycles"], tabular["weight_decay"], "epochs" in tabular) == (3, 0.01, False)
