"""`mlp_vis`: the fully connected supernet that contains `cnn`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iunet.networks import cnn
from iunet.networks.layers import Layer, Shape, linear_layers, shrunk_widths

if TYPE_CHECKING:
    from iunet.networks.network import Network, NetworkSpec


def mlp_vis_widths(alpha: int, side: int) -> list[int]:
    """One hidden unit per output of each of the CNN's layers."""
    convolutions = [channels * size**2 for channels, size in cnn.output_shapes(alpha, side)]
    return [*convolutions, cnn.HIDDEN * alpha]


def layers(options: dict[str, Any], data: Shape) -> list[Layer]:
    hidden = mlp_vis_widths(options["alpha"], data.side)
    hidden = shrunk_widths(data.n_inputs, hidden, data.n_classes, options.get("shrink", 1))
    return linear_layers([data.n_inputs, *hidden])


def build(spec: NetworkSpec) -> Network:
    from iunet.networks.network import mlp

    return mlp(spec, flatten=True)
