"""Labels, and methods that are told apart by their looks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from conftest import ROOT

from iunet.baselines.catalog import LEARNERS
from iunet.figures.catalog import FIGURES
from iunet.figures.style import LOOKS, look
from iunet.labels import METHOD_LABELS, dataset_label, method_label, method_order, network_label


def test_labels():
    assert method_label("dense") == "Dense"
    assert method_label("dense", "mlp_tab") == "MLP_TAB"
    assert method_label("iunet_lambda0.5") == "IUNET (λ = 0.5)"
    assert method_label("sup_kappa0.5") == "PIS (κ = 0.5)"
    assert method_label("iunet_no_ilo_size8") == "IUNET no ILO, α = 8"
    assert method_label("of_my_own") == "of_my_own"
    assert network_label("mlp_vis-alpha4") == "MLP_VIS (alpha4)"
    assert (dataset_label("cifar10"), dataset_label("credit-g")) == ("CIFAR10", "credit-g")
    assert method_order(["mlp_c", "zz", "iunet", "aa", "dense", "iunet"]) == [
        "dense",
        "iunet",
        "mlp_c",
        "aa",
        "zz",
    ]


def test_every_method_has_a_look_of_its_own():
    assert list(LOOKS) == [method for method in METHOD_LABELS if method in LOOKS]
    assert {"dense", "omp", "iunet", *LEARNERS} <= set(LOOKS)
    assert len({look.colour for look in LOOKS.values()}) == len(LOOKS)
    # Without colour, too.
    assert len({(look.marker, str(look.line)) for look in LOOKS.values()}) >= len(LOOKS) - 1
    assert look("mine") == look("mine") not in LOOKS.values()


# Machado, Oliveira and Fernandes 2009, complete protanopia and deuteranopia, on linear RGB.


SEEN_AS = {
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "normal": np.eye(3).tolist(),
}


def lab(colour: str, seen_as: str) -> np.ndarray:
    srgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(SEEN_AS[seen_as]) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.array(to_xyz) @ linear / [0.9505, 1, 1.089] + 1e-9)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen_as", SEEN_AS)
@pytest.mark.parametrize(
    "together",
    [
        ["omp", "iunet_no_ilo", "sup_kappa0.125", "sup_kappa0.0625", "iunet"],
        ["omp", "scl", "iunet_no_pis", "iunet"],
        ["dense", "omp", "beta_lasso", "iunet", "xgb", "tabnet", "mlp_c"],
    ],
)
def test_methods_of_one_figure_are_told_apart_by_the_colour_blind(together, seen_as):
    for a, b in itertools.combinations(together, 2):
        distance = np.linalg.norm(lab(LOOKS[a].colour, seen_as) - lab(LOOKS[b].colour, seen_as))
        assert distance > 15, (a, b, distance)


def test_every_figure_has_a_caption():
    for name in FIGURES:
        assert (ROOT / "reports" / "captions" / f"{name}.txt").read_text().endswith(".\n")
