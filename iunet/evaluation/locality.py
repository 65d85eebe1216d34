"""How structured a first layer's mask is: near pixels on images, few raw features on tables.

Each measure comes with its expected value for positions permuted within the layer (as many weights,
no structure), and with the ratio of the two. The expectations are exact: nothing is drawn. This
module uses only NumPy, since the figures import it too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CHUNK = 1024  # units compared at a time, to limit memory
PIXELS, FEATURES = "distance of pixels", "raw features"


def first_layer(
    mask: np.ndarray, groups: list[list[int]] | None, image: tuple[int, ...] | None
) -> dict[str, Any] | None:
    """The measure of a first layer's mask: of pixels on images, of raw features on tables.

    `groups` has the columns of each raw feature of a table, `image` is [channels, side, side].
    None for a convolution, which is local by construction.
    """
    if mask.ndim != 2:
        return None
    if groups is None:
        return {"measure": PIXELS, **locality(mask, image[1], image[0])}
    found = selectivity(mask, groups)
    found["left_out"] = found.pop("empty_units")
    return {"measure": FEATURES, **found}


def locality(mask: np.ndarray, side: int, channels: int) -> dict[str, Any]:
    """The mean distance between two different pixels that a unit keeps, as a mean over units.

    A pixel is kept if any of its channels is. `mask` is [units, channels·side²] or [units,
    channels, side, side]. Units with fewer than two pixels have no distance: `left_out` counts
    them. A ratio below 1 means that pixels are closer together than by chance; value and ratio are
    None if no unit has two pixels.

    A permutation of the layer prefers no pixel. So however many pixels a unit gets, the expected
    distance is that of two random different pixels of the image.
    """
    mask = np.asarray(mask, dtype=bool)
    if mask.shape[1:] not in ((channels * side**2,), (channels, side, side)):
        raise ValueError(f"a mask of shape {mask.shape} is not of {channels} × {side} × {side}")
    pixels = mask.reshape(len(mask), channels, side**2).any(axis=1)
    kept = pixels.sum(axis=1)
    counted = pixels[kept >= 2]
    distance = _distances(side)
    means = [
        _mean_distances(units, distance)
        for units in np.split(counted, range(CHUNK, len(counted), CHUNK))
    ]
    value = float(np.concatenate(means).mean()) if len(counted) else None
    n = side**2
    shuffled = float(distance.sum() / (n * (n - 1))) if n > 1 else None
    return {
        "value": value,
        "shuffled": shuffled,
        "ratio": value / shuffled if value is not None else None,
        "units": len(mask),
        "left_out": int((kept < 2).sum()),
    }


def _distances(side: int) -> np.ndarray:
    """[pixel, pixel], row by row, in pixels."""
    y, x = np.divmod(np.arange(side**2), side)
    return np.hypot(y[:, None] - y, x[:, None] - x)


def _mean_distances(pixels: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Per unit, over all pairs of different pixels."""
    weight = pixels.astype(np.float64)
    kept = weight.sum(axis=1)
    return ((weight @ distance) * weight).sum(axis=1) / (kept * (kept - 1))


def selectivity(mask: np.ndarray, groups: list[list[int]]) -> dict[str, Any]:
    """The number of raw features that a unit keeps, as a mean over all units.

    `mask` is [units, inputs]; `groups` has the columns of each raw feature, which is kept if any
    of its columns is. A ratio below 1 means that kept weights use fewer features than by chance; it
    is None if nothing is kept.

    A feature of one column counts once per kept weight, wherever that is. So only features of
    several columns (`wide_features`) can change the ratio; without any it is 1 by construction.
    Units that keep nothing count as 0 features, or their number alone would change the ratio;
    `empty_units` counts them.
    """
    mask = np.asarray(mask, dtype=bool)
    columns = [column for group in groups for column in group]
    if mask.ndim != 2 or sorted(columns) != list(range(mask.shape[1])):
        raise ValueError(f"the groups do not have each column of a mask {mask.shape} once")
    features = sum(mask[:, group].any(axis=1).astype(np.int64) for group in groups)
    value = float(features.mean())
    sizes = np.array([len(group) for group in groups])
    # The share of all placements of the kept weights that leaves all columns of a feature empty.
    empty = {size: _chance_of_none(mask.size, int(mask.sum()), size) for size in set(sizes)}
    shuffled = float(sum(1 - empty[size] for size in sizes))
    return {
        "value": value,
        "shuffled": shuffled,
        "ratio": value / shuffled if shuffled else None,
        "units": len(mask),
        "empty_units": int((~mask.any(axis=1)).sum()),
        "wide_features": int((sizes > 1).sum()),
    }


def _chance_of_none(positions: int, kept: int, size: int) -> float:
    """The probability that none of `size` positions is kept (hypergeometric)."""
    places = np.arange(size)
    return float(np.prod((positions - kept - places) / (positions - places)))
