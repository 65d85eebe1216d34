"""PIS, one-shot global magnitude pruning, masks, and lottery-ticket reinitialisation.

Works on named arrays without torch, so the prune stage starts at once. Weights are dictionaries
from the name of a tensor to a NumPy array; `names` are the encoder's Linear and Conv weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from iunet.artifacts import read_arrays, read_json, write_arrays, write_json

Arrays = dict[str, np.ndarray]


def proactive_initialisation(weights: dict[str, Any], names: list[str], kappa: float) -> None:
    """PIS: multiply the named weights of θ† by κ, in place. Biases and BatchNorm stay."""
    for name in names:
        weights[name] *= kappa


def kept_weights(n: int, ratio: float) -> int:
    """How many of n weights stay at compression ratio r: round(n / r)."""
    return round(n / ratio)


def magnitude_masks(weights: Arrays, names: list[str], ratio: float) -> Arrays:
    """OMP: of all named weights together, keep the n/r of largest magnitude (boolean masks).

    Of weights equal to the smallest magnitude that stays, the first in order are kept, so that the
    number is exact and the result the same everywhere.
    """
    sizes = [weights[name].size for name in names]
    keep = kept_weights(sum(sizes), ratio)
    if keep >= sum(sizes):
        return {name: np.ones(weights[name].shape, dtype=bool) for name in names}
    if keep == 0:
        return {name: np.zeros(weights[name].shape, dtype=bool) for name in names}
    threshold = _kth_largest(weights, names, keep)
    masks, n_kept = {}, 0
    for name in names:
        masks[name] = np.abs(weights[name]) > threshold
        n_kept += int(np.count_nonzero(masks[name]))
    for name in names:  # the ties, until the number is reached
        if n_kept == keep:
            break
        ties = np.flatnonzero(np.abs(weights[name]) == threshold)[: keep - n_kept]
        masks[name].reshape(-1)[ties] = True
        n_kept += len(ties)
    return masks


def _kth_largest(weights: Arrays, names: list[str], k: int) -> np.float32:
    """The k-th largest magnitude, with one copy of the weights and no sorting of them."""
    magnitudes = np.empty(sum(weights[name].size for name in names), dtype=np.float32)
    start = 0
    for name in names:
        stop = start + weights[name].size
        np.abs(weights[name].reshape(-1), out=magnitudes[start:stop])
        start = stop
    place = magnitudes.size - k
    magnitudes.partition(place)
    return magnitudes[place]


def lottery_ticket(initial: dict[str, Any], masks: dict[str, Any]) -> dict[str, Any]:
    """θ_P(0) = mask ⊙ θ†: the unscaled initial weights, with what is pruned set to zero."""
    return {name: w * masks[name] if name in masks else w for name, w in initial.items()}


def surviving_masks(weights: Arrays, names: list[str]) -> Arrays:
    """The mask of β-LASSO: the weights that its training left."""
    return {name: weights[name] != 0 for name in names}


def prune_supernet(
    supernet: str | Path,
    supernet_report: str | Path,
    initial: str | Path,
    description: str | Path,
    ratio: float | None,
    run: str,
    output: dict[str, str],
) -> None:
    """The prune stage: the mask of a trained supernet, as packed bits, and a report on it.

    Without a ratio the surviving weights are kept. `failed` in the report says why there is no
    subnetwork, if there is none; the stages after it pass that on.
    """
    facts = read_json(description)
    names = facts["encoder_weights"]
    weights = read_arrays(supernet, *names)
    masks = (
        surviving_masks(weights, names) if ratio is None else magnitude_masks(weights, names, ratio)
    )
    n = sum(mask.size for mask in masks.values())
    n_kept = sum(int(np.count_nonzero(mask)) for mask in masks.values())
    same_size = ratio if ratio is not None else n / max(n_kept, 1)
    initial_masks = magnitude_masks(read_arrays(initial, *names), names, same_size)
    write_arrays(output["mask"], pack_masks(masks))
    failed = read_json(supernet_report).get("failed")
    head = {
        "run": run,
        "dataset": facts["dataset"],
        "seed": facts["seed"],
        "ratio": ratio,
        "failed": failed or (None if n_kept else "every weight died"),
    }
    n_other = facts["n_parameters"] - facts["n_encoder_weights"]
    write_json(output["report"], head | mask_report(masks, initial_masks, n_other))


# ---- masks as artifacts


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


# ---- weights of a pruned network as artifacts


def compress_weights(state: Arrays, masks: Arrays) -> Arrays:
    """Only what is kept of the masked weights, as vectors; the rest as it is."""
    return {name: a[masks[name]] if name in masks else a for name, a in state.items()}


def expand_weights(state: Arrays, masks: Arrays) -> Arrays:
    """The reverse of `compress_weights`."""
    expanded = dict(state)
    for name, mask in masks.items():
        full = np.zeros(mask.shape, dtype=state[name].dtype)
        full[mask] = state[name]
        expanded[name] = full
    return expanded
