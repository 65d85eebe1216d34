"""`mlp_tab`: the paper's network for tables, 9 hidden layers of 512."""

from __future__ import annotations

from iunet.networks.mlp import mlp
from iunet.networks.network import Network, NetworkSpec
from iunet.networks.shapes import mlp_tab_widths


def build(spec: NetworkSpec) -> Network:
    widths = mlp_tab_widths(spec.n_inputs, spec.n_classes, spec.options)
    return mlp(spec.n_inputs, widths, spec.n_classes)
