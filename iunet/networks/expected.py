"""How many weights of each layer a global threshold on the initial weights keeps, before any draw.

With uniform initial weights a layer with many inputs has a small bound. If the threshold of all
layers together lies above it, the layer loses every weight, and as far as training does not change
which weights are large, so does the pruned network. PIS scales all layers alike and changes none of
this by itself. Standard library only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iunet.networks.catalog import RESNET_STAGES, network_entry
from iunet.networks.shapes import CNN_HIDDEN, cnn_shapes, mlp_vis_widths

if TYPE_CHECKING:
    from iunet.data.sizes import Data

OWN = "fan_out_normal"  # torchvision's for its ResNets: normal, std √(2/fan_out)
STEPS = 200  # of the bisection: more than a double has bits


@dataclass(frozen=True)
class Layer:
    """A Linear or Conv of the encoder; the fans count the kernel's positions too."""

    weights: int
    fan_in: int
    fan_out: int

    @classmethod
    def of_shape(cls, shape: list[int]) -> Layer:
        """From a weight's shape: [units, inputs] or [channels, channels in, side, side]."""
        kernel = math.prod(shape[2:])
        return cls(math.prod(shape), shape[1] * kernel, shape[0] * kernel)


# ---- one layer


def kept_share(layer: Layer, init: str, threshold: float) -> float:
    """The part of a layer's initial weights whose magnitude is above a threshold."""
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


# ---- the layers of the networks


def init_of(network: str, init: str) -> str:
    """A network that keeps its library's initialisation has that, whatever the config says."""
    return OWN if network_entry(network).own_init else init


def encoder_layers(network: str, options: dict[str, Any], data: Data) -> list[Layer] | None:
    """The encoder's layers in their order; None for networks that are not known here."""
    return LAYERS[network](options, data) if network in LAYERS else None


def _mlp(n_inputs: int, widths: list[int]) -> list[Layer]:
    return [Layer(a * b, a, b) for a, b in itertools.pairwise([n_inputs, *widths])]


def _mlp_tab(options: dict[str, Any], data: Data) -> list[Layer]:
    return _mlp(data.n_inputs, [int(options["width"])] * options["depth"])


def _mlp_vis(options: dict[str, Any], data: Data) -> list[Layer]:
    return _mlp(data.n_inputs, mlp_vis_widths(options["alpha"], data.side))


def _conv(channels_in: int, channels: int, side: int) -> Layer:
    return Layer.of_shape([channels, channels_in, side, side])


def _cnn(options: dict[str, Any], data: Data) -> list[Layer]:
    shapes = cnn_shapes(options["alpha"], data.side)
    channels = [data.n_inputs // data.side**2, *(channels for channels, _, _ in shapes)]
    layers = [_conv(a, b, 3) for a, b in itertools.pairwise(channels)]
    side = shapes[-1][2]
    return layers + _mlp(channels[-1] * side**2, [CNN_HIDDEN * options["alpha"]])


def _resnet18(options: dict[str, Any], data: Data) -> list[Layer]:
    channels_in = max(1, round(64 * options["width"]))
    layers = [_conv(3, channels_in, 7)]
    for stage, (wide, _) in enumerate(RESNET_STAGES):
        channels = max(1, round(wide * options["width"]))
        layers += [_conv(channels_in, channels, 3), _conv(channels, channels, 3)]
        layers += [_conv(channels_in, channels, 1)] if stage else []  # the shortcut
        layers += [_conv(channels, channels, 3)] * 2
        channels_in = channels
    return layers


LAYERS: dict[str, Callable[[dict[str, Any], Data], list[Layer]]] = {
    "mlp_vis": _mlp_vis,
    "cnn": _cnn,
    "resnet18": _resnet18,
    "mlp_tab": _mlp_tab,
}
