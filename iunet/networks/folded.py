"""A network for prediction: its layers include BatchNorm, and units without effect are left out."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

Norm = nn.BatchNorm1d | nn.BatchNorm2d


def fold_batchnorm(network: nn.Module) -> nn.Module:
    """The same function in eval mode, with every BatchNorm folded into the layer before it."""
    folded = copy.deepcopy(network).eval()
    for parent in list(folded.modules()):
        before: tuple[str, nn.Module] | None = None
        for name, child in list(parent.named_children()):
            if isinstance(child, Norm) and before is not None:
                layer_name, layer = before
                fuse = fuse_linear_bn_eval if isinstance(layer, nn.Linear) else fuse_conv_bn_eval
                setattr(parent, layer_name, fuse(layer, child))
                setattr(parent, name, nn.Identity())
            before = (name, child) if isinstance(child, nn.Linear | nn.Conv2d) else None
    return folded


class Layer(NamedTuple):
    """A layer of all members of an ensemble: relu(W x + b); of the last, the decoder, W x + b.

    Pruned weights are zeros. A convolution has its kernels side by side.
    """

    weights: np.ndarray  # [members, units, inputs] float32
    biases: np.ndarray  # [members, units] float32
    padded: bool = False  # a convolution: its border sees zeros where units are constant

    @property
    def mask(self) -> np.ndarray:
        """Which weights are kept, [units, inputs]; the same for all members."""
        return self.weights.any(axis=0)

    @property
    def n_inputs(self) -> int:
        return self.weights.shape[2]


def without_dead_units(layers: list[Layer]) -> list[Layer]:
    """The same function without hidden units that nothing reads or that are constant.

    First, from the last layer to the first, units that nothing reads: without one, those that it
    reads may go, too. Then, from the first layer on, constant units, which are added to the biases
    of the next layer; of a padded one only those that are 0.
    """
    layers = list(layers)
    hidden = range(len(layers) - 1)
    for i in reversed(hidden):
        _keep_units(layers, i, _by_unit(layers, i).any(axis=(0, 1, 3)))
    for i in hidden:
        this, following = layers[i], layers[i + 1]
        alive = this.mask.any(axis=1)
        if following.padded:
            alive |= (this.biases > 0).any(axis=0)
        constants = np.where(alive, 0, np.maximum(this.biases, 0)).astype(np.float64)
        added = (_by_unit(layers, i).sum(axis=3) @ constants[:, :, None])[:, :, 0]
        biases = (following.biases + added).astype(np.float32)
        layers[i] = this._replace(biases=np.where(alive, this.biases, 0))
        layers[i + 1] = following._replace(biases=biases)
        _keep_units(layers, i, alive)
    return layers


def _by_unit(layers: list[Layer], place: int) -> np.ndarray:
    """The next layer's weights as [members, its units, units of this layer, weights of each]."""
    weights = layers[place + 1].weights
    return weights.reshape(*weights.shape[:2], layers[place].biases.shape[1], -1)


def _keep_units(layers: list[Layer], place: int, keep: np.ndarray) -> None:
    """Remove units of one layer, and the next layer's weights for them."""
    keep[0] |= not keep.any()  # a layer needs a unit
    this, kept = layers[place], _by_unit(layers, place)[:, :, keep]
    layers[place] = this._replace(weights=this.weights[:, keep], biases=this.biases[:, keep])
    layers[place + 1] = layers[place + 1]._replace(weights=kept.reshape(*kept.shape[:2], -1))
