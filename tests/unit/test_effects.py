"""Intervals over data sets and seeds, and the verdicts that follow from them."""

from __future__ import annotations

import numpy as np
import pytest

from iunet.tables.effects import Effect, effect, widening
from iunet.tables.verdicts import (
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    UNDECIDED,
    verdict_of_difference,
    verdict_of_equality,
)


def sample(values) -> dict[str, dict[int, float]]:
    """From an array [data sets, seeds]."""
    return {f"set{i}": dict(enumerate(map(float, row))) for i, row in enumerate(values)}


def zeros(n_sets: int, n_seeds: int):
    return sample(np.zeros((n_sets, n_seeds)))


# ---- intervals


@pytest.mark.parametrize(
    ("n_sets", "n_seeds", "between", "within"),
    [(1, 3, 0.0, 1.0), (3, 3, 2.0, 1.0), (6, 3, 1.0, 1.0), (40, 3, 2.0, 1.0), (40, 1, 1.0, 0.0)],
)
def test_the_interval_covers_the_truth_in_about_95_percent(n_sets, n_seeds, between, within):
    rng = np.random.default_rng(1)
    covered, n = 0, 300
    for _ in range(n):
        truth = 1.5 + between * rng.standard_normal(n_sets)[:, None]
        if n_sets == 1:
            truth = np.full((1, 1), 1.5)  # the claim is about this set
        values = truth + within * rng.standard_normal((n_sets, n_seeds))
        found = effect(sample(values), zeros(n_sets, n_seeds), draws=500)
        covered += found.low <= 1.5 <= found.high
    # Drawing data sets and seeds counts the spread of seeds twice: never too narrow.
    assert covered / n >= 0.92
    if n_sets == 1 or not within:
        assert covered / n <= 0.98


def test_equal_seeds_give_equal_intervals():
    values = np.random.default_rng(0).standard_normal((5, 3))
    first, again = (effect(sample(values), zeros(5, 3), seed=3) for _ in range(2))
    assert first == again
    other = effect(sample(values), zeros(5, 3), seed=4)
    assert other.mean == first.mean and other.low != first.low


def test_the_order_of_data_sets_and_seeds_does_not_matter():
    values = np.random.default_rng(0).standard_normal((5, 3))
    ours = sample(values)
    turned = {name: dict(reversed(seeds.items())) for name, seeds in reversed(ours.items())}
    one, other = (effect(side, zeros(5, 3)) for side in (ours, turned))
    assert (one.mean, one.low, one.high) == (other.mean, other.low, other.high)
    assert other.datasets == list(turned)


def test_an_end_of_an_interval_hardly_depends_on_chance():
    values = 5 * np.random.default_rng(0).standard_normal((6, 3))
    ends = [effect(sample(values), zeros(6, 3), seed=seed).high for seed in range(8)]
    assert np.std(ends) < 0.005 * np.std(values)


def test_differences_are_paired_by_data_set_and_seed():
    rng = np.random.default_rng(0)
    base = 100 * rng.standard_normal((4, 3))
    found = effect(sample(base + 2), sample(base))
    assert found.low == pytest.approx(2) and found.high == pytest.approx(2)


def test_only_common_seeds_and_sets_count():
    ours = {"a": {0: 5.0, 1: 6.0, 2: 100.0}, "b": {0: 3.0}, "c": {0: 9.0}}
    theirs = {"a": {0: 4.0, 1: 5.0}, "b": {0: 1.0}}
    found = effect(ours, theirs)
    assert found.mean == pytest.approx(1.5)
    assert found.datasets == ["a", "b"] and found.seeds == 2


def test_without_a_common_seed_the_means_are_compared():
    found = effect({"a": {0: 4.0, 1: 6.0}}, {"a": {2: 1.0, 3: 3.0}})
    assert found.mean == pytest.approx(3.0) and found.low < 3 < found.high


def test_one_data_set_draws_its_seeds():
    found = effect({"a": {0: 1.0, 1: 2.0, 2: 3.0}}, {"a": {0: 0.0, 1: 0.0, 2: 0.0}})
    assert found.low < 2 < found.high and found.seeds == 3


def test_nothing_to_draw_from():
    assert effect({}, {}) is None
    assert effect({"a": {0: 1.0}}, {"b": {0: 1.0}}) is None
    assert effect({"a": {}}, {"a": {0: 1.0}}) is None
    single = effect({"a": {0: 3.0}}, {"a": {0: 1.0}})
    assert (single.mean, single.low, single.high) == (2.0, None, None)
    same = effect(zeros(3, 2), zeros(3, 2))
    assert (same.mean, same.low, same.high) == (0, 0, 0)


def test_few_units_widen_the_interval():
    assert widening(2) > widening(3) > widening(10) > widening(1000) > 1
    assert widening(3) == pytest.approx(1.5**0.5 * 4.3027 / 1.95996, rel=1e-4)


# ---- verdicts


def of(mean, low, high) -> Effect:
    return Effect(mean, low, high, ["a"], 3)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (None, NOT_RUN),
        (of(5.0, None, None), UNDECIDED),
        (of(1.0, 0.1, 2.0), REPRODUCED),
        (of(0.9, 0.1, 2.0), UNDECIDED),  # above 0, but smaller than what matters
        (of(3.0, -0.1, 6.0), UNDECIDED),
        (of(0.2, -0.5, 0.9), NOT_REPRODUCED),
        (of(0.5, 0.1, 0.9), NOT_REPRODUCED),  # there is an effect, but none that matters
        (of(-3.0, -5.0, -1.0), NOT_REPRODUCED),
    ],
)
def test_verdicts_of_differences(found, verdict):
    assert verdict_of_difference(found, 1.0) == verdict


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (None, NOT_RUN),
        (of(0.0, None, None), UNDECIDED),
        (of(0.2, -0.9, 1.0), REPRODUCED),
        (of(0.2, -1.1, 0.5), UNDECIDED),
        (of(2.0, 0.5, 3.0), UNDECIDED),
        (of(2.0, 1.1, 3.0), NOT_REPRODUCED),
        (of(-2.0, -3.0, -1.1), NOT_REPRODUCED),
    ],
)
def test_verdicts_of_equality(found, verdict):
    assert verdict_of_equality(found, 1.0) == verdict
