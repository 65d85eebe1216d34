"""Masks as artifacts, one bit per weight, and what they do to a network."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from iunet.artifacts import read_arrays, read_json
from iunet.errors import UserError, one_line

Arrays = dict[str, np.ndarray]


def read_masks(mask_path: str | Path, report_path: str | Path) -> dict[str, np.ndarray]:
    """A mask artifact as boolean arrays."""
    report, packed = read_json(report_path), read_arrays(mask_path)
    try:
        shapes = {layer["weight"]: layer["shape"] for layer in report["layers"]}
        for name, shape in shapes.items():  # NumPy would fill up what is lacking with zeros
            if min(shape) < 0 or packed[name].shape != (-(-math.prod(shape) // 8),):
                raise ValueError(f"'{name}' has not the shape {shape}")
        return unpack_masks(packed, shapes)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise UserError(
            f"{mask_path} and {report_path} are not a mask and its report ({one_line(error)}). "
            "Delete both and run the same command again to make them anew."
        ) from error


def pack_masks(masks: Arrays) -> Arrays:
    """One bit per weight."""
    return {name: np.packbits(mask.reshape(-1)) for name, mask in masks.items()}


def unpack_masks(packed: Arrays, shapes: dict[str, list[int]]) -> Arrays:
    masks = {}
    for name, shape in shapes.items():
        bits = np.unpackbits(packed[name], count=int(np.prod(shape)))
        masks[name] = bits.astype(bool).reshape(shape)
    return masks


def mask_report(masks: Arrays, initial_masks: Arrays, n_other_parameters: int) -> dict[str, Any]:
    """What a mask does to the network, layer by layer.

    `initial_masks` is the mask that θ† alone would give: an overlap of 1 means that training did
    not change which weights are large (fully lazy).
    """
    layers = []
    for name, mask in masks.items():
        units = mask.reshape(len(mask), -1)
        layers.append(
            {
                "weight": name,
                "shape": list(mask.shape),
                "kept": int(mask.sum()),
                "density": float(mask.mean()),
                "units": len(units),
                "dead_units": int((~units.any(axis=1)).sum()),
            }
        )
    n = sum(mask.size for mask in masks.values())
    kept = sum(layer["kept"] for layer in layers)
    common = sum(int((masks[name] & initial_masks[name]).sum()) for name in masks)
    return {
        "encoder_weights": n,
        "kept_weights": kept,
        "encoder_compression": n / kept if kept else None,
        "model_compression": (n + n_other_parameters) / (kept + n_other_parameters),
        "overlap_with_initial_mask": common / kept if kept else None,
        "disconnected": any(layer["kept"] == 0 for layer in layers),
        "layers": layers,
    }


# ---- paths through masks [outputs, inputs] of layers that follow one another, in order


def used_inputs(masks: Arrays) -> np.ndarray:
    """Of each input, whether a path of kept weights leads from it to the decoder."""
    layers = list(masks.values())
    reaches = np.ones(len(layers[-1]), dtype=bool)  # the decoder is not pruned
    for mask in reversed(layers):
        reaches = mask[reaches].any(axis=0)
    return reaches


def cut_off_at(masks: Arrays) -> str | None:
    """The first layer that nothing of the input passes; None if there is a path to the end."""
    reached = None
    for name, mask in masks.items():
        reached = mask.any(axis=1) if reached is None else mask[:, reached].any(axis=1)
        if not reached.any():
            return name
    return None


# ---- weights of a pruned network as artifacts


def compress_weights(state: Arrays, masks: Arrays) -> Arrays:
    """The kept values of masked weights, as vectors; other tensors unchanged."""
    return {name: a[masks[name]] if name in masks else a for name, a in state.items()}


def expand_weights(state: Arrays, masks: Arrays) -> Arrays:
    """The reverse of `compress_weights`."""
    expanded = dict(state)
    for name, mask in masks.items():
        full = np.zeros(mask.shape, dtype=state[name].dtype)
        full[mask] = state[name]
        expanded[name] = full
    return expanded
