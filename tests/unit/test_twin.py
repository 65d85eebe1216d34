"""PIS is a larger step for weights before a BatchNorm: the whole trajectory is the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from toy_run import SUPERNET

from iunet.data.load import Part, TrainingData, make_inputs
from iunet.data.preprocess import Numeric, Preprocessing
from iunet.method.pruning import magnitude_masks
from iunet.networks.network import NetworkSpec, build_network, encoder_weights, initialise
from iunet.training.supernet import SupernetSettings, fit_supernet

SMALL = NetworkSpec("mlp_tab", 3, n_inputs=5, options={"width": 16, "depth": 3})


@pytest.fixture(scope="module")
def data() -> TrainingData:
    rng = np.random.default_rng(0)
    labels = np.arange(100) % 3
    rows = 2 * rng.normal(size=(3, 5))[labels] + rng.normal(size=(100, 5))
    part = Part(torch.from_numpy(rows), torch.from_numpy(labels))
    columns = [Numeric(f"x{i}", 0.0, 0.0, 1.0) for i in range(5)]
    facts = {"kind": "tabular", **Preprocessing(columns, [], []).to_json()}
    return TrainingData(part, make_inputs(facts, torch.device("cpu"), {"corruption": 0.6}, part))


def trained(data: TrainingData, **changes) -> dict[str, np.ndarray]:
    """The encoder's weights after six epochs in float64 with a tiny ε."""
    network = build_network(SMALL).double()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.eps = 1e-14
    initial = initialise(SMALL, "torch_default", 0).double().state_dict()
    settings = SupernetSettings(**SUPERNET | {"epochs": 6, "histograms": False} | changes)
    state = fit_supernet(network, initial, data, settings).state
    return {name: state[name].numpy() for name in encoder_weights(network)}


def masks(weights: dict[str, np.ndarray]) -> np.ndarray:
    found = magnitude_masks(weights, list(weights), 8)
    return np.concatenate([mask.ravel() for mask in found.values()])


@pytest.mark.parametrize(("objective", "kappa"), [("sup", 0.3), ("ilo", 0.25)])
def test_the_exact_twin_takes_the_path_of_pis(data, objective, kappa):
    """κ·θ all along, and so the same mask; without either of its two parts it is another path."""
    pis = trained(data, objective=objective, kappa=kappa)
    twin = {"objective": objective, "kappa": 1, "decoder_kappa": kappa}
    twin["normalised_step"] = 1 / kappa**2
    found = trained(data, **twin)
    for name, weights in found.items():
        assert np.allclose(pis[name], kappa * weights, rtol=1e-6, atol=1e-9), name
    assert (masks(pis) == masks(found)).all()
    for part in ("decoder_kappa", "normalised_step"):
        assert (masks(pis) != masks(trained(data, **twin | {part: 1}))).any(), part
