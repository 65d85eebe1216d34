"""One-shot global magnitude pruning, and lottery-ticket reinitialisation.

Works on named arrays without torch, so the prune stage starts at once. Weights are dictionaries
from the name of a tensor to a NumPy array; `names` are the encoder's Linear and Conv weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from iunet.artifacts import read_arrays, read_json, write_arrays, write_json
from iunet.method.masks import mask_report, pack_masks

Arrays = dict[str, np.ndarray]


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


@dataclass(frozen=True)
class Pruned:
    """A mask, and the one that the initial weights alone would give at the same size."""

    masks: Arrays
    initial_masks: Arrays

    @property
    def n_kept(self) -> int:
        return sum(int(np.count_nonzero(mask)) for mask in self.masks.values())


def prune(trained: Arrays, initial: Arrays, names: list[str], ratio: float | None) -> Pruned:
    """The mask of a trained supernet at a ratio; without one, of the weights that survived."""
    masks = (
        surviving_masks(trained, names) if ratio is None else magnitude_masks(trained, names, ratio)
    )
    if ratio is None:
        n = sum(mask.size for mask in masks.values())
        ratio = n / max(sum(int(np.count_nonzero(mask)) for mask in masks.values()), 1)
    return Pruned(masks, magnitude_masks(initial, names, ratio))


def prune_supernet(
    inputs: dict[str, str], output: dict[str, str], run: str, ratio: float | None
) -> None:
    """The prune stage: the mask of a trained supernet, as packed bits, and a report on it.

    `failed` in the report says why there is no subnetwork, if there is none; the stages after it
    pass that on.
    """
    facts = read_json(inputs["description"])
    names = facts["encoder_weights"]
    trained, initial = (read_arrays(inputs[key], *names) for key in ("supernet", "initial"))
    pruned = prune(trained, initial, names, ratio)
    failed = read_json(inputs["supernet_report"]).get("failed")
    head = {
        "run": run,
        "dataset": facts["dataset"],
        "seed": facts["seed"],
        "ratio": ratio,
        "failed": failed or (None if pruned.n_kept else "every weight died"),
    }
    n_other = facts["n_parameters"] - facts["n_encoder_weights"]
    write_arrays(output["mask"], pack_masks(pruned.masks))
    write_json(output["report"], head | mask_report(pruned.masks, pruned.initial_masks, n_other))
