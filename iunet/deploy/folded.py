"""A network for prediction: fully connected layers that include their BatchNorm.

A layer computes relu(W x + b); the last, the decoder, W x + b.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from torch import nn

from iunet.deploy.model import PrunedModel, empty_network
from iunet.errors import UserError
from iunet.evaluation.latency import fold_batchnorm


class Layer(NamedTuple):
    """A fully connected layer of all members of an ensemble; pruned weights are zeros."""

    weights: np.ndarray  # [members, units, inputs] float32
    biases: np.ndarray  # [members, units] float32

    @property
    def mask(self) -> np.ndarray:
        """Which weights are kept, [units, inputs]; the same for all members."""
        return self.weights.any(axis=0)

    @property
    def n_inputs(self) -> int:
        return self.weights.shape[2]


def fold(model: PrunedModel) -> list[Layer]:
    """The layers of a model, including BatchNorm in eval mode; the decoder is the last."""
    encoder = empty_network(model.network).encoder.children()
    modules = [module for module in encoder if not isinstance(module, nn.Flatten)]
    hidden = itertools.cycle([nn.Linear, nn.BatchNorm1d, nn.ReLU])
    if len(modules) % 3 or not all(map(isinstance, modules, hidden)):
        raise UserError(
            f"The network '{model.network['name']}' cannot be exported, because not all of its "
            "layers are fully connected. mlp_tab and mlp_vis can be exported."
        )
    # In double precision, so that only the result is rounded.
    folded = [fold_batchnorm(network.double()).float() for network in model.networks()]
    linear = [[m for m in network.modules() if isinstance(m, nn.Linear)] for network in folded]
    return [
        Layer(
            np.stack([layer.weight.detach().numpy() for layer in members]),
            np.stack([layer.bias.detach().numpy() for layer in members]),
        )
        for members in zip(*linear, strict=True)
    ]


def without_dead_units(layers: list[Layer]) -> list[Layer]:
    """The same function without hidden units that nothing reads or that are constant.

    First, from the last layer to the first, units that nothing reads: without one, those that it
    reads may go, too. Then, from the first layer on, constant units, which are added to the biases
    of the next layer.
    """
    layers = list(layers)
    hidden = range(len(layers) - 1)
    for i in reversed(hidden):
        _keep_units(layers, i, layers[i + 1].mask.any(axis=0))
    for i in hidden:
        this, following = layers[i], layers[i + 1]
        alive = this.mask.any(axis=1)
        constants = np.where(alive, 0, np.maximum(this.biases, 0)).astype(np.float64)
        added = (following.weights @ constants[:, :, None])[:, :, 0]
        biases = (following.biases + added).astype(np.float32)
        layers[i] = this._replace(biases=np.where(alive, this.biases, 0))
        layers[i + 1] = following._replace(biases=biases)
        _keep_units(layers, i, alive)
    return layers


def _keep_units(layers: list[Layer], place: int, keep: np.ndarray) -> None:
    """Remove units of one layer, and the next layer's weights for them."""
    keep[0] |= not keep.any()  # a layer needs a unit
    this, following = layers[place], layers[place + 1]
    layers[place] = Layer(this.weights[:, keep], this.biases[:, keep])
    layers[place + 1] = following._replace(weights=following.weights[:, :, keep])
