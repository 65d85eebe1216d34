"""`mlp_tab`: the paper's network for tables, 9 hidden layers of 512."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iunet.networks.layers import Layer, Shape, linear_layers, shrunk_widths

if TYPE_CHECKING:
    from iunet.networks.network import Network, NetworkSpec


def layers(options: dict[str, Any], data: Shape) -> list[Layer]:
    hidden = [int(options["width"])] * options["depth"]
    hidden = shrunk_widths(data.n_inputs, hidden, data.n_classes, options.get("shrink", 1))
    return linear_layers([data.n_inputs, *hidden])


def build(spec: NetworkSpec) -> Network:
    from iunet.networks.network import mlp

    return mlp(spec)
