from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iunet.evaluation import locality as module
from iunet.evaluation.locality import locality, selectivity


def slow_locality(mask: np.ndarray) -> tuple[float | None, int]:
    """(mean over units, units left out) of a mask [units, channels, side, side]."""
    means, left_out = [], 0
    for unit in mask:
        side = unit.shape[-1]
        pixels = [(y, x) for y in range(side) for x in range(side) if unit[:, y, x].any()]
        distances = [math.dist(a, b) for a, b in itertools.combinations(pixels, 2)]
        if distances:
            means.append(sum(distances) / len(distances))
        else:
            left_out += 1
    return (sum(means) / len(means) if means else None), left_out


def slow_selectivity(mask: np.ndarray, groups: list[list[int]]) -> float:
    counts = [sum(any(unit[c] for c in group) for group in groups) for unit in mask]
    return sum(counts) / len(counts)


def all_masks(shape: tuple[int, ...], kept: int):
    """Every way to lay this many weights: all shuffles of a mask, each as likely as the others."""
    for places in itertools.combinations(range(math.prod(shape)), kept):
        mask = np.zeros(math.prod(shape), dtype=bool)
        mask[list(places)] = True
        yield mask.reshape(shape)


def random_mask(seed: int, shape: tuple[int, ...], density: float) -> np.ndarray:
    return np.random.default_rng(seed).random(shape) < density


seeds = st.integers(0, 2**31)
densities = st.sampled_from([0.0, 0.05, 0.3, 0.7, 1.0])


@given(seeds, st.integers(1, 6), st.integers(1, 3), st.integers(1, 5), densities)
def test_locality_against_a_slow_loop(seed, units, channels, side, density):
    mask = random_mask(seed, (units, channels, side, side), density)
    found = locality(mask, side, channels)
    value, left_out = slow_locality(mask)
    assert (found["units"], found["left_out"]) == (units, left_out)
    assert found == locality(mask.reshape(units, -1), side, channels)
    if value is None:
        assert found["value"] is found["ratio"] is None
    else:
        assert found["value"] == pytest.approx(value)
        assert found["ratio"] == pytest.approx(value / found["shuffled"])


@pytest.mark.parametrize(
    ("shape", "kept"), [((2, 1, 2, 2), 3), ((2, 2, 2, 2), 4), ((1, 1, 3, 3), 3)]
)
def test_shuffled_locality_is_that_of_all_shuffles(shape, kept):
    values = [slow_locality(mask)[0] for mask in all_masks(shape, kept)]
    values = [value for value in values if value is not None]
    example = next(mask for mask in all_masks(shape, kept))
    assert locality(example, shape[-1], shape[1])["shuffled"] == pytest.approx(np.mean(values))


def test_locality_of_local_shuffled_and_whole_masks():
    rng = np.random.default_rng(0)
    local = np.zeros((200, 3, 16, 16), dtype=bool)
    for unit in local:
        y, x = rng.integers(0, 12, 2)
        unit[:, y : y + 5, x : x + 5] = True
    shuffled = rng.permutation(local.ravel()).reshape(local.shape)
    assert locality(local, 16, 3)["ratio"] < 0.4
    assert locality(shuffled, 16, 3)["ratio"] == pytest.approx(1, abs=0.01)
    whole = locality(np.ones_like(local), 16, 3)
    assert whole["ratio"] == pytest.approx(1, abs=1e-12) and whole["left_out"] == 0
    # The four corners are further apart than chance has it.
    corners = np.zeros((1, 1, 16, 16), dtype=bool)
    corners[0, 0, [0, 0, 15, 15], [0, 15, 0, 15]] = True
    assert locality(corners, 16, 1)["ratio"] > 1.5


def test_locality_in_chunks_is_the_same(monkeypatch):
    mask = random_mask(1, (50, 48), 0.2)
    whole = locality(mask, 4, 3)
    monkeypatch.setattr(module, "CHUNK", 7)
    assert locality(mask, 4, 3) == pytest.approx(whole)


def groups_of(sizes: list[int]) -> list[list[int]]:
    ends = np.cumsum(sizes).tolist()
    return [list(range(end - size, end)) for end, size in zip(ends, sizes, strict=True)]


@given(seeds, st.integers(1, 6), st.lists(st.integers(1, 4), min_size=1, max_size=5), densities)
def test_selectivity_against_a_slow_loop(seed, units, sizes, density):
    mask = random_mask(seed, (units, sum(sizes)), density)
    found = selectivity(mask, groups_of(sizes))
    value = slow_selectivity(mask, groups_of(sizes))
    assert found["value"] == pytest.approx(value)
    assert found["wide_features"] == sum(size > 1 for size in sizes)
    assert found["empty_units"] == sum(not unit.any() for unit in mask)
    if mask.any():
        assert found["ratio"] == pytest.approx(value / found["shuffled"])
    else:
        assert (found["value"], found["shuffled"], found["ratio"]) == (0, 0, None)
    if set(sizes) == {1} and mask.any():
        assert found["ratio"] == pytest.approx(1)


@pytest.mark.parametrize(("sizes", "kept"), [([1, 3], 3), ([2, 2], 5), ([4], 2), ([1, 3], 7)])
def test_shuffled_selectivity_is_that_of_all_shuffles(sizes, kept):
    values = [slow_selectivity(mask, groups_of(sizes)) for mask in all_masks((2, 4), kept)]
    example = next(mask for mask in all_masks((2, 4), kept))
    assert selectivity(example, groups_of(sizes))["shuffled"] == pytest.approx(np.mean(values))


def test_selectivity_of_gathered_shuffled_and_whole_masks():
    rng = np.random.default_rng(0)
    groups = groups_of([5] * 20)
    gathered = np.zeros((300, 100), dtype=bool)
    for unit in gathered:
        for group in rng.choice(20, 2, replace=False):
            unit[groups[group]] = True
    shuffled = rng.permutation(gathered.ravel()).reshape(gathered.shape)
    assert selectivity(gathered, groups)["value"] == 2
    assert selectivity(gathered, groups)["ratio"] < 0.3
    assert selectivity(shuffled, groups)["ratio"] == pytest.approx(1, abs=0.02)
    whole = selectivity(np.ones_like(gathered), groups)
    assert (whole["value"], whole["shuffled"], whole["ratio"]) == (20, 20, 1)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="3 × 4 × 4"):
        locality(np.ones((2, 47)), 4, 3)
    for groups in ([[0, 1]], [[0, 1], [1, 2]], [[0, 1], [2, 3]]):
        with pytest.raises(ValueError, match="each column"):
            selectivity(np.ones((2, 3)), groups)
