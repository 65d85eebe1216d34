"""Expected initial densities: the predictions, and agreement with weights that are drawn."""

from __future__ import annotations

import pytest

from iunet.data.sizes import Data
from iunet.method.pruning import magnitude_masks
from iunet.networks.catalog import NETWORKS
from iunet.networks.expected import OWN, Layer, bound, expected_densities, global_threshold, init_of
from iunet.networks.network import NetworkSpec, build_network, encoder_weights, initialise

IMAGES = Data(1, 1, 1, 3 * 32**2, 10, 32)
OPTIONS = {
    "mlp_vis": {"alpha": 8},
    "cnn": {"alpha": 8},
    "resnet18": {"width": 1.0},
    "mlp_tab": {"width": 512, "depth": 9},
}


def table(n_inputs: int) -> Data:
    return Data(1, 1, 1, n_inputs, 2)


def test_ratio_8_cuts_the_second_layer_of_mlp_vis_off():
    layers = NETWORKS["mlp_vis"].layers({"alpha": 8}, IMAGES)
    assert sum(layer.weights for layer in layers) == 92_012_544
    assert global_threshold(layers, "torch_default", 8) == pytest.approx(0.0140, abs=5e-5)
    assert bound(layers[1], "torch_default") == pytest.approx(0.0110, abs=5e-5)
    densities = expected_densities(layers, "torch_default", 8)
    assert densities[1] == 0 and min(densities[:1] + densities[2:]) > 0


@pytest.mark.parametrize(("ratio", "density"), [(8, 0.03), (16, 0.007)])
def test_with_normal_weights_it_is_thin_but_connected(ratio, density):
    layers = NETWORKS["mlp_vis"].layers({"alpha": 8}, IMAGES)
    found = expected_densities(layers, "he_normal", ratio)
    assert found[1] == min(found) == pytest.approx(density, rel=0.1)


def test_the_first_layer_of_mlp_tab_is_cut_off_from_about_700_inputs_on():
    def first(n_inputs: int) -> float:
        layers = NETWORKS["mlp_tab"].layers(OPTIONS["mlp_tab"], table(n_inputs))
        return expected_densities(layers, "torch_default", 8)[0]

    assert first(650) > 0 and first(750) == 0
    assert first(10) > first(100) > first(500) > 0


def test_all_layers_together_keep_the_ratio():
    layers = NETWORKS["cnn"].layers({"alpha": 2}, IMAGES)
    for init in ("torch_default", "he_normal", "glorot", OWN):
        for ratio in (1, 2, 8, 1000):
            kept = zip(layers, expected_densities(layers, init, ratio), strict=True)
            n = sum(layer.weights for layer in layers)
            assert sum(layer.weights * d for layer, d in kept) == pytest.approx(n / ratio)


@pytest.mark.parametrize("network", NETWORKS)
def test_every_network_has_the_layers_that_are_built(network):
    small = {"mlp_vis": {"alpha": 1}, "cnn": {"alpha": 2}, "resnet18": {"width": 0.25}}
    options = small.get(network, {"width": 20, "depth": 3})
    spec = NetworkSpec(network, 10, n_inputs=7, channels=3, side=16, options=options)
    data = table(7) if NETWORKS[network].kind == "tabular" else Data(1, 1, 1, 3 * 16**2, 10, 16)
    built = encoder_weights(build_network(spec)).values()
    shapes = [layer.shape for layer in NETWORKS[network].layers(options, data)]
    assert shapes == [tuple(weight.shape) for weight in built]


@pytest.mark.parametrize("init", ["torch_default", "he_normal", "glorot"])
@pytest.mark.parametrize("network", NETWORKS)
def test_drawn_weights_have_the_expected_densities(network, init):
    small = {"mlp_vis": {"alpha": 1}, "cnn": {"alpha": 4}, "resnet18": {"width": 0.5}}
    options = small.get(network, {"width": 128, "depth": 3})
    spec = NetworkSpec(network, 10, n_inputs=400, channels=3, side=16, options=options)
    drawn = encoder_weights(initialise(spec, init, seed=0))
    weights = {name: weight.detach().numpy() for name, weight in drawn.items()}
    masks = magnitude_masks(weights, list(weights), 8)
    layers = [Layer(weight.shape) for weight in weights.values()]
    expected = expected_densities(layers, init_of(network, init), 8)
    for mask, density in zip(masks.values(), expected, strict=True):
        spread = 4 * (density * (1 - density) / mask.size) ** 0.5
        assert mask.mean() == pytest.approx(density, abs=spread + 0.004)
