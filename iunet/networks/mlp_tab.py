"""`mlp_tab`: the paper's network for tables, 9 hidden layers of 512."""

from __future__ import annotations

from iunet.networks.mlp import mlp
from iunet.networks.network import Network, NetworkSpec


def build(spec: NetworkSpec) -> Network:
    widths = [int(spec.options["width"])] * spec.options["depth"]
    return mlp(spec.n_inputs, widths, spec.n_classes)
