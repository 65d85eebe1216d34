"""One-shot global magnitude pruning, and lottery-ticket reinitialisation.

Works on named arrays without torch, so the prune stage starts at once. Weights are dictionaries
from the name of a tensor to a NumPy array; `names` are the encoder's Linear and Conv weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from iunet.artifacts import read_arrays, read_json, write_arrays, write_json
from iunet.errors import UserError
from iunet.method.catalog import SCORES, load
from iunet.method.masks import mask_report, pack_masks
from iunet.networks.catalog import network_entry

Arrays = dict[str, np.ndarray]
STRATA = 10


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


# ---- scores: entries of SCORES in iunet/method/catalog.py name these functions


def by_magnitude(weights: Arrays, initial: Arrays, names: list[str], ratio: float) -> Arrays:
    """`magnitude`: OMP, as above."""
    return magnitude_masks(weights, names, ratio)


def by_relative_magnitude(
    weights: Arrays, initial: Arrays, names: list[str], ratio: float
) -> Arrays:
    """`relative`: weights divided by the std of their layer's θ†.

    It removes the differences of scale between layers that a global threshold punishes.
    """
    relative = {name: weights[name] / initial[name].std() for name in names}
    return magnitude_masks(relative, names, ratio)


def by_magnitude_in_layer(
    weights: Arrays, initial: Arrays, names: list[str], ratio: float
) -> Arrays:
    """`layerwise`: the same ratio in every layer, as ShrinkBench's layer-wise variant."""
    return {name: magnitude_masks(weights, [name], ratio)[name] for name in names}


# ---- controls: other masks, whole units


def shuffled_masks(masks: Arrays, rng: np.random.Generator) -> Arrays:
    """Kept positions permuted within every layer: the same densities, no structure."""
    return {name: rng.permutation(m.reshape(-1)).reshape(m.shape) for name, m in masks.items()}


def stratified_masks(masks: Arrays, initial: Arrays, rng: np.random.Generator) -> Arrays:
    """Shuffled within the deciles of |θ†| of every layer: as many initially large weights stay."""
    shuffled = {}
    for name, mask in masks.items():
        order = np.argsort(np.abs(initial[name]).reshape(-1), kind="stable")
        new = np.empty(mask.size, dtype=bool)
        for stratum in np.array_split(order, STRATA):
            new[stratum] = rng.permutation(mask.reshape(-1)[stratum])
        shuffled[name] = new.reshape(mask.shape)
    return shuffled


def random_masks(weights: Arrays, names: list[str], ratio: float, rng: Any) -> Arrays:
    """As many weights as magnitude pruning keeps, drawn uniformly over the encoder."""
    draws = {name: rng.random(weights[name].shape, dtype=np.float32) for name in names}
    return magnitude_masks(draws, names, ratio)


def unit_masks(weights: Arrays, initial: Arrays, names: list[str], ratio: float) -> Arrays:
    """Whole hidden units removed, until at most n/r of the encoder's weights are left.

    Units are ranked by the norm of their incoming weights relative to their layer's norm in θ†.
    A removed unit takes its outgoing weights with it. The layers must be a chain.
    """
    scores = []
    for name in names:
        rows = weights[name].reshape(len(weights[name]), -1)
        scale = np.linalg.norm(initial[name]) / np.sqrt(len(rows))
        scores.append(np.linalg.norm(rows, axis=1) / scale)
    order = np.argsort(np.concatenate(scores), kind="stable")  # the weakest first
    layer = np.repeat(np.arange(len(names)), [len(s) for s in scores])[order]
    keep = kept_weights(sum(weights[name].size for name in names), ratio)
    fewest, most = 0, len(order)  # of units to remove: the number of weights left only falls
    while fewest < most:
        middle = (fewest + most) // 2
        gone = np.bincount(layer[:middle], minlength=len(names))
        if _weights_left(weights, names, scores, gone) <= keep:
            most = middle
        else:
            fewest = middle + 1
    removed = np.zeros(len(order), dtype=bool)
    removed[order[:fewest]] = True
    ends = np.cumsum([len(s) for s in scores])[:-1]
    return _masks_without(weights, names, np.split(removed, ends))


def _weights_left(weights: Arrays, names: list[str], scores: list, gone: np.ndarray) -> int:
    total, inputs_left = 0, 1.0  # the share of a layer's inputs that is left
    for name, of_layer, n_gone in zip(names, scores, gone, strict=True):
        share = (len(of_layer) - n_gone) / len(of_layer)
        total += round(weights[name].size * inputs_left * share)
        inputs_left = share
    return total


def _masks_without(weights: Arrays, names: list[str], removed: list[np.ndarray]) -> Arrays:
    masks, before = {}, None
    for name, units in zip(names, removed, strict=True):
        mask = np.ones(weights[name].shape, dtype=bool)
        if before is not None:
            # After a Flatten a channel becomes a run of inputs, one for each of its pixels.
            per_unit = mask.shape[1] // len(before)
            mask[:, np.repeat(before, per_unit)] = False
        mask[units] = False
        masks[name] = mask
        before = units
    return masks


@dataclass(frozen=True)
class Cut:
    """How a mask is made; a ratio of None keeps what survived β-LASSO."""

    ratio: float | None
    structure: str = "weight"  # or unit
    score: str = "magnitude"  # or another of the catalog
    mask: str = "own"  # or shuffled, shuffled_strata, random, other_seed, initial
    seed: int = 0  # of shuffled and random masks


@dataclass(frozen=True)
class Pruned:
    """A mask, and the one that the initial weights alone would give at the same size."""

    masks: Arrays
    initial_masks: Arrays

    @property
    def n_kept(self) -> int:
        return sum(int(np.count_nonzero(mask)) for mask in self.masks.values())


def prune(trained: Arrays, initial: Arrays, names: list[str], cut: Cut) -> Pruned:
    """The mask of a trained supernet; `trained` is another seed's for a mask of another seed."""
    if cut.ratio is None:
        masks = surviving_masks(trained, names)
        n = sum(mask.size for mask in masks.values())
        ratio = n / max(sum(int(np.count_nonzero(mask)) for mask in masks.values()), 1)
        return Pruned(masks, magnitude_masks(initial, names, ratio))
    source = initial if cut.mask == "initial" else trained
    rng = np.random.default_rng([cut.seed, 8])  # a stream of its own
    if cut.mask == "random":
        masks = random_masks(source, names, cut.ratio, rng)
    else:
        masks = _scored_masks(source, initial, names, cut)
    if cut.mask == "shuffled":
        masks = shuffled_masks(masks, rng)
    if cut.mask == "shuffled_strata":
        masks = stratified_masks(masks, initial, rng)
    return Pruned(masks, _scored_masks(initial, initial, names, cut))


def _scored_masks(weights: Arrays, initial: Arrays, names: list[str], cut: Cut) -> Arrays:
    if cut.structure == "unit":
        return unit_masks(weights, initial, names, cut.ratio)
    return load(SCORES[cut.score].masks)(weights, initial, names, cut.ratio)


def prune_supernet(inputs: dict[str, str], output: dict[str, str], run: str, cut: Cut) -> None:
    """The prune stage: the mask of a trained supernet, as packed bits, and a report on it.

    `failed` in the report says why there is no subnetwork, if there is none; the stages after it
    pass that on.
    """
    facts = read_json(inputs["description"])
    names, network = facts["encoder_weights"], facts["network"]["name"]
    if cut.structure == "unit" and not network_entry(network).chain:
        raise UserError(
            f"Run {run}: whole units can be pruned where layers follow one another, but {network} "
            "has connections that skip layers. Leave it out of this method."
        )
    trained, initial = (read_arrays(inputs[key], *names) for key in ("supernet", "initial"))
    pruned = prune(trained, initial, names, cut)
    failed = read_json(inputs["supernet_report"]).get("failed")
    head = {
        "run": run,
        "dataset": facts["dataset"],
        "seed": facts["seed"],
        **{key: getattr(cut, key) for key in ("ratio", "structure", "score", "mask")},
        "failed": failed or (None if pruned.n_kept else "every weight died"),
    }
    n_other = facts["n_parameters"] - facts["n_encoder_weights"]
    write_arrays(output["mask"], pack_masks(pruned.masks))
    write_json(output["report"], head | mask_report(pruned.masks, pruned.initial_masks, n_other))
