"""How many weights of each layer a global threshold on the initial weights keeps, in expectation.

Uniform initial weights of a layer with many inputs have a small bound. If the threshold of all
layers together is above it, the layer loses every weight, and so does the pruned network unless
training changes which weights are large. PIS scales all layers by one factor and does not change
this by itself. Standard library only.
"""

from __future__ import annotations

import math

from iunet.networks.catalog import network_entry
from iunet.networks.layers import Layer

OWN = "fan_out_normal"  # torchvision's for ResNets: normal, std √(2/fan_out)
STEPS = 200  # of the bisection, more than the bits of a double


# ---- one layer


def kept_share(layer: Layer, init: str, threshold: float) -> float:
    """The share of a layer's initial weights with a magnitude above a threshold."""
    if init == "he_normal":
        return _normal(threshold, math.sqrt(2 / layer.fan_in))
    if init == OWN:
        return _normal(threshold, math.sqrt(2 / layer.fan_out))
    return max(0.0, 1 - threshold / bound(layer, init))


def bound(layer: Layer, init: str) -> float:
    """The largest magnitude of a layer's initial weights; infinite if they are normal."""
    if init == "torch_default":
        return 1 / math.sqrt(layer.fan_in)
    if init == "glorot":
        return math.sqrt(6 / (layer.fan_in + layer.fan_out))
    return math.inf


def _normal(threshold: float, std: float) -> float:
    return math.erfc(threshold / std / math.sqrt(2))


# ---- all layers together


def global_threshold(layers: list[Layer], init: str, ratio: float) -> float:
    """The magnitude above which n/ratio of the n initial weights are expected, by bisection."""
    wanted = sum(layer.weights for layer in layers) / ratio
    low, high = 0.0, 1.0
    while _kept(layers, init, high) > wanted:
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        if _kept(layers, init, middle) > wanted:
            low = middle
        else:
            high = middle
    return high


def _kept(layers: list[Layer], init: str, threshold: float) -> float:
    return sum(layer.weights * kept_share(layer, init, threshold) for layer in layers)


def expected_densities(layers: list[Layer], init: str, ratio: float) -> list[float]:
    """The expected density of each layer in the mask of the initial weights."""
    threshold = global_threshold(layers, init, ratio)
    return [kept_share(layer, init, threshold) for layer in layers]


def init_of(network: str, init: str) -> str:
    """The initialisation of a network: its library's if it keeps that, else the config's."""
    return OWN if network_entry(network).own_init else init
