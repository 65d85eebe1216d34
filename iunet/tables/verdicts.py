"""Verdicts on comparisons: one rule and one vocabulary, for the paper's claims and for questions.

An effect counts from the smallest of interest on, which is fixed before any run.
"""

from __future__ import annotations

from iunet.tables.effects import Effect

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
UNDECIDED, NOT_RUN = "undecided", "not run"
# The same verdicts as answers to a question that asks whether one is better.
YES, NO, WORSE, OPEN = "yes", "no", "no, worse", "open"
ANSWERS = {REPRODUCED: YES, NOT_REPRODUCED: NO, UNDECIDED: OPEN, NOT_RUN: NOT_RUN}
POINT = 1.0  # the smallest effect of interest in accuracy or balanced accuracy


def verdict_of_difference(found: Effect | None, smallest: float) -> str:
    """Of a claim that one is larger: the effect counts from the smallest of interest on."""
    if found is None:
        return NOT_RUN
    if found.low is None:
        return UNDECIDED
    if found.low > 0 and found.mean >= smallest:
        return REPRODUCED
    return NOT_REPRODUCED if found.high < smallest else UNDECIDED


def verdict_of_equality(found: Effect | None, smallest: float) -> str:
    """Of a claim that two are level: the interval is within ± the smallest effect, or outside."""
    if found is None:
        return NOT_RUN
    if found.low is None:
        return UNDECIDED
    if -smallest <= found.low and found.high <= smallest:
        return REPRODUCED
    outside = found.low > smallest or found.high < -smallest
    return NOT_REPRODUCED if outside else UNDECIDED


def answer(found: Effect | None, smallest: float = POINT) -> str:
    """yes, no (any gain is below the smallest effect), worse (wholly below 0), or open."""
    if found is not None and found.high is not None and found.high < 0:
        return WORSE
    return ANSWERS[verdict_of_difference(found, smallest)]
