"""The shapes of the paper's vision networks, from which builders and cost estimates follow.

Standard library only: Snakemake asks for the size of a network at every start.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

# The CNN's convolutions, 3×3 with padding 1: (channels as a multiple of α, stride).
CNN_CONVOLUTIONS = ((1, 1), (2, 2), (2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2))
CNN_HIDDEN = 64  # units of the CNN's last hidden layer, as a multiple of α


def cnn_shapes(alpha: int, side: int) -> list[tuple[int, int, int]]:
    """(channels, stride, side of the output) of each convolution."""
    shapes = []
    for multiple, stride in CNN_CONVOLUTIONS:
        side = math.ceil(side / stride)
        shapes.append((multiple * alpha, stride, side))
    return shapes


def mlp_vis_widths(alpha: int, side: int) -> list[int]:
    """Hidden widths of the MLP that contains the CNN: one unit per output of each of its layers."""
    convolutions = [channels * size**2 for channels, _, size in cnn_shapes(alpha, side)]
    return [*convolutions, CNN_HIDDEN * alpha]


def mlp_tab_widths(n_inputs: int, n_classes: int, options: dict[str, Any]) -> list[int]:
    widths = [int(options["width"])] * options["depth"]
    return shrunk_widths(n_inputs, widths, n_classes, options.get("shrink", 1))


def shrunk_widths(n_inputs: int, widths: list[int], n_classes: int, ratio: float) -> list[int]:
    """Narrower layers, all narrowed alike: a dense network as large as a subnetwork.

    It has at most as many parameters as a network of `widths` of whose encoder 1/ratio of the
    weights are kept; such a one keeps BatchNorm and its decoder, which is large with many classes.
    """
    if ratio == 1:
        return widths

    def narrowed(factor: float) -> list[int]:
        return [max(1, math.floor(factor * width)) for width in widths]

    def parameters(widths: list[int], ratio: float = 1) -> int:
        encoder = sum(a * b for a, b in pairwise([n_inputs, *widths]))
        return round(encoder / ratio) + 2 * sum(widths) + n_classes * (widths[-1] + 1)

    allowed = parameters(widths, ratio)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        fits = parameters(narrowed(middle)) <= allowed
        low, high = (middle, high) if fits else (low, middle)
    return narrowed(low)
