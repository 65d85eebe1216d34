"""The layers of the networks' encoders, known without building them.

Sizes, estimates of time and memory, and expected densities all follow from these. Standard library
only: Snakemake asks for the size of a network at every start.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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


@dataclass(frozen=True)
class Layer:
    """A Linear or Conv of the encoder, with BatchNorm behind it."""

    shape: tuple[int, ...]  # (units, inputs) or (channels, channels in, side, side)
    pixels: int = 1  # of a Conv's output

    @classmethod
    def of_shape(cls, shape: Sequence[int]) -> Layer:
        return cls(tuple(shape))

    @property
    def weights(self) -> int:
        return math.prod(self.shape)

    @property
    def fan_in(self) -> int:
        """Counts the kernel's positions too."""
        return math.prod(self.shape[1:])

    @property
    def fan_out(self) -> int:
        return self.shape[0] * math.prod(self.shape[2:])


def linear_layers(widths: Sequence[int]) -> list[Layer]:
    """Of an MLP, from its number of inputs and its hidden widths."""
    return [Layer((b, a)) for a, b in itertools.pairwise(widths)]


def mlp_tab(options: dict[str, Any], data: Data) -> list[Layer]:
    return linear_layers([data.n_inputs, *mlp_tab_widths(data.n_inputs, data.n_classes, options)])


def mlp_vis(options: dict[str, Any], data: Data) -> list[Layer]:
    widths = mlp_vis_widths(options["alpha"], data.side)
    widths = shrunk_widths(data.n_inputs, widths, data.n_classes, options.get("shrink", 1))
    return linear_layers([data.n_inputs, *widths])


def cnn(options: dict[str, Any], data: Data) -> list[Layer]:
    layers, channels_in, side = [], data.n_inputs // data.side**2, data.side
    for channels, _, side in cnn_shapes(options["alpha"], data.side):
        layers.append(Layer((channels, channels_in, 3, 3), side**2))
        channels_in = channels
    return layers + linear_layers([channels_in * side**2, CNN_HIDDEN * options["alpha"]])


def resnet18(options: dict[str, Any], data: Data) -> list[Layer]:
    """torchvision's: a 7×7 stem with stride 2, a pool with stride 2, eight blocks of two 3×3."""
    side = math.ceil(data.side / 2)
    channels_in = max(1, round(64 * options["width"]))
    layers = [Layer((channels_in, 3, 7, 7), side**2)]
    side = math.ceil(side / 2)
    for stage, (wide, stride) in enumerate(RESNET_STAGES):
        channels, side = max(1, round(wide * options["width"])), math.ceil(side / stride)
        inner = Layer((channels, channels, 3, 3), side**2)
        layers += [Layer((channels, channels_in, 3, 3), side**2), inner]
        # The shortcut's 1×1
        layers += [Layer((channels, channels_in, 1, 1), side**2)] if stage else []
        layers += [inner, inner]
        channels_in = channels
    return layers
