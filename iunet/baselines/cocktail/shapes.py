"""Dropout rates over the groups of the network: the shapes of the original."""

from __future__ import annotations


def dropout_rates(shape: str, largest: float, groups: int) -> list[float]:
    """The dropout rate of each group, from the input to the output.

    The original asks its function for layer widths for `groups` + 1 of them, from 0 over `largest`
    to 0, and drops the last. That function rounds its steps down to whole numbers, so rates below 1
    never change by a step: its funnel is its brick, and its triangle starts at 0. Here steps are
    fractions, as the names of the shapes promise. With two groups, relative to the largest rate:

        brick, long_funnel, hexagon, stairs   1    1
        funnel, diamond                       1    0.5
        triangle                              0.5  1
    """
    return [largest * part for part in _parts(shape, groups)]


def _parts(shape: str, n: int) -> list[float]:
    if shape == "brick":
        return [1.0] * n
    if shape == "triangle":
        return _rising(n)
    if shape == "funnel":
        return _falling(n)
    if shape == "long_funnel":
        flat = (n + 1) // 2
        return [1.0] * flat + _falling(n - flat)
    if shape == "diamond":
        up = (n + 1) // 2 - 1
        return _rising(up + 1)[:-1] + _falling(n - up)
    if shape == "hexagon":
        side = (n + 1) // 3
        flat = max(0, n + 1 - 2 * (side + 1))
        return ([*_rising(side), 1.0] + [1.0] * flat + _falling(side))[:n]
    if shape == "stairs":
        first = 2 - n % 2
        lower = [1 - 2 * (i // 2 + 1) / n for i in range(n - first)]
        return [1.0] * min(first, n) + lower
    raise ValueError(shape)


def _rising(n: int) -> list[float]:
    return [(i + 1) / n for i in range(n)]


def _falling(n: int) -> list[float]:
    return _rising(n)[::-1]
