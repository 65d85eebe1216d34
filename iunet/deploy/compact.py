"""The compact file: a whole pruned model in about an eighth of its dense size, in one sealed file.

It holds the kept weights of every member as float32 with BatchNorm folded in, one bit per weight
for the mask that all members share, the biases, the decoder, the preprocessing and the labels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from iunet.deploy.folded import FoldedModel, Layer
from iunet.deploy.sealed import read_sealed, write_sealed
from iunet.errors import UserError

FORMAT = "iunet compact model"
VERSION = 1
WHAT = "a compact model that `iunet export` wrote"


def write_compact(path: str | Path, model: FoldedModel) -> None:
    """Write the model; the same model makes the same bytes."""
    arrays = {}
    for i, layer in enumerate(model.layers):
        arrays |= {f"{i}/kept": layer.kept, f"{i}/biases": layer.biases}
        if not layer.is_whole:
            arrays[f"{i}/mask"] = np.packbits(layer.mask)
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "preprocessing": model.preprocessing,
        "network": model.network,
        "classes": model.classes,
        "made_by": model.origin,
        "layers": [list(layer.mask.shape) for layer in model.layers],
    }
    write_sealed(path, arrays, metadata)


def read_compact(path: str | Path) -> FoldedModel:
    """The model of a compact file; a damaged or foreign file is refused by name."""
    arrays, metadata = read_sealed(path, WHAT)
    if metadata.get("format") != FORMAT:
        raise UserError(f"{path} is not {WHAT}: its format is {metadata.get('format')!r}.")
    if metadata.get("version") != VERSION:
        raise UserError(
            f"{path} has version {metadata.get('version')!r} of the format, and this program reads "
            f"version {VERSION}. Install the version of iunet that wrote it, or export again."
        )
    try:
        layers = [_layer(arrays, i, tuple(shape)) for i, shape in enumerate(metadata.pop("layers"))]
        _check(layers, metadata)
        return FoldedModel(
            metadata["preprocessing"],
            metadata["network"],
            metadata["classes"],
            metadata["made_by"],
            layers,
        )
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise UserError(
            f"{path} is not {WHAT}: its parts do not fit together ({error})."
        ) from error


def _layer(arrays: dict[str, np.ndarray], i: int, shape: tuple[int, int]) -> Layer:
    mask = np.ones(shape, bool)
    if (packed := arrays.get(f"{i}/mask")) is not None:
        if len(packed) != -(-mask.size // 8):
            raise ValueError(f"layer {i} has not a bit for every weight")
        mask = np.unpackbits(packed, count=mask.size).astype(bool).reshape(shape)
    layer = Layer(mask, arrays[f"{i}/kept"], arrays[f"{i}/biases"])
    members = len(layer.kept)
    if layer.kept.shape != (members, np.count_nonzero(mask)):
        raise ValueError(f"layer {i} has not the weights that its mask keeps")
    if layer.biases.shape != (members, shape[0]):
        raise ValueError(f"layer {i} has not a bias for every unit")
    return layer


def _check(layers: list[Layer], metadata: dict[str, Any]) -> None:
    for i, layer in enumerate(layers[1:], start=1):
        before = layers[i - 1]
        if layer.mask.shape[1] != len(before.mask) or len(layer.kept) != len(before.kept):
            raise ValueError(f"layer {i} does not fit the one before it")
    if len(layers[-1].mask) != len(metadata["classes"]):
        raise ValueError("there is not a label for every output")


def dense_bytes(model: FoldedModel) -> int:
    """Bytes of the same members stored dense in float32, BatchNorm folded in as well."""
    numbers = sum(layer.mask.size + len(layer.mask) for layer in model.layers)
    return 4 * numbers * model.n_members
