"""Fully connected networks, for tables and images alike."""

from __future__ import annotations

from torch import nn

from iunet.networks.batchnorm import BatchNorm1d
from iunet.networks.network import Network, hidden


def mlp(n_inputs: int, widths: list[int], n_classes: int, flatten: bool = False) -> Network:
    layers: list[nn.Module] = [nn.Flatten()] if flatten else []
    for width_in, width in zip([n_inputs, *widths], widths, strict=False):
        layers += hidden(nn.Linear(width_in, width, bias=False), BatchNorm1d(width))
    return Network(nn.Sequential(*layers), nn.Linear(widths[-1], n_classes))
