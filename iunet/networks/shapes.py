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


def mlp_tab_widths(n_inputs: int, options: dict[str, Any]) -> list[int]:
    widths = [int(options["width"])] * options["depth"]
    return shrunk_widths(n_inputs, widths, options.get("shrink", 1))


def shrunk_widths(n_inputs: int, widths: list[int], ratio: float) -> list[int]:
    """Narrower layers with at most 1/ratio of the encoder's weights, all narrowed alike.

    A dense network as large as a subnetwork of that compression ratio.
    """
    if ratio == 1:
        return widths

    def weights(factor: float) -> int:
        narrowed = [n_inputs, *(max(1, math.floor(factor * width)) for width in widths)]
        return sum(a * b for a, b in pairwise(narrowed))

    allowed = round(weights(1.0) / ratio)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if weights(middle) <= allowed else (low, middle)
    return [max(1, math.floor(low * width)) for width in widths]
