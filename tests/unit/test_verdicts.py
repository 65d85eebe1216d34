"""Intervals over data sets and seeds, and the verdicts that follow from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis.strategies import data, floats, integers

from iunet.tables.verdicts import (
    FEW,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    UNDECIDED,
    effect,
    finding,
    holm,
    signed_rank_probabilities,
    standing,
    verdict,
    widening,
)


def sample(values) -> pd.Series:
    """Differences from an array [data sets, seeds]."""
    frame = pd.DataFrame(np.asarray(values, dtype=float))
    frame.index = [f"set{i}" for i in range(len(frame))]
    return frame.stack().rename_axis(["dataset", "seed"])


# ---- intervals


@pytest.mark.parametrize(("n_sets", "n_seeds", "between"), [(1, 3, 0.0), (2, 3, 2.0), (6, 3, 1.0)])
def test_on_these_sets_the_interval_covers_their_mean(n_sets, n_seeds, between):
    """In about 95 percent; sets with different spreads are the hard case."""
    rng = np.random.default_rng(1)
    covered, n = 0, 200
    for _ in range(n):
        truth = between * rng.standard_normal(n_sets)
        within = rng.uniform(0.3, 2.0, n_sets)[:, None]
        values = truth[:, None] + within * rng.standard_normal((n_sets, n_seeds))
        low, high = effect(sample(values), draws=300, beyond=False).interval
        covered += low <= truth.mean() <= high
    assert 0.92 <= covered / n <= 0.99


@pytest.mark.parametrize(("n_sets", "n_seeds", "between"), [(6, 3, 1.0), (40, 1, 1.0)])
def test_beyond_these_sets_the_interval_covers_the_mean_of_all_sets(n_sets, n_seeds, between):
    rng = np.random.default_rng(1)
    covered, n = 0, 200
    for _ in range(n):
        values = between * rng.standard_normal((n_sets, 1))
        values = values + (n_seeds > 1) * rng.standard_normal((n_sets, n_seeds))
        low, high = effect(sample(values), draws=300, without_seeds=n_seeds == 1).interval_beyond
        covered += low <= 0 <= high
    # Drawing data sets and seeds counts the spread of seeds twice: never too narrow.
    assert covered / n >= 0.92


def test_the_order_of_data_sets_and_seeds_does_not_matter():
    ours = sample(np.random.default_rng(0).standard_normal((5, 3)))
    one, other = (effect(side) for side in (ours, ours[::-1]))
    assert (one.interval, one.interval_beyond) == (other.interval, other.interval_beyond)
    assert one.mean == pytest.approx(other.mean) and other.datasets == one.datasets[::-1]
    assert effect(ours, seed=4).interval_beyond != one.interval_beyond


def test_data_sets_with_one_seed_do_not_count():
    several = sample([[1.0, 1.0, 4.0]])
    found = effect(pd.concat([several, sample([[0], [30.0]]).loc[["set1"]]]))
    assert found.mean == pytest.approx(2.0) and found.single == ("set1",) and found.seeds == 3
    assert found.interval == effect(several).interval
    alone = effect(sample([[2.0], [4.0]]))  # if all have one, they are shown and decide nothing
    assert (alone.mean, alone.interval, alone.interval_beyond) == (3.0, None, None)
    five = effect(sample([[2.0]] * FEW), without_seeds=True)
    assert five.interval is None and five.interval_beyond == (2.0, 2.0)


def test_nothing_is_said_beyond_few_data_sets():
    assert effect(sample(np.ones((FEW - 1, 3)))).interval_beyond is None
    assert effect(sample(np.ones((FEW, 3)))).interval_beyond == (1, 1)
    assert effect(sample([[1.0]]).iloc[:0]) is None


def test_few_units_widen_the_interval():
    assert widening(2) > widening(3) > widening(10) > widening(1000) > 1
    assert widening(3) == pytest.approx(1.5**0.5 * 4.3027 / 1.95996, rel=1e-4)


# ---- verdicts


@pytest.mark.parametrize(
    ("mean", "interval", "expected"),
    [
        (5.0, None, UNDECIDED),
        (1.0, (0.1, 2.0), REPRODUCED),
        (0.9, (0.1, 2.0), UNDECIDED),  # above 0, but smaller than what matters
        (3.0, (-0.1, 6.0), UNDECIDED),
        (0.2, (-0.5, 0.9), NOT_REPRODUCED),
        (0.5, (0.1, 0.9), NOT_REPRODUCED),  # there is an effect, but none that matters
        (-3.0, (-5.0, -1.0), NOT_REPRODUCED),
    ],
)
def test_verdicts_of_differences(mean, interval, expected):
    assert verdict(mean, interval, 1.0) == expected


@pytest.mark.parametrize(
    ("mean", "interval", "expected"),
    [
        (0.0, None, UNDECIDED),
        (0.2, (-0.9, 1.0), REPRODUCED),
        (0.2, (-1.1, 0.5), UNDECIDED),
        (2.0, (0.5, 3.0), UNDECIDED),
        (2.0, (1.1, 3.0), NOT_REPRODUCED),
        (-2.0, (-3.0, -1.1), NOT_REPRODUCED),
    ],
)
def test_verdicts_of_equality(mean, interval, expected):
    assert verdict(mean, interval, 1.0, level=True) == expected


def judged(values, **options):
    return finding(sample(values), **options)


def test_two_sets_with_seeds_far_above_zero_are_reproduced():
    found = judged([[20.0, 21.0, 19.0], [38.0, 40.0, 39.0]])
    assert (found.on_sets, found.beyond) == (REPRODUCED, None)
    assert judged(np.zeros((0, 3))).on_sets == NOT_RUN


def test_a_verdict_that_one_set_decides_names_it():
    values = np.array([0.4, 0.5, 0.6, 0.5, 9.0])[:, None] + [-0.1, 0.0, 0.1]
    assert judged(values).decided_by == ("set4",)
    assert judged(3.0 + np.zeros((5, 1)) + (-0.1, 0.0, 0.1)).decided_by == ()


@pytest.mark.parametrize("question", ["interval", "interval_beyond"])
@pytest.mark.parametrize("said", [REPRODUCED, NOT_REPRODUCED])
@given(drawn=data())
@settings(max_examples=15, deadline=None, derandomize=True)
def test_a_further_set_in_favour_of_a_verdict_keeps_it(question, said, drawn):
    """With an effect between the estimate and the end of the interval, and seeds no more spread."""
    n_sets = drawn.draw(integers(1 if question == "interval" else FEW, 8))
    rng = np.random.default_rng(drawn.draw(integers(0, 10**6)))
    spread = rng.uniform(0.1, 2.0)
    values = rng.normal(rng.uniform(-2, 4), 1.5, (n_sets, 1)) + rng.normal(0, spread, (n_sets, 3))
    before = effect(sample(values), draws=4000)
    interval = getattr(before, question)
    assume(verdict(before.mean, interval) == said)
    end = interval[1 if said == REPRODUCED else 0]
    centre = before.mean + drawn.draw(floats(0, 1)) * (end - before.mean)
    seeds = rng.normal(0, 1, 3)
    least = values.std(axis=1, ddof=1).min()
    seeds = (seeds - seeds.mean()) / seeds.std(ddof=1) * least * drawn.draw(floats(0, 1))
    after = effect(sample([*values, centre + seeds]), draws=4000)
    assert verdict(after.mean, getattr(after, question)) == said


# ---- beside the verdicts


def test_the_standing_of_the_data_sets():
    found = standing(effect(sample(np.array([3.0, 2.0, -1.5, 4.0, 5.0])[:, None] + [-0.1, 0.1])))
    assert (found.median, found.ahead) == (pytest.approx(3.0), 4)
    assert found.p == pytest.approx(0.125)  # of the 32 signs of five ranks
    assert found.better + found.within + found.worse == pytest.approx(1)
    assert standing(effect(sample(np.ones((FEW - 1, 2))))) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [  # baycomp 1.0.3, SignedRankTest.probs(values, 0, rope=1, nsamples=200000)
        ([2.03, 1.51, 0.32, -0.27, 4.06, 0.91, 1.13], (0.631, 0.369, 0.000)),
        ([-2.1, 3.3, 1.2, -4.4, 5.7, 2.6, 0.5, -1.3], (0.498, 0.357, 0.145)),
    ],
)
def test_the_signed_rank_probabilities_are_baycomps(values, expected):
    found = signed_rank_probabilities(np.array(values), 1.0)
    assert found == pytest.approx(expected, abs=0.015)


def test_holms_adjustment():
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
