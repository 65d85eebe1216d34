"""The catalog of networks: for each its kind of data, its file, its name for people, its layers.

A new network is an entry here and a file with `build(spec)`. Standard library only, since Snakemake
asks at every start how large a network will be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iunet.errors import UserError, nearest
from iunet.networks import layers
from iunet.networks.layers import Layer

if TYPE_CHECKING:
    from iunet.data.sizes import Data


@dataclass(frozen=True)
class Size:
    """A network for a data set: floating-point operations are those of one sample, forward."""

    parameters: int
    linear_flops: int
    conv_flops: int
    units: int  # outputs of all hidden layers: what a step keeps per sample
    layers: int  # with weights: each is a number of kernels that a step starts


@dataclass(frozen=True)
class NetworkEntry:
    """What is known of a network without building it."""

    kind: str  # of the data it is for: tabular or vision
    module: str  # has the function `build`
    label: str  # for people, the paper's where it has one
    layers: Callable[[dict[str, Any], Data], list[Layer]]  # of the encoder: by options and data
    own_init: bool = False  # keeps its library's initialisation, whatever the config says
    chain: bool = True  # layers follow one another, so that whole units can be removed

    def size(self, options: dict[str, Any], data: Data) -> Size:
        """How large it is, by which jobs ask for memory and time."""
        encoder = self.layers(options, data)
        decoder = encoder[-1].shape[0] * data.n_classes
        norms = sum(2 * layer.shape[0] for layer in encoder)
        linear = [layer for layer in encoder if len(layer.shape) == 2]
        convolutions = [layer for layer in encoder if len(layer.shape) > 2]
        return Size(
            sum(layer.weights for layer in encoder) + norms + decoder + data.n_classes,
            2 * (sum(layer.weights for layer in linear) + decoder),
            2 * sum(layer.weights * layer.pixels for layer in convolutions),
            sum(layer.shape[0] * layer.pixels for layer in encoder),
            len(encoder) + 1,
        )


def network_entry(name: str) -> NetworkEntry:
    if name not in NETWORKS:
        raise UserError(
            f"There is no network '{name}'.{nearest(name, NETWORKS)} Known are: "
            f"{', '.join(NETWORKS)}."
        )
    return NETWORKS[name]


NETWORKS = {
    "mlp_vis": NetworkEntry("vision", "iunet.networks.mlp_vis", "MLP_VIS", layers.mlp_vis),
    "cnn": NetworkEntry("vision", "iunet.networks.cnn", "CNN", layers.cnn),
    "resnet18": NetworkEntry(
        "vision", "iunet.networks.resnet18", "RESNET", layers.resnet18, own_init=True, chain=False
    ),
    "mlp_tab": NetworkEntry("tabular", "iunet.networks.mlp_tab", "MLP_TAB", layers.mlp_tab),
}
