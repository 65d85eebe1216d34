"""`mlp_vis`: the fully connected supernet that contains `cnn`."""

from __future__ import annotations

from iunet.networks.mlp import mlp
from iunet.networks.network import Network, NetworkSpec
from iunet.networks.shapes import mlp_vis_widths, shrunk_widths


def build(spec: NetworkSpec) -> Network:
    n_inputs = spec.channels * spec.side**2
    widths = mlp_vis_widths(spec.options["alpha"], spec.side)
    widths = shrunk_widths(n_inputs, widths, spec.n_classes, spec.options.get("shrink", 1))
    return mlp(n_inputs, widths, spec.n_classes, flatten=True)
