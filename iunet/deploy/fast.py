"""Fast prediction on one CPU thread.

With numba, kernels compute with the kept weights only. Without it, torch computes with all weights
of the units that are left: its sparse matrices (CSR) were slower than that for single rows.
`predict_proba` of the whole network stays the reference. Sums are added up in another order here,
so probabilities agree to 1e-5.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from iunet.deploy.model import fold, read_model
from iunet.errors import UserError
from iunet.networks.folded import Layer, without_dead_units

MOSTLY = 0.25  # from this density on, a dense product is faster
CHUNK = 1024  # rows at once, to limit the memory of activations


def fastest_kernels() -> str:
    """numba, if it can be imported: it often lags behind a new NumPy."""
    try:
        importlib.import_module("numba")
    except ModuleNotFoundError:
        return "torch"
    except ImportError as error:
        warnings.warn(f"Predicting with torch, as numba cannot be used: {error}", stacklevel=3)
        return "torch"
    return "numba"


class FastModel:
    """A model ready to predict; `probabilities` takes the network's inputs."""

    def __init__(self, layers: list[Layer], kernels: str | None = None):
        """Takes the layers of a folded model; `kernels` is numba or torch (default: numba if it
        is installed)."""
        self.kernels = kernels or fastest_kernels()
        if self.kernels not in PREPARED:
            raise UserError(f"The kernels '{kernels}' do not exist. Use {' or '.join(PREPARED)}.")
        self.n_inputs = layers[0].n_inputs
        self.prepared = PREPARED[self.kernels](without_dead_units(layers))

    @classmethod
    def load(cls, path: str | Path, kernels: str | None = None) -> FastModel:
        """From `model.safetensors` of an export; outputs have its order of labels."""
        return cls(fold(read_model(path)), kernels)

    def probabilities(self, inputs: np.ndarray) -> np.ndarray:
        """The mean softmax over the members, [rows, classes], of inputs [rows, n_inputs]."""
        inputs = np.ascontiguousarray(inputs, dtype=np.float32)
        if inputs.ndim != 2 or inputs.shape[1] != self.n_inputs:
            raise UserError(
                f"The inputs have the shape {list(inputs.shape)}, but the network takes inputs of "
                f"shape [rows, {self.n_inputs}]."
            )
        chunks = (inputs[i : i + CHUNK] for i in range(0, max(len(inputs), 1), CHUNK))
        return np.concatenate([mean_softmax(self.prepared.outputs(chunk)) for chunk in chunks])


def mean_softmax(members: Iterable[np.ndarray]) -> np.ndarray:
    """The probabilities [rows, classes] of an ensemble from the outputs of its members."""
    softmaxes = []
    for outputs in members:
        powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        softmaxes.append(powers / powers.sum(axis=1, keepdims=True))
    return sum(softmaxes) / np.float32(len(softmaxes))


class NumbaLayers:
    """Layers for the kernels: by columns for one row, by units for blocks of rows."""

    def __init__(self, layers: list[Layer]):
        from iunet.deploy import kernels

        self.kernels = kernels
        self.members = range(len(layers[0].weights))
        self.sizes = np.array([layers[0].n_inputs, *(layer.biases.shape[1] for layer in layers)])
        self.index = np.uint16 if self.sizes.max() <= 2**16 else np.uint32
        self.whole = np.array([layer.mask.mean() >= MOSTLY for layer in layers])
        self._prepare_columns(layers)
        self.by_units = [
            (layer.biases, layer.weights if whole else list(_tiles(layer, kernels.TILE)))
            for layer, whole in zip(layers, self.whole, strict=True)
        ]

    def _prepare_columns(self, layers: list[Layer]) -> None:
        lengths, rows, values = [], [], []
        for layer, whole in zip(layers, self.whole, strict=True):
            columns = np.ascontiguousarray((layer.mask | whole).T)
            lengths.append(columns.sum(axis=1))
            rows.append(np.nonzero(columns)[1].astype(self.index))
            values.append(layer.weights.transpose(0, 2, 1)[:, columns])
        self.starts = _starts(np.concatenate(lengths))
        self.rows = np.concatenate(rows)
        self.values = np.ascontiguousarray(np.concatenate(values, axis=1))
        self.biases = np.concatenate([layer.biases for layer in layers], axis=1)

    def outputs(self, inputs: np.ndarray) -> Iterator[np.ndarray]:
        """The outputs [rows, classes] of each member."""
        if len(inputs) == 1:
            work = np.empty((2, self.sizes.max()), np.float32)
            for m in self.members:
                weights = (self.starts, self.rows, self.values[m], self.biases[m])
                where = self.kernels.one_row(inputs[0], self.sizes, self.whole, *weights, work)
                yield work[where : where + 1, : self.sizes[-1]].copy()
        else:
            blocks = self._blocks(inputs)
            for m in self.members:
                outputs = self._block_outputs(blocks, m)
                yield outputs.transpose(0, 2, 1).reshape(-1, self.sizes[-1])[: len(inputs)]

    def _blocks(self, inputs: np.ndarray) -> np.ndarray:
        """Inputs as [blocks, inputs, rows of a block]; the last block is padded with zeros."""
        narrow, wide = self.kernels.NARROW_BLOCK, self.kernels.WIDE_BLOCK
        rows = narrow if len(inputs) <= narrow else wide
        filled = np.pad(inputs, ((0, -len(inputs) % rows), (0, 0)))
        return np.ascontiguousarray(filled.reshape(-1, rows, inputs.shape[1]).transpose(0, 2, 1))

    def _block_outputs(self, h: np.ndarray, m: int) -> np.ndarray:
        for i, (biases, weights) in enumerate(self.by_units):
            if self.whole[i]:
                sums = torch.matmul(torch.from_numpy(weights[m]), torch.from_numpy(h)).numpy()
                sums += biases[m][:, None]
            else:
                sums = np.empty((len(h), biases.shape[1], h.shape[2]), np.float32)
                sums[:] = biases[m][:, None]
                for tile in weights:
                    values = tile.values[m]
                    self.kernels.add_tile(h, tile.first, tile.starts, tile.columns, values, sums)
            h = np.maximum(sums, 0, out=sums) if i < len(self.by_units) - 1 else sums
        return h


class Tile(NamedTuple):
    """The kept weights of a layer for some of its inputs, unit by unit."""

    first: int  # input
    starts: np.ndarray  # of each unit
    columns: np.ndarray  # inputs, counted from the first
    values: np.ndarray  # [members, n_kept]


def _tiles(layer: Layer, size: int) -> Iterator[Tile]:
    for first in range(0, layer.n_inputs, size):
        mask = layer.mask[:, first : first + size]
        columns = np.nonzero(mask)[1].astype(np.uint16)
        values = layer.weights[:, :, first : first + size][:, mask]
        values = np.ascontiguousarray(values)  # the kernels ignore strides
        yield Tile(first, _starts(mask.sum(axis=1)), columns, values)


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], lengths.cumsum()])


class TorchLayers:
    """Layers as torch multiplies them, pruned weights included."""

    def __init__(self, layers: list[Layer]):
        self.members = [
            [tuple(map(torch.from_numpy, (layer.weights[m], layer.biases[m]))) for layer in layers]
            for m in range(len(layers[0].weights))
        ]

    def outputs(self, inputs: np.ndarray) -> Iterator[np.ndarray]:
        """The outputs [rows, classes] of each member."""
        for *hidden, decoder in self.members:
            h = torch.from_numpy(inputs)
            for weights, biases in hidden:
                h = F.linear(h, weights, biases).relu_()
            yield F.linear(h, *decoder).numpy()


PREPARED = {"numba": NumbaLayers, "torch": TorchLayers}
