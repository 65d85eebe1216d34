"""The catalog of networks: their kind of data, their file, and their name for people.

A new network is an entry here and a file with `layers(options, data)` and `build(spec)`. Snakemake
asks at every start how large a network will be, so these files import torch in `build` only.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from iunet.errors import UserError, nearest
from iunet.networks.layers import Layer, Shape, n_parameters


@dataclass(frozen=True)
class Size:
    """The size of a network for a data set; operations are those of one sample, forward."""

    parameters: int
    linear_flops: int
    conv_flops: int
    units: int  # outputs of all hidden layers: what a step keeps per sample
    layers: int  # with weights: each is a number of kernels that a step starts


@dataclass(frozen=True)
class NetworkEntry:
    """What is known of a network without building it."""

    kind: str  # of the data it is for: tabular or vision
    module: str  # has the functions `layers` and `build`
    label: str  # for people, the paper's where it has one
    own_init: bool = False  # keeps its library's initialisation, whatever the config says
    chain: bool = True  # layers follow one another, so that whole units can be removed

    def layers(self, options: dict[str, Any], data: Shape) -> list[Layer]:
        """The layers of its encoder."""
        return import_module(self.module).layers(options, data)

    def size(self, options: dict[str, Any], data: Shape) -> Size:
        """Its size, from which jobs get their memory and time."""
        encoder = self.layers(options, data)
        decoder = encoder[-1].shape[0] * data.n_classes
        linear = [layer for layer in encoder if len(layer.shape) == 2]
        convolutions = [layer for layer in encoder if len(layer.shape) > 2]
        return Size(
            n_parameters(encoder, data.n_classes),
            2 * (sum(layer.weights for layer in linear) + decoder),
            2 * sum(layer.weights * layer.pixels for layer in convolutions),
            sum(layer.shape[0] * layer.pixels for layer in encoder),
            len(encoder) + 1,
        )


def network_entry(name: str) -> NetworkEntry:
    if name not in NETWORKS:
        raise UserError(
            f"The network '{name}' does not exist.{nearest(name, NETWORKS)} Known networks: "
            f"{', '.join(NETWORKS)}."
        )
    return NETWORKS[name]


NETWORKS = {
    "mlp_vis": NetworkEntry("vision", "iunet.networks.mlp_vis", "MLP_VIS"),
    "cnn": NetworkEntry("vision", "iunet.networks.cnn", "CNN"),
    "resnet18": NetworkEntry(
        "vision", "iunet.networks.resnet18", "RESNET", own_init=True, chain=False
    ),
    "mlp_tab": NetworkEntry("tabular", "iunet.networks.mlp_tab", "MLP_TAB"),
}
