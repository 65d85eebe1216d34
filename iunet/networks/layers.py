"""The layers of a network's encoder, known without building it.

Builders, sizes, estimates of time and memory, and expected densities all follow from these.
Standard library only: Snakemake asks for the size of a network at every start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple


class Shape(NamedTuple):
    """What a network needs to know of its data (iunet.data.sizes.Data has it, too)."""

    n_inputs: int  # columns after one-hot expansion, or pixels × channels
    n_classes: int
    side: int = 0  # of images


@dataclass(frozen=True)
class Layer:
    """A Linear or Conv without bias, and the BatchNorm behind it."""

    shape: tuple[int, ...]  # (units, inputs) or (channels, channels in, side, side)
    pixels: int = 1  # of a Conv's output

    @property
    def weights(self) -> int:
        return math.prod(self.shape)

    @property
    def fan_in(self) -> int:
        """Inputs of a unit, with the positions of a kernel."""
        return math.prod(self.shape[1:])

    @property
    def fan_out(self) -> int:
        return self.shape[0] * math.prod(self.shape[2:])


def linear_layers(widths: Sequence[int]) -> list[Layer]:
    """The layers of an MLP, from its number of inputs and its hidden widths."""
    return [Layer((b, a)) for a, b in pairwise(widths)]


def n_parameters(encoder: Sequence[Layer], n_classes: int) -> int:
    """The parameters of a network: encoder weights, BatchNorms and decoder."""
    norms = sum(2 * layer.shape[0] for layer in encoder)
    decoder = n_classes * (encoder[-1].shape[0] + 1)
    return sum(layer.weights for layer in encoder) + norms + decoder


def shrunk_widths(n_inputs: int, widths: list[int], n_classes: int, ratio: float) -> list[int]:
    """Narrower layers, all by the same factor: a dense network as large as a subnetwork.

    It has at most as many parameters as a network of `widths` that keeps 1/ratio of its encoder's
    weights. That one keeps BatchNorm and its decoder, which is large with many classes.
    """
    if ratio == 1:
        return widths

    def narrowed(factor: float) -> list[int]:
        return [max(1, math.floor(factor * width)) for width in widths]

    whole = linear_layers([n_inputs, *widths])
    n_weights = sum(layer.weights for layer in whole)
    allowed = n_parameters(whole, n_classes) - n_weights + round(n_weights / ratio)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        narrow = linear_layers([n_inputs, *narrowed(middle)])
        fits = n_parameters(narrow, n_classes) <= allowed
        low, high = (middle, high) if fits else (low, middle)
    return narrowed(low)
