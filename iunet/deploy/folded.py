"""A network as it predicts: BatchNorm inside the layers, of pruned layers only what is kept.

A layer computes relu(W x + b), the last one, the decoder, W x + b. All members of an ensemble have
the same mask, which is therefore stored once; their weights differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iunet.deploy.model import PrunedModel, empty_network
from iunet.errors import UserError


@dataclass(frozen=True)
class Layer:
    """A fully connected layer of all members."""

    mask: np.ndarray  # [units, inputs] bool, True is kept
    kept: np.ndarray  # [members, n_kept] float32, the kept weights row by row
    biases: np.ndarray  # [members, units] float32

    def weights(self, member: int) -> np.ndarray:
        """The matrix [units, inputs] of a member, with zeros for what is pruned."""
        whole = np.zeros(self.mask.shape, np.float32)
        whole[self.mask] = self.kept[member]
        return whole

    @property
    def n_inputs(self) -> int:
        return self.mask.shape[1]

    @property
    def n_members(self) -> int:
        return len(self.kept)


def fold(model: PrunedModel) -> list[Layer]:
    """The layers of a model with BatchNorm, in eval mode, inside them; the decoder is the last."""
    from iunet.evaluation.latency import fold_batchnorm

    names, layers = fully_connected(model.network), []
    # In double precision: what is rounded is the result alone.
    networks = [fold_batchnorm(network.double()).float() for network in model.networks()]
    for name in names:
        linear = [network.get_submodule(name) for network in networks]
        weights = np.stack([layer.weight.detach().numpy() for layer in linear])
        mask = model.masks.get(f"{name}.weight", np.ones(weights.shape[1:], bool))
        biases = np.stack([layer.bias.detach().numpy() for layer in linear])
        layers.append(Layer(mask, weights[:, mask], biases))
    return layers


def fully_connected(network: dict[str, Any]) -> list[str]:
    """The names of a network's layers, if each is Linear, BatchNorm and ReLU up to the decoder."""
    from torch import nn

    children = empty_network(network).encoder.named_children()
    modules = [(name, m) for name, m in children if not isinstance(m, nn.Flatten)]
    kinds = [nn.Linear, nn.BatchNorm1d, nn.ReLU] * (len(modules) // 3)
    fits = [isinstance(module, kind) for (_, module), kind in zip(modules, kinds, strict=False)]
    if len(modules) != len(kinds) or not all(fits):
        raise UserError(
            f"The network '{network['name']}' cannot be exported: its layers are not all fully "
            "connected. Networks like mlp_tab and mlp_vis can."
        )
    return [*(f"encoder.{name}" for name, _ in modules[::3]), "decoder"]


# ---- removal of dead units


def without_dead_units(layers: list[Layer]) -> list[Layer]:
    """The same function without hidden units that nothing reads or that are constant.

    A constant goes into the biases of the next layer. Cutting one unit off may leave another
    without use, so it goes on until nothing changes.
    """
    layers, before = list(layers), None
    while (sizes := [layer.mask.shape for layer in layers]) != before:
        before = sizes
        for i in reversed(range(len(layers) - 1)):
            _keep_units(layers, i, layers[i + 1].mask.any(axis=0))
        for i in range(len(layers) - 1):
            this, following = layers[i], layers[i + 1]
            alive = this.mask.any(axis=1)
            constants = np.maximum(this.biases, 0) * ~alive
            layers[i + 1] = replace(following, biases=_with_constants(following, constants))
            layers[i] = replace(this, biases=np.where(alive, this.biases, 0).astype(np.float32))
            _keep_units(layers, i, alive)
    return layers


def _with_constants(layer: Layer, constants: np.ndarray) -> np.ndarray:
    """The biases of a layer once constant inputs are taken out of it."""
    if not constants.any():
        return layer.biases
    members = range(len(layer.kept))
    added = np.stack([layer.weights(m).astype(np.float64) @ constants[m] for m in members])
    return (layer.biases + added).astype(np.float32)


def _keep_units(layers: list[Layer], position: int, keep: np.ndarray) -> None:
    """Remove units of one layer, and what the next one reads of them."""
    keep = keep.copy()
    keep[0] |= not keep.any()  # a layer of no units is none
    if keep.all():
        return
    this, following = layers[position], layers[position + 1]
    rows = np.repeat(keep, this.mask.sum(axis=1))
    layers[position] = Layer(this.mask[keep], this.kept[:, rows], this.biases[:, keep])
    columns = np.broadcast_to(keep, following.mask.shape)[following.mask]
    layers[position + 1] = Layer(
        following.mask[:, keep], following.kept[:, columns], following.biases
    )
