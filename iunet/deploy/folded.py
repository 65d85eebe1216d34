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


@dataclass(frozen=True)
class FoldedModel:
    """A model, and its layers as they predict; the decoder is the last."""

    model: PrunedModel
    layers: list[Layer]

    @property
    def n_members(self) -> int:
        return len(self.layers[0].kept)

    @property
    def n_inputs(self) -> int:
        return self.layers[0].mask.shape[1]


def fold(model: PrunedModel) -> FoldedModel:
    """The same function with BatchNorm, in eval mode, inside the layer before it."""
    layers, states = [], model.states()
    for weight, norm, eps in fully_connected(model.network):
        folded = [_folded_weights(state, weight, norm, eps) for state in states]
        mask = model.masks.get(weight)
        if mask is None:
            mask = np.ones(folded[0][0].shape, bool)
        kept = np.stack([weights[mask] for weights, _ in folded])
        layers.append(Layer(mask, kept, np.stack([bias for _, bias in folded])))
    return FoldedModel(model, layers)


def fully_connected(network: dict[str, Any]) -> list[tuple[str, str | None, float]]:
    """Of each layer the names of its weights and BatchNorm (None: it has a bias), and the eps."""
    from torch import nn

    modules = [
        m
        for m in empty_network(network).encoder.named_children()
        if not isinstance(m[1], nn.Flatten)
    ]
    triples = [modules[i : i + 3] for i in range(0, len(modules), 3)]
    kinds = (nn.Linear, nn.BatchNorm1d, nn.ReLU)
    if not all(
        len(triple) == 3 and all(isinstance(m, k) for (_, m), k in zip(triple, kinds, strict=True))
        for triple in triples
    ):
        raise UserError(
            f"The network '{network['name']}' cannot be exported: its layers are not all fully "
            "connected. Networks like mlp_tab and mlp_vis can."
        )
    layers = [(f"encoder.{t[0][0]}.weight", f"encoder.{t[1][0]}", t[1][1].eps) for t in triples]
    return [*layers, ("decoder.weight", None, 0.0)]


def _folded_weights(
    state: dict[str, np.ndarray], weight: str, norm: str | None, eps: float
) -> tuple[np.ndarray, np.ndarray]:
    if norm is None:
        return state[weight], state[weight.replace("weight", "bias")]
    # In double precision: what is rounded is the result alone.
    mean, var, gain, shift = (
        state[f"{norm}.{name}"].astype(np.float64)
        for name in ("running_mean", "running_var", "weight", "bias")
    )
    scale = gain / np.sqrt(var + eps)
    weights = (state[weight] * scale[:, None]).astype(np.float32)
    return weights, (shift - mean * scale).astype(np.float32)


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
