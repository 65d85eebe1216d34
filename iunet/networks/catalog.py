"""The catalog of networks: for each its kind of data, its file, its name for people, its size.

A new network is an entry here and a file with `build(spec)`. Standard library only, since Snakemake
asks at every start how large a network will be; no result depends on what stands here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iunet.errors import UserError, nearest
from iunet.networks.shapes import (
    CNN_HIDDEN,
    cnn_shapes,
    mlp_tab_widths,
    mlp_vis_widths,
    shrunk_widths,
)

if TYPE_CHECKING:
    from iunet.data.sizes import Data

RESNET_STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))  # channels, stride; two blocks each
RESNET_LAYERS = 21


@dataclass(frozen=True)
class Size:
    """A network for a data set: floating-point operations are those of one sample, forward."""

    parameters: int
    linear_flops: int
    conv_flops: int
    units: int  # outputs of all hidden layers: what a step keeps per sample
    layers: int = 10  # with weights: each is a number of kernels that a step starts


@dataclass(frozen=True)
class NetworkEntry:
    """What is known of a network without building it."""

    kind: str  # of the data it is for: tabular or vision
    module: str  # has the function `build`
    label: str  # for people, the paper's where it has one
    size: Callable[[dict[str, Any], Data], Size]  # from its options and the data
    own_init: bool = False  # keeps its library's initialisation, whatever the config says
    chain: bool = True  # layers follow one another, so that whole units can be removed


def network_entry(name: str) -> NetworkEntry:
    if name not in NETWORKS:
        raise UserError(
            f"There is no network '{name}'.{nearest(name, NETWORKS)} Known are: "
            f"{', '.join(NETWORKS)}."
        )
    return NETWORKS[name]


# ---- sizes


def _mlp(n_inputs: int, widths: list[int], n_classes: int) -> Size:
    pairs = zip([n_inputs, *widths], [*widths, n_classes], strict=True)
    weights = sum(a * b for a, b in pairs)
    parameters = weights + 2 * sum(widths) + n_classes  # BatchNorm, the decoder's bias
    return Size(parameters, 2 * weights, 0, sum(widths), len(widths) + 1)


def _mlp_tab(options: dict[str, Any], data: Data) -> Size:
    widths = mlp_tab_widths(data.n_inputs, data.n_classes, options)
    return _mlp(data.n_inputs, widths, data.n_classes)


def _mlp_vis(options: dict[str, Any], data: Data) -> Size:
    widths = mlp_vis_widths(options["alpha"], data.side)
    widths = shrunk_widths(data.n_inputs, widths, data.n_classes, options.get("shrink", 1))
    return _mlp(data.n_inputs, widths, data.n_classes)


def _cnn(options: dict[str, Any], data: Data) -> Size:
    channels_in = data.n_inputs // data.side**2
    weights = flops = units = side = 0
    shapes = cnn_shapes(options["alpha"], data.side)
    for channels, _, side in shapes:
        weights += 9 * channels_in * channels + 2 * channels
        flops += 2 * 9 * channels_in * channels * side**2
        units += channels * side**2
        channels_in = channels
    head = _mlp(channels_in * side**2, [CNN_HIDDEN * options["alpha"]], data.n_classes)
    return Size(
        weights + head.parameters,
        head.linear_flops,
        flops,
        units + head.units,
        len(shapes) + head.layers,
    )


def _resnet18(options: dict[str, Any], data: Data) -> Size:
    """torchvision's: a 7×7 stem with stride 2, a pool with stride 2, eight blocks of two 3×3."""
    width = options["width"]
    side = math.ceil(data.side / 2)
    channels_in = max(1, round(64 * width))
    weights = 49 * 3 * channels_in
    flops, units = 2 * weights * side**2, channels_in * side**2
    norms, side = 2 * channels_in, math.ceil(side / 2)
    for stage, (wide, stride) in enumerate(RESNET_STAGES):
        channels, side = max(1, round(wide * width)), math.ceil(side / stride)
        layers = [9 * channels_in * channels, *[9 * channels**2] * 3]
        layers += [channels_in * channels] if stage > 0 else []  # the shortcut's 1×1
        weights += sum(layers)
        flops += 2 * sum(layers) * side**2
        units += len(layers) * channels * side**2
        norms += 2 * channels * len(layers)
        channels_in = channels
    decoder = channels_in * data.n_classes
    return Size(
        weights + norms + decoder + data.n_classes, 2 * decoder, flops, units, RESNET_LAYERS
    )


NETWORKS = {
    "mlp_vis": NetworkEntry("vision", "iunet.networks.mlp_vis", "MLP_VIS", _mlp_vis),
    "cnn": NetworkEntry("vision", "iunet.networks.cnn", "CNN", _cnn),
    "resnet18": NetworkEntry(
        "vision", "iunet.networks.resnet18", "RESNET", _resnet18, own_init=True, chain=False
    ),
    "mlp_tab": NetworkEntry("tabular", "iunet.networks.mlp_tab", "MLP_TAB", _mlp_tab),
}
