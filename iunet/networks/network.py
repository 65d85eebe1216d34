"""A network is `decoder(encoder(x))`; the decoder is its last linear layer. Initial weights θ†."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from iunet.networks.batchnorm import BatchNorm1d
from iunet.networks.catalog import network_entry
from iunet.networks.layers import Layer, Shape


@dataclass(frozen=True)
class NetworkSpec:
    """All that is needed to build a network."""

    name: str  # of the catalog: mlp_tab, mlp_vis, cnn, resnet18
    n_classes: int
    n_inputs: int = 0  # tables: columns after one-hot expansion
    channels: int = 3  # images
    side: int = 0  # images are side × side
    options: dict[str, Any] = field(default_factory=dict)  # the config's: alpha; width, depth

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def input_shape(self) -> tuple[int, ...]:
        """The shape of one sample."""
        if network_entry(self.name).kind == "tabular":
            return (self.n_inputs,)
        return (self.channels, self.side, self.side)

    def data(self) -> Shape:
        return Shape(math.prod(self.input_shape()), self.n_classes, self.side)

    def layers(self) -> list[Layer]:
        """The layers of its encoder, in the order of `encoder_weights`."""
        return network_entry(self.name).layers(self.options, self.data())


class Network(nn.Module):
    """`decoder(encoder(x))`; `h = encoder(x)` is the representation of the paper."""

    def __init__(self, encoder: nn.Module, decoder: nn.Linear):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.encoder(x))


class Convolutional(nn.Sequential):
    """Layers that get their images with the channels last in memory on a CPU.

    That makes convolutions faster, and their outputs have the same layout. Weights keep theirs, so
    training, pruning and files do not change.
    """

    def forward(self, x: Tensor) -> Tensor:
        if x.device.type == "cpu":
            x = x.contiguous(memory_format=torch.channels_last)
        return super().forward(x)


def build_network(spec: NetworkSpec) -> Network:
    """A freshly initialised network (PyTorch's own initialisation, torchvision's for resnet18)."""
    return import_module(network_entry(spec.name).module).build(spec)


def hidden(layer: nn.Module, norm: nn.Module) -> list[nn.Module]:
    """A hidden layer: Linear or Conv without bias, then BatchNorm, then ReLU."""
    return [layer, norm, nn.ReLU()]


def mlp(spec: NetworkSpec, flatten: bool = False) -> Network:
    """A fully connected network, for tables and images alike."""
    modules: list[nn.Module] = [nn.Flatten()] if flatten else []
    layers = spec.layers()
    for units, inputs in (layer.shape for layer in layers):
        modules += hidden(nn.Linear(inputs, units, bias=False), BatchNorm1d(units))
    return Network(nn.Sequential(*modules), nn.Linear(layers[-1].shape[0], spec.n_classes))


def encoder_weights(network: Network) -> dict[str, nn.Parameter]:
    """The weights that pruning may remove: every Linear and Conv of the encoder, in order."""
    return {
        f"encoder.{name}.weight": module.weight
        for name, module in network.encoder.named_modules()
        if isinstance(module, (nn.Linear, nn.Conv2d))
    }


def scaled_weights(network: Network) -> dict[str, nn.Parameter]:
    """The weights that PIS scales: the encoder's, and the decoder's."""
    return {**encoder_weights(network), "decoder.weight": network.decoder.weight}


def initialise(spec: NetworkSpec, init: str, seed: int) -> Network:
    """θ†: a network with its initial, unscaled weights, the same for every κ and objective."""
    torch.default_generator.manual_seed(seed)  # only the CPU's: a caller may use a GPU
    network = build_network(spec)
    if init != "torch_default" and not network_entry(spec.name).own_init:
        draw = {"he_normal": _he_normal, "glorot": nn.init.xavier_uniform_}[init]
        for weight in scaled_weights(network).values():
            draw(weight)
    return network


def _he_normal(weight: Tensor) -> None:
    nn.init.kaiming_normal_(weight, nonlinearity="relu")


def state_tensors(network: nn.Module) -> dict[str, Tensor]:
    """Everything that defines the network's function: parameters and BatchNorm's statistics."""
    return {name: tensor.detach() for name, tensor in network.state_dict().items()}
