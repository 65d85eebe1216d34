"""Curves over seeds: a mean with a band, drawn by seaborn in the house's looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes

from iunet.figures.style import Look

BAND = {"alpha": 0.16, "linewidth": 0}
BAR = {"elinewidth": 0.8, "capsize": 0}


def draw_curve(
    panel: Axes,
    values: dict[float, list[float]],
    places: Sequence[float],
    *,
    estimator: str | Callable = "mean",
    errorbar: str | Callable = "sd",
    label: str,
    **line: Any,
) -> None:
    """The mean over seeds at each place, with a band (or a bar) wherever there are two seeds.

    A place without a value is a gap, not a straight line across it. seaborn joins what is left
    when values are missing, so every unbroken stretch is a line of its own, with the same label.
    """
    import seaborn

    for has_values, stretch in groupby(places, key=lambda place: bool(values.get(place))):
        if not has_values:
            continue
        points = [(place, value) for place in stretch for value in values[place]]
        n_places = len({place for place, _ in points})
        # A band over a single place would have no width.
        err_style, err_look = ("band", BAND) if n_places > 1 else ("bars", BAR)
        seaborn.lineplot(
            x=[place for place, _ in points],
            y=[value for _, value in points],
            estimator=estimator,
            errorbar=errorbar if len(points) > n_places else None,
            err_style=err_style,
            err_kws=err_look | {"label": label},
            ax=panel,
            legend=False,
            label=label,
            **line,
        )


def draw_hollow(
    panel: Axes, points: dict[float, float], look: Look, *, label: str, **line: Any
) -> None:
    """White markers over those of a curve: in some seed a layer lost all its weights there."""
    if points:
        style = look.line_style() | {"linestyle": "none", "markeredgewidth": 1.0}
        style |= {"markerfacecolor": "white", "markeredgecolor": look.colour}
        panel.plot(list(points), list(points.values()), **style, label=label, **line)
