"""`cnn`: eight convolutions without pooling, which `mlp_vis` contains."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from iunet.networks.layers import Layer, Shape

if TYPE_CHECKING:
    from iunet.networks.network import Network, NetworkSpec

# 3×3 with padding 1: (channels as a multiple of α, stride).
CONVOLUTIONS = ((1, 1), (2, 2), (2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2))
HIDDEN = 64  # units of the last hidden layer, as a multiple of α


def output_shapes(alpha: int, side: int) -> list[tuple[int, int]]:
    """(channels, side) of each convolution's output."""
    shapes = []
    for multiple, stride in CONVOLUTIONS:
        side = math.ceil(side / stride)
        shapes.append((multiple * alpha, side))
    return shapes


def layers(options: dict[str, Any], data: Shape) -> list[Layer]:
    found, channels_in, side = [], data.n_inputs // data.side**2, data.side
    for channels, side in output_shapes(options["alpha"], data.side):
        found.append(Layer((channels, channels_in, 3, 3), side**2))
        channels_in = channels
    return [*found, Layer((HIDDEN * options["alpha"], channels_in * side**2))]


def build(spec: NetworkSpec) -> Network:
    from torch import nn

    from iunet.networks.batchnorm import BatchNorm1d, BatchNorm2d
    from iunet.networks.network import Convolutional, Network, hidden

    *convolutions, last = spec.layers()
    modules: list[nn.Module] = []
    for layer, (_, stride) in zip(convolutions, CONVOLUTIONS, strict=True):
        channels, channels_in = layer.shape[:2]
        conv = nn.Conv2d(channels_in, channels, 3, stride=stride, padding=1, bias=False)
        modules += hidden(conv, BatchNorm2d(channels))
    units, inputs = last.shape
    modules += [nn.Flatten(), *hidden(nn.Linear(inputs, units, bias=False), BatchNorm1d(units))]
    return Network(Convolutional(*modules), nn.Linear(units, spec.n_classes))
