"""Every form of a pruned network computes the same function, and is what is timed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from toy_run import Toy

from iunet.artifacts import read_json, write_json
from iunet.evaluation.latency import (
    measure_chosen,
    measure_latency,
    pruned_forms,
    remove_dead_units,
)
from iunet.networks.folded import fold_batchnorm
from iunet.networks.network import NetworkSpec, build_network, encoder_weights
from iunet.tables.efficiency import MEASURED

SPECS = {
    "mlp_tab": NetworkSpec("mlp_tab", 3, n_inputs=7, options={"width": 24, "depth": 3}),
    "mlp_vis": NetworkSpec("mlp_vis", 3, side=8, options={"alpha": 1}),
    "cnn": NetworkSpec("cnn", 3, side=16, options={"alpha": 2}),
    "resnet18": NetworkSpec("resnet18", 3, side=32, options={"width": 0.125}),
}


def pruned(spec: NetworkSpec, density: float):
    """A network with random statistics and biases, some units dead on either side."""
    torch.manual_seed(0)
    network = build_network(spec).eval()
    rng = np.random.default_rng(0)
    for module in network.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
            nn.init.normal_(module.weight)
            nn.init.normal_(module.bias)
    masks = {}
    for name, weight in encoder_weights(network).items():
        mask = rng.random(weight.shape) < density
        mask[:2] = False  # no incoming weights
        if mask.shape[1] > 6:
            mask[:, 2:6] = False  # of the layer before: no outgoing ones
        masks[name] = mask
        weight.data.mul_(torch.from_numpy(mask))
    shape = (spec.n_inputs,) if spec.name == "mlp_tab" else (3, spec.side, spec.side)
    return network, masks, torch.randn(5, *shape)


@pytest.mark.parametrize("name", SPECS)
@torch.no_grad()
def test_forms_compute_the_same(name):
    network, _, x = pruned(SPECS[name], 0.3)
    expected = network(x)
    forms = {"dense": fold_batchnorm(network), **pruned_forms(network)}
    assert ("smaller" in forms) == (name != "resnet18")
    for form in forms.values():
        torch.testing.assert_close(form(x), expected, rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_dead_units_go():
    network, masks, _ = pruned(SPECS["mlp_tab"], 0.5)
    smaller = remove_dead_units(fold_batchnorm(network))
    widths = [len(layer.weight) for layer in smaller.encoder if isinstance(layer, nn.Linear)]
    first, second, third = masks.values()
    alive = [(first.any(axis=1) & second.any(axis=0)).sum()]
    alive += [(second.any(axis=1) & third.any(axis=0)).sum(), third.any(axis=1).sum()]
    assert widths == alive
    assert widths[1:] == [18, 22]  # of 24: 2 without inputs, 4 without outputs


@torch.no_grad()
def test_a_network_that_lost_everything():
    network, _, x = pruned(SPECS["mlp_tab"], 0.0)
    for form in pruned_forms(network).values():
        torch.testing.assert_close(form(x), network(x), rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_measurement():
    spec = SPECS["mlp_tab"]
    network, _, x = pruned(spec, 0.2)
    before = network(x)
    found = measure_latency(network, spec, repeats=3)
    assert set(found["forms_ms"]) == {"1", "128"}
    for batch, times in found["forms_ms"].items():
        assert found[f"latency_{batch}_dense_ms"] == times.pop("dense") > 0
        assert found[f"latency_{batch}_pruned_ms"] == min(times.values()) > 0
        assert min(times, key=times.get) in found["form"]
    torch.testing.assert_close(network(x), before)  # measuring leaves the network alone


def test_the_measure_stage(tmp_path):
    toy = Toy(tmp_path)
    toy.initialise()
    toy.supernet(epochs=1)
    toy.prune(4)
    toy.finetune()
    toy.finetune("dense", dense=True)
    point = {"supernet": "kappa1-sup", "cut": "ratio4"}
    write_json(toy.path("choice.json"), {"chosen": point})
    files = {
        "weights": toy.path("finetune/weights"),
        "mask": toy.path("mask/mask"),
        "mask_report": toy.path("mask/report"),
    }
    run = {"dataset": "toy", "network": "mlp_tab", "method": "iunet", "seed": 0}
    candidates = [point | {"cut": "ratio8"}, point | files]
    fixed = toy.path("dense/weights"), toy.path("initial/description"), run
    measure_chosen(toy.path("choice.json"), candidates, *fixed, toy.path("measure.json"), repeats=2)
    content = read_json(toy.path("measure.json"))
    assert content["bytes_dense"] == (tmp_path / "dense/weights").stat().st_size
    sizes = [(tmp_path / name).stat().st_size for name in ("finetune/weights", "mask/mask")]
    assert content["bytes_pruned"] == sum(sizes)
    assert content["latency_1_dense_ms"] > 0 and content["method"] == "iunet"
    assert set(MEASURED) <= set(content)  # all columns of the efficiency table
