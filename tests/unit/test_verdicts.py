"""Intervals over data sets and seeds, and the verdicts that follow from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from iunet.tables.verdicts import (
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    UNDECIDED,
    Effect,
    effect,
    verdict,
    widening,
)


def sample(values) -> pd.Series:
    """Differences from an array [data sets, seeds]."""
    frame = pd.DataFrame(np.asarray(values, dtype=float))
    frame.index = [f"set{i}" for i in range(len(frame))]
    return frame.stack().rename_axis(["dataset", "seed"])


# ---- intervals


@pytest.mark.parametrize(
    ("n_sets", "n_seeds", "between", "within"),
    [(1, 3, 0.0, 1.0), (3, 3, 2.0, 1.0), (6, 3, 1.0, 1.0), (40, 3, 2.0, 1.0), (40, 1, 1.0, 0.0)],
)
def test_the_interval_covers_the_truth_in_about_95_percent(n_sets, n_seeds, between, within):
    rng = np.random.default_rng(1)
    covered, n = 0, 200
    for _ in range(n):
        truth = 1.5 + between * rng.standard_normal(n_sets)[:, None]
        if n_sets == 1:
            truth = np.full((1, 1), 1.5)  # the claim is about this set
        values = truth + within * rng.standard_normal((n_sets, n_seeds))
        found = effect(sample(values), draws=500)
        covered += found.low <= 1.5 <= found.high
    # Drawing data sets and seeds counts the spread of seeds twice: never too narrow.
    assert covered / n >= 0.92
    if n_sets == 1 or not within:
        assert covered / n <= 0.98


def test_equal_seeds_give_equal_intervals():
    values = np.random.default_rng(0).standard_normal((5, 3))
    first, again = (effect(sample(values), seed=3) for _ in range(2))
    assert first == again
    other = effect(sample(values), seed=4)
    assert other.mean == first.mean and other.low != first.low


def test_the_order_of_data_sets_and_seeds_does_not_matter():
    ours = sample(np.random.default_rng(0).standard_normal((5, 3)))
    one, other = (effect(side) for side in (ours, ours[::-1]))
    assert (one.mean, one.low, one.high) == (other.mean, other.low, other.high)
    assert other.datasets == one.datasets[::-1]


def test_an_end_of_an_interval_hardly_depends_on_chance():
    values = 5 * np.random.default_rng(0).standard_normal((6, 3))
    ends = [effect(sample(values), seed=seed).high for seed in range(8)]
    assert np.std(ends) < 0.005 * np.std(values)


def test_data_sets_may_have_different_numbers_of_seeds():
    found = effect(pd.concat([sample([[1.0, 1.0, 4.0]]), sample([[0], [3.0]]).loc[["set1"]]]))
    assert found.mean == pytest.approx(2.5) and found.seeds == 3


def test_one_data_set_draws_its_seeds():
    found = effect(sample([[1.0, 2.0, 3.0]]))
    assert found.low < 2 < found.high and found.seeds == 3


def test_nothing_to_draw_from():
    assert effect(sample([[1.0]]).iloc[:0]) is None
    single = effect(sample([[2.0]]))
    assert (single.mean, single.low, single.high) == (2.0, None, None)
    same = effect(sample(np.zeros((3, 2))))
    assert (same.mean, same.low, same.high) == (0, 0, 0)


def test_few_units_widen_the_interval():
    assert widening(2) > widening(3) > widening(10) > widening(1000) > 1
    assert widening(3) == pytest.approx(1.5**0.5 * 4.3027 / 1.95996, rel=1e-4)


# ---- verdicts


def of(mean, low, high) -> Effect:
    return Effect(mean, low, high, ["a"], 3)


@pytest.mark.parametrize(
    ("found", "expected"),
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
def test_verdicts_of_differences(found, expected):
    assert verdict(found, 1.0) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
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
def test_verdicts_of_equality(found, expected):
    assert verdict(found, 1.0, level=True) == expected
