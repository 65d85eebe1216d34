"""The shapes of the paper's vision networks, from which builders and cost estimates follow.

Standard library only: Snakemake asks for the size of a network at every start.
"""

from __future__ import annotations

import math

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
