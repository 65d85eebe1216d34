"""Fast prediction on one CPU thread, with the kept weights only.

numba's kernels do the work if numba is there (the extra `fast`), torch's sparse matrices (CSR)
otherwise. `predict_proba` of the whole network stays the reference: sums are added up in another
order here, so probabilities agree to 1e-5.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from iunet.deploy.folded import Layer, fold, without_dead_units
from iunet.deploy.model import read_model
from iunet.errors import UserError

MOSTLY = 0.25  # from this density on a layer is faster if it is computed as a whole
CHUNK = 1024  # rows at once, for the memory of their activations


def fastest_kernels() -> str:
    """numba, where it is there and can be imported: it often lags behind a new NumPy."""
    if importlib.util.find_spec("numba") is None:
        return "torch"
    try:
        importlib.import_module("numba")
    except ImportError as error:
        warnings.warn(f"numba cannot be used ({error}), so torch is.", stacklevel=3)
        return "torch"
    return "numba"


class FastModel:
    """A model ready to predict; `probabilities` takes the network's inputs."""

    def __init__(self, layers: list[Layer], kernels: str | None = None):
        """`layers`: of a folded model; `kernels`: numba or torch, by default numba if installed."""
        self.kernels = kernels or fastest_kernels()
        if self.kernels not in PREPARED:
            raise UserError(
                f"There are no kernels '{kernels}': {' and '.join(PREPARED)} are known."
            )
        self.n_inputs, self.n_members = layers[0].n_inputs, layers[0].n_members
        self.n_classes = len(layers[-1].mask)
        self.prepared = PREPARED[self.kernels](without_dead_units(layers))

    @classmethod
    def load(cls, path: str | Path, kernels: str | None = None) -> FastModel:
        """From `model.safetensors` of an export, with its order of the labels."""
        return cls(fold(read_model(path)[0]), kernels)

    def probabilities(self, inputs: np.ndarray) -> np.ndarray:
        """The mean softmax over the members, [rows, classes], of inputs [rows, n_inputs]."""
        inputs = np.ascontiguousarray(inputs, dtype=np.float32)
        if inputs.ndim != 2 or inputs.shape[1] != self.n_inputs:
            raise UserError(
                f"The network takes inputs of shape [rows, {self.n_inputs}], and these have shape "
                f"{list(inputs.shape)}."
            )
        total = np.zeros((len(inputs), self.n_classes), np.float32)
        for start in range(0, len(inputs), CHUNK):
            chunk = inputs[start : start + CHUNK]
            for outputs in self.prepared.outputs(chunk):
                total[start : start + CHUNK] += _softmax(outputs)
        return total / np.float32(self.n_members)


def _softmax(outputs: np.ndarray) -> np.ndarray:
    powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _is_mostly_whole(layer: Layer) -> bool:
    return layer.kept.shape[1] >= MOSTLY * layer.mask.size


class NumbaLayers:
    """Layers as the kernels take them: by columns for one row, by units for blocks of rows."""

    def __init__(self, layers: list[Layer]):
        from iunet.deploy import kernels

        self.kernels = kernels
        self.members = range(layers[0].n_members)
        self.sizes = np.array([layers[0].mask.shape[1], *(len(layer.mask) for layer in layers)])
        self.index = np.uint16 if self.sizes.max() <= 2**16 else np.uint32
        self.whole = np.array([_is_mostly_whole(layer) for layer in layers])
        self._prepare_columns(layers)
        self.by_units = [self._units(layer, w) for layer, w in zip(layers, self.whole, strict=True)]

    def _prepare_columns(self, layers: list[Layer]) -> None:
        lengths, rows, values = [], [], [[] for _ in self.members]
        for layer, whole in zip(layers, self.whole, strict=True):
            turned = np.ones_like(layer.mask.T) if whole else np.ascontiguousarray(layer.mask.T)
            lengths.append(turned.sum(axis=1))
            rows.append(np.nonzero(turned)[1].astype(self.index))
            for m in self.members:
                values[m].append(layer.weights(m).T[turned])
        self.starts = _starts(np.concatenate(lengths))
        self.rows = np.concatenate(rows)
        self.values = [np.concatenate(parts) for parts in values]
        self.biases = [np.concatenate([layer.biases[m] for layer in layers]) for m in self.members]

    def _units(self, layer: Layer, whole: bool) -> Units:
        if whole:
            weights = [torch.from_numpy(layer.weights(m)) for m in self.members]
            return Units(layer.biases, weights=weights)
        return Units(layer.biases, tiles=list(_tiles(layer, self.kernels.TILE)))

    def outputs(self, inputs: np.ndarray) -> Iterator[np.ndarray]:
        """Of each member the outputs [rows, classes]."""
        if len(inputs) == 1:
            work = np.empty((2, self.sizes.max()), np.float32)
            for m in self.members:
                yield self._row(inputs[0], m, work)
        else:
            blocks = self._blocks(inputs)
            for m in self.members:
                outputs = self._block_outputs(blocks, m)
                yield outputs.transpose(0, 2, 1).reshape(-1, self.sizes[-1])[: len(inputs)]

    def _row(self, x: np.ndarray, m: int, work: np.ndarray) -> np.ndarray:
        weights = (self.starts, self.rows, self.values[m], self.biases[m])
        where = self.kernels.one_row(x, self.sizes, self.whole, *weights, work)
        return work[where : where + 1, : self.sizes[-1]].copy()

    def _blocks(self, inputs: np.ndarray) -> np.ndarray:
        """Inputs as [blocks, inputs, rows of a block], the last one filled up with zeros."""
        narrow, wide = self.kernels.NARROW_BLOCK, self.kernels.WIDE_BLOCK
        rows = narrow if len(inputs) <= narrow else wide
        if rest := -len(inputs) % rows:
            inputs = np.concatenate([inputs, np.zeros((rest, inputs.shape[1]), np.float32)])
        return np.ascontiguousarray(inputs.reshape(-1, rows, inputs.shape[1]).transpose(0, 2, 1))

    def _block_outputs(self, h: np.ndarray, m: int) -> np.ndarray:
        for i, units in enumerate(self.by_units):
            is_hidden = i < len(self.by_units) - 1
            if units.weights is None:
                h = self._sparse_layer(h, units, m)
                if is_hidden:
                    self.kernels.relu(h)
            else:
                sums = torch.matmul(units.weights[m], torch.from_numpy(h))
                sums += torch.from_numpy(units.biases[m])[:, None]
                h = (sums.relu_() if is_hidden else sums).numpy()
        return h

    def _sparse_layer(self, h: np.ndarray, units: Units, m: int) -> np.ndarray:
        out = np.empty((len(h), units.biases.shape[1], h.shape[2]), np.float32)
        self.kernels.fill(out, units.biases[m])
        for tile in units.tiles:
            weights = (tile.starts, tile.columns, tile.values[m])
            self.kernels.add_tile(h, tile.first, *weights, out)
        return out


@dataclass(frozen=True)
class Tile:
    """The kept weights of a layer for some of its inputs, unit by unit."""

    first: int  # input
    starts: np.ndarray  # of each unit
    columns: np.ndarray  # inputs, counted from the first
    values: np.ndarray  # [members, n_kept]


@dataclass(frozen=True)
class Units:
    """A layer for blocks of rows: sparse tiles, or a matrix for each member."""

    biases: np.ndarray
    tiles: list[Tile] | None = None
    weights: list[Tensor] | None = None


def _tiles(layer: Layer, size: int) -> Iterator[Tile]:
    columns = np.nonzero(layer.mask)[1]
    for first in range(0, layer.mask.shape[1], size):
        inside = (columns >= first) & (columns < first + size)
        starts = _starts(layer.mask[:, first : first + size].sum(axis=1))
        places = (columns[inside] - first).astype(np.uint16)
        yield Tile(first, starts, places, np.ascontiguousarray(layer.kept[:, inside]))


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], lengths.cumsum()])


class TorchLayers:
    """Layers as torch multiplies them: sparse matrices (CSR) where most weights are pruned."""

    def __init__(self, layers: list[Layer]):
        self.members = [
            [(_matrix(layer, m), torch.from_numpy(layer.biases[m])[:, None]) for layer in layers]
            for m in range(layers[0].n_members)
        ]

    def outputs(self, inputs: np.ndarray) -> Iterator[np.ndarray]:
        """Of each member the outputs [rows, classes]."""
        columns = torch.from_numpy(inputs).T.contiguous()
        for layers in self.members:
            h = columns
            for matrix, biases in layers[:-1]:
                h = (matrix @ h).add_(biases).relu_()
            matrix, biases = layers[-1]
            yield (matrix @ h + biases).T.numpy()


def _matrix(layer: Layer, m: int) -> Tensor:
    weights = torch.from_numpy(layer.weights(m))
    if _is_mostly_whole(layer):
        return weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its CSR support a beta
        return weights.to_sparse_csr()


PREPARED = {"numba": NumbaLayers, "torch": TorchLayers}
