"""Verdicts on comparisons: mean difference, interval, and one rule for claims and questions alike.

Pure functions of paired differences: a series by data set and seed, positive in favour of "ours".
An effect counts from the smallest of interest on, which is fixed before any run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

DRAWS = 100_000  # an end of an interval then varies by about a hundredth of a point
LEVEL = 0.95
FEW = 5  # data sets: with fewer, a claim is about those sets
POINT = 1.0  # the smallest effect of interest in accuracy or balanced accuracy

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
UNDECIDED, NOT_RUN = "undecided", "not run"
# The same verdicts as answers to a question that asks whether one is better.
YES, NO, WORSE, OPEN = "yes", "no", "no, worse", "open"
ANSWERS = {REPRODUCED: YES, NOT_REPRODUCED: NO, UNDECIDED: OPEN, NOT_RUN: NOT_RUN}


# ---- effects


@dataclass(frozen=True)
class Effect:
    """A mean difference; without an interval if there is nothing to resample."""

    mean: float
    low: float | None
    high: float | None
    datasets: list[str]
    seeds: int  # the most that a data set has


def effect(differences: pd.Series, seed: int = 0, draws: int = DRAWS) -> Effect | None:
    """The mean over data sets, with its 95 % interval; None without a difference.

    A hierarchical bootstrap: data sets are drawn again, and seeds within each. Of one data set only
    the seeds are drawn. They are drawn in the order of their names, so that a comparison has one
    interval wherever it stands. A percentile bootstrap of few units is too narrow (of three it
    covers about 75 %), so the distances from the mean are widened as Student's t is from a normal
    one.
    """
    import numpy as np

    if differences.empty:
        return None
    shown = list(differences.index.unique("dataset"))
    in_order = differences.sort_index().groupby(level="dataset")
    sets = [values.to_numpy() for _, values in in_order]
    mean = float(np.mean([values.mean() for values in sets]))
    seeds = max(map(len, sets))
    units = len(sets) if len(sets) > 1 else seeds
    if units < 2:
        return Effect(mean, None, None, shown, seeds)
    rng = np.random.default_rng(seed)
    drawn = np.stack([_draw(values, draws, rng) for values in sets])  # [data sets, draws]
    if len(sets) > 1:
        # A data set that is drawn twice gets its seeds drawn twice, too.
        chosen = rng.integers(len(sets), size=(len(sets), draws))
        other = rng.integers(draws, size=(len(sets), draws))
        drawn = drawn[chosen, other]
    low, high = np.quantile(drawn.mean(axis=0), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    wider = widening(units)
    return Effect(
        mean, mean - wider * (mean - float(low)), mean + wider * (float(high) - mean), shown, seeds
    )


def _draw(values: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Means over seeds that are drawn again."""
    return values[rng.integers(len(values), size=(draws, len(values)))].mean(axis=1)


def widening(units: int) -> float:
    """How much wider than the bootstrap's an interval of so few units has to be.

    The bootstrap's variance is that of n units divided by n, not by n − 1, and its quantiles are
    those of a normal distribution, where Student's t is due.
    """
    from scipy.special import ndtri, stdtrit

    quantile = (1 + LEVEL) / 2
    t, z = float(stdtrit(units - 1, quantile)), float(ndtri(quantile))
    return (units / (units - 1)) ** 0.5 * t / z


# ---- the rule


def verdict(found: Effect | None, smallest: float = POINT, level: bool = False) -> str:
    """Of a claim that one is larger, or that two are `level` (within ± the smallest effect)."""
    if found is None:
        return NOT_RUN
    if found.low is None:
        return UNDECIDED
    if level:
        holds = -smallest <= found.low and found.high <= smallest
        fails = found.low > smallest or found.high < -smallest
    else:
        holds = found.low > 0 and found.mean >= smallest
        fails = found.high < smallest
    return REPRODUCED if holds else NOT_REPRODUCED if fails else UNDECIDED


def answer(found: Effect | None, smallest: float = POINT) -> str:
    """yes, no (any gain is below the smallest effect), worse (wholly below 0), or open."""
    if found is not None and found.high is not None and found.high < 0:
        return WORSE
    return ANSWERS[verdict(found, smallest)]
