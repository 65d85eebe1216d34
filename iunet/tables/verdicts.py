"""Verdicts on comparisons: mean difference, intervals, and one rule for claims and comparisons.

Everything is computed from paired differences: a series by data set and seed, positive in favour of
"ours". The smallest effect of interest is fixed before any run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

DRAWS = 100_000  # an end of an interval then varies by about a hundredth of a point
LEVEL = 0.95
FEW = 5  # data sets: with fewer there is no verdict beyond these sets
POINT = 1.0  # the smallest effect of interest in accuracy or balanced accuracy
SURE = 0.9  # the probability from which an undecided effect is probably within the smallest

REPRODUCED, NOT_REPRODUCED, NOT_RUN = "reproduced", "not reproduced", "not run"
# Undecided: probably smaller than what matters, or not known.
UNDECIDED, WITHIN, UNKNOWN = "undecided", "probably within it", "unknown"

Interval = tuple[float, float]


# ---- effects


@dataclass(frozen=True)
class Effect:
    """A mean difference over data sets, with an interval on these sets and one beyond them.

    `interval` takes the data sets as fixed and shows how well the seeds determine their mean.
    `interval_beyond` takes them as a sample of all data sets, from FEW sets on. Both are None if
    there is nothing to resample.
    """

    means: dict[str, float]  # by data set
    seeds: int  # the most that a data set has
    interval: Interval | None = None
    interval_beyond: Interval | None = None
    single: tuple[str, ...] = ()  # data sets with one seed, which do not count

    @property
    def mean(self) -> float:
        return sum(self.means.values()) / len(self.means)

    @property
    def datasets(self) -> list[str]:
        return list(self.means)


def effect(
    differences: pd.Series,
    seed: int = 0,
    draws: int = DRAWS,
    beyond: bool = True,
    without_seeds: bool = False,
) -> Effect | None:
    """The mean over data sets with its 95 % intervals; None without a difference.

    A data set with one seed counts only if no other has more; then there is no interval.
    `without_seeds` is for numbers without seeds, such as some of the paper's.
    """
    import numpy as np

    if differences.empty:
        return None
    shown = list(differences.index.unique("dataset"))
    # In the order of names, so that a comparison has the same interval everywhere.
    sets = {name: part.to_numpy() for name, part in differences.sort_index().groupby("dataset")}
    seeds = max(map(len, sets.values()))
    counted = sets if seeds == 1 else {name: v for name, v in sets.items() if len(v) > 1}
    values = list(counted.values())
    rng = np.random.default_rng(seed)
    found = {
        "means": {name: float(counted[name].mean()) for name in shown if name in counted},
        "seeds": seeds,
        "single": tuple(name for name in shown if seeds > 1 and name not in counted),
    }
    if seeds > 1:
        found["interval"] = _on_these_sets(values, rng, draws)
    if beyond and len(values) >= FEW and (seeds > 1 or without_seeds):
        found["interval_beyond"] = _beyond_these_sets(values, rng, draws)
    return Effect(**found)


def _on_these_sets(sets: list[np.ndarray], rng: np.random.Generator, draws: int) -> Interval:
    """The interval with the data sets fixed and seeds drawn again within each.

    A bootstrap of n seeds has a variance that is divided by n and not by n − 1, and quantiles of a
    normal distribution where Student's t is due; its degrees of freedom are Welch's, so that a set
    with widely spread seeds is not taken for more than it is.
    """
    import numpy as np
    from scipy.special import ndtri, stdtrit

    mean = float(np.mean([values.mean() for values in sets]))
    variances = np.array([values.var(ddof=1) / len(values) for values in sets])
    if not variances.any():
        return mean, mean
    freedom = variances.sum() ** 2 / sum(
        variance**2 / (len(values) - 1) for variance, values in zip(variances, sets, strict=True)
    )
    deviations = [(v - v.mean()) * (len(v) / (len(v) - 1)) ** 0.5 for v in sets]
    drawn = np.mean([_draw(values, draws, rng) for values in deviations], axis=0)
    quantile = (1 + LEVEL) / 2
    wider = float(stdtrit(freedom, quantile) / ndtri(quantile))
    low, high = np.quantile(drawn, [1 - quantile, quantile])
    return mean + wider * float(low), mean + wider * float(high)


def _beyond_these_sets(sets: list[np.ndarray], rng: np.random.Generator, draws: int) -> Interval:
    """The interval with data sets drawn again, and seeds within each: a hierarchical bootstrap.

    For few data sets it is too narrow, so the distances from the mean are widened as Student's t is
    wider than a normal distribution.
    """
    import numpy as np

    mean = float(np.mean([values.mean() for values in sets]))
    drawn = np.stack([_draw(values, draws, rng) for values in sets])  # [data sets, draws]
    # A data set that is drawn twice gets its seeds drawn twice, too.
    chosen = rng.integers(len(sets), size=(len(sets), draws))
    other = rng.integers(draws, size=(len(sets), draws))
    low, high = np.quantile(drawn[chosen, other].mean(axis=0), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    wider = widening(len(sets))
    return mean - wider * (mean - float(low)), mean + wider * (float(high) - mean)


def _draw(values: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Means over seeds that are drawn again."""
    return values[rng.integers(len(values), size=(draws, len(values)))].mean(axis=1)


def widening(units: int) -> float:
    """By which factor a bootstrap interval over this many units is too narrow."""
    from scipy.special import ndtri, stdtrit

    quantile = (1 + LEVEL) / 2
    t, z = float(stdtrit(units - 1, quantile)), float(ndtri(quantile))
    return (units / (units - 1)) ** 0.5 * t / z


# ---- the rule


def verdict(
    mean: float, interval: Interval | None, smallest: float = POINT, level: bool = False
) -> str:
    """The verdict that one is larger, or that two are `level` (within ± the smallest effect)."""
    if interval is None:
        return UNDECIDED
    low, high = interval
    if level:
        holds, fails = -smallest <= low and high <= smallest, low > smallest or high < -smallest
    else:
        holds, fails = low > 0 and mean >= smallest, high < smallest
    return REPRODUCED if holds else NOT_REPRODUCED if fails else UNDECIDED


# ---- what is given with the verdicts, from FEW data sets on


@dataclass(frozen=True)
class Standing:
    """How the data sets are spread about an effect."""

    median: float
    ahead: int  # data sets on which ours is better
    p: float  # Wilcoxon's signed-rank test, two-sided
    better: float  # probabilities: better by the smallest effect, within it, worse by it
    within: float
    worse: float


def standing(found: Effect, smallest: float = POINT) -> Standing | None:
    """None with fewer than FEW data sets."""
    import numpy as np
    from scipy.stats import wilcoxon

    values = np.array(list(found.means.values()))
    if len(values) < FEW:
        return None
    p = float(wilcoxon(values).pvalue) if values.any() else 1.0
    probabilities = signed_rank_probabilities(values, smallest)
    return Standing(float(np.median(values)), int((values > 0).sum()), p, *probabilities)


def signed_rank_probabilities(
    values: np.ndarray, smallest: float, draws: int = 20_000, seed: int = 0
) -> tuple[float, float, float]:
    """The Bayesian signed-rank test: P(better by the smallest effect, within it, worse by it).

    Benavoli et al. 2017: the means of all pairs of values are weighed by a Dirichlet distribution;
    its prior is one more value at 0, of weight 0.5.
    """
    import numpy as np

    z = np.append(0.0, values)
    pairs = (z[:, None] + z) / 2
    sides = np.stack([pairs > smallest, np.abs(pairs) <= smallest, pairs < -smallest])
    weights = np.random.default_rng(seed).dirichlet([0.5, *[1.0] * len(values)], draws)
    shares = np.einsum("di,sij,dj->ds", weights, sides.astype(float), weights, optimize=True)
    return tuple(float(share) for share in (shares == shares.max(axis=1, keepdims=True)).mean(0))


def undecided_word(within: float) -> str:
    """Whether an undecided effect is probably smaller than what matters, or not known."""
    return WITHIN if within >= SURE else UNKNOWN


def holm(p_values: list[float]) -> list[float]:
    """Adjusted for their number: the smallest times n, the next times n − 1, never decreasing."""
    import numpy as np

    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.array(p_values)[order] * factors))
    return list(map(float, adjusted))


# ---- all of it


@dataclass
class Finding:
    """What runs say of a comparison."""

    effect: Effect | None = None
    on_sets: str = NOT_RUN  # the verdict on these data sets
    beyond: str | None = None  # the one beyond them; None with fewer than FEW sets
    decided_by: tuple[str, ...] = ()  # data sets without which the first would change
    standing: Standing | None = None
    remarks: list[str] = field(default_factory=list)

    @property
    def remark_on_deciding(self) -> list[str]:
        """Which single data sets decide the verdict, if any does."""
        return [f"another verdict without {' or '.join(self.decided_by)}"] * bool(self.decided_by)


def finding(
    differences: pd.Series,
    smallest: float = POINT,
    level: bool = False,
    remarks: Iterable[str] = (),
    without_seeds: bool = False,
) -> Finding:
    """The effect of paired differences, with both verdicts."""
    whole, remarks = effect(differences, without_seeds=without_seeds), list(remarks)
    if whole is None:
        return Finding(remarks=remarks)

    def judged(part: Effect, interval: Interval | None) -> str:
        return verdict(part.mean, interval, smallest, level)

    on_sets, names = judged(whole, whole.interval), []
    for name in whole.datasets if whole.interval and len(whole.datasets) > 1 else ():
        others = differences.drop([name, *whole.single], level="dataset")
        rest = effect(others, draws=DRAWS // 10, beyond=False)
        names += [name] * (judged(rest, rest.interval) != on_sets)
    if whole.single:
        remarks.append(f"with one seed, and not counted: {', '.join(whole.single)}")
    return Finding(
        whole,
        on_sets,
        judged(whole, whole.interval_beyond) if whole.interval_beyond else None,
        tuple(names),
        standing(whole, smallest),
        remarks,
    )


def all_hold(findings: dict[str, Finding]) -> Finding:
    """A claim of several comparisons: the effect of the first, and the worst verdict of all."""
    first, *others = each = list(findings.values())
    if not others:
        return first
    ranks = (NOT_RUN, NOT_REPRODUCED, UNDECIDED, REPRODUCED)
    beyond = [found.beyond for found in each]
    remarks = [
        f"{title}: {found.effect.mean:+.2f}, {found.on_sets}"
        for title, found in findings.items()
        if found.effect
    ]
    return replace(
        first,
        on_sets=min((found.on_sets for found in each), key=ranks.index),
        beyond=min(beyond, key=ranks.index) if all(beyond) else None,
        decided_by=tuple(dict.fromkeys(name for found in each for name in found.decided_by)),
        remarks=list(dict.fromkeys([*remarks, *(text for f in each for text in f.remarks)])),
    )
