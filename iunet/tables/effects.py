"""Effects: mean differences with intervals over data sets and seeds.

Pure functions of numbers. A sample has, for each data set, the values of one side of a comparison
by seed.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

Sample = dict[str, dict[int, float]]  # data set → seed → value

DRAWS = 100_000  # an end of an interval then varies by about a hundredth of a point
LEVEL = 0.95
FEW = 5  # data sets: with fewer, a claim is about those sets


@dataclass(frozen=True)
class Effect:
    """A mean difference; without an interval if there is nothing to resample."""

    mean: float
    low: float | None
    high: float | None
    datasets: list[str]
    seeds: int  # the most that a data set has


def effect(ours: Sample, theirs: Sample, seed: int = 0, draws: int = DRAWS) -> Effect | None:
    """The mean over data sets of ours − theirs, with its 95 % interval; None without a pair.

    A hierarchical bootstrap: data sets are drawn again, and seeds within each. Differences are
    paired by data set, and by seed where both sides have it. Of one data set only the seeds are
    drawn. They are drawn in the order of their names, so that a comparison has one interval
    wherever it stands. A percentile bootstrap of few units is too narrow (of three it covers
    about 75 %), so the distances from the mean are widened as Student's t is from a normal one.
    """
    return _effect(_frozen(ours), _frozen(theirs), seed, draws)


Frozen = tuple[tuple[str, tuple[tuple[int, float], ...]], ...]


def _frozen(sample: Sample) -> Frozen:
    return tuple((name, tuple(values.items())) for name, values in sample.items())


@functools.cache
def _effect(ours_frozen: Frozen, theirs_frozen: Frozen, seed: int, draws: int) -> Effect | None:
    """Kept, since a study asks for the same comparison in its findings, answers and claims."""
    import numpy as np

    ours, theirs = ({n: dict(values) for n, values in s} for s in (ours_frozen, theirs_frozen))
    names = sorted(name for name in ours if ours[name] and theirs.get(name))
    if not names:
        return None
    pairs = [_paired(ours[name], theirs[name]) for name in names]
    shown = [name for name in ours if name in names]
    mean = float(np.mean([a.mean() - b.mean() for a, b in pairs]))
    seeds = max(max(len(a), len(b)) for a, b in pairs)
    units = len(names) if len(names) > 1 else seeds
    if units < 2:
        return Effect(mean, None, None, shown, seeds)
    rng = np.random.default_rng(seed)
    drawn = np.stack([_draw(a, b, draws, rng) for a, b in pairs])  # [data sets, draws]
    if len(names) > 1:
        # A data set that is drawn twice gets its seeds drawn twice, too.
        chosen = rng.integers(len(names), size=(len(names), draws))
        other = rng.integers(draws, size=(len(names), draws))
        drawn = drawn[chosen, other]
    means = drawn.mean(axis=0)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    wider = widening(units)
    return Effect(
        mean, mean - wider * (mean - float(low)), mean + wider * (float(high) - mean), shown, seeds
    )


def _paired(ours: dict[int, float], theirs: dict[int, float]) -> tuple[np.ndarray, np.ndarray]:
    """Differences (and zeros) of the seeds that both have; if there is none, both sides."""
    import numpy as np

    if common := sorted(seed for seed in ours if seed in theirs):
        differences = np.array([ours[seed] - theirs[seed] for seed in common])
        return differences, np.zeros(1)
    return np.array(list(ours.values())), np.array(list(theirs.values()))


def _draw(a: np.ndarray, b: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Mean differences of seeds that are drawn again."""
    a_mean, b_mean = (
        side[rng.integers(len(side), size=(draws, len(side)))].mean(axis=1) for side in (a, b)
    )
    return a_mean - b_mean


def widening(units: int) -> float:
    """How much wider than the bootstrap's an interval of so few units has to be.

    The bootstrap's variance is that of n units divided by n, not by n − 1, and its quantiles are
    those of a normal distribution, where Student's t is due.
    """
    from scipy.special import ndtri, stdtrit

    quantile = (1 + LEVEL) / 2
    t, z = float(stdtrit(units - 1, quantile)), float(ndtri(quantile))
    return (units / (units - 1)) ** 0.5 * t / z
