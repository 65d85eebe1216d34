"""What figures share: a reason in place of a picture, panels, curves over seeds, notes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase

from iunet.figures.style import FAINT, PAGE_WIDTH, look, new_figure
from iunet.labels import dataset_label, method_order

Rows = list[dict[str, Any]]
MOST_COLUMNS = 3  # of panels, as wide as a page


def draw_reason(reason: str) -> Figure:
    """A figure that says why it has nothing to show."""
    figure, body = new_figure(PAGE_WIDTH, 1.0)
    body.text(0.5, 0.5, textwrap.fill(reason, 90), ha="center", va="center", color=FAINT)
    return figure


def panel_grid(n_panels: int) -> tuple[int, int]:
    """Lines and columns: as many as fit on a page, and no more than leave the last line filled."""
    lines = math.ceil(n_panels / MOST_COLUMNS)
    return lines, math.ceil(n_panels / lines)


def draw_panels(
    body: FigureBase,
    groups: dict[str, pd.DataFrame],
    draw: Callable[[Axes, pd.DataFrame], None],
) -> np.ndarray:
    """A titled panel for each group, line by line, with one y axis."""
    axes = body.subplots(*panel_grid(len(groups)), sharey=True, squeeze=False)
    for panel in axes.flat[len(groups) :]:
        panel.set_axis_off()
    for panel, (title, frame) in zip(axes.flat, groups.items(), strict=False):
        panel.set_title(title)
        draw(panel, frame)
    return axes


def draw_curves(
    panel: Axes, frame: pd.DataFrame, x: str, y: str, whole_range: bool = False, **line: Any
) -> None:
    """A curve for each method: the mean over seeds, in a band of one standard deviation or of all.

    A place without a value is a gap, as matplotlib draws NaN. A white marker says that in some seed
    a layer lost all its weights (the column `disconnected`).
    """
    places = sorted(frame[x].unique())
    for method in method_order(frame["method"]):
        points = frame[frame["method"] == method]
        seeds = points.groupby(x)[y].agg(["mean", "std", "min", "max"]).reindex(places)
        mean = seeds["mean"]
        style = look(method).line_style() | line | {"zorder": 4 if method == "iunet" else 3}
        panel.plot(places, mean, **style, label=method)
        if points[x].duplicated().any():
            low, high = mean - seeds["std"], mean + seeds["std"]
            if whole_range:
                low, high = seeds["min"], seeds["max"]
            band = {"color": style["color"], "label": method, "alpha": 0.16, "linewidth": 0}
            panel.fill_between(places, low, high, **band)
        hollow = mean[mean.index.isin(points[points["disconnected"].eq(True)][x])]
        if len(hollow):
            style |= {"linestyle": "none", "markerfacecolor": "white", "markeredgewidth": 1.0}
            style |= {"markeredgecolor": style["color"], "zorder": style["zorder"] + 2}
            panel.plot(hollow.index, hollow, **style, label=f"{method} disconnected")


# ---- notes


def missing_note(frame: pd.DataFrame, names: Iterable[str]) -> str:
    """One sentence with what is missing, by data set and reason; `names` are those of the rows."""
    frame = frame.assign(name=names)
    there = frame[frame["missing"].isna()]
    texts = []
    for (dataset, reason), part in frame.groupby(["dataset", "missing"], sort=False):
        whole = len(part) == sum(frame["dataset"] == dataset)
        shown = {*there.loc[there["dataset"] == dataset, "name"]}
        each = [f"{name}{' (some seeds)' * (name in shown)}" for name in part["name"].unique()]
        which = "all runs" if whole else ", ".join(each)
        texts.append(f"{dataset_label(dataset)}, {which}: {reason}")
    return f"Missing: {'; '.join(texts)}." if texts else ""


def seeds_note(frame: pd.DataFrame, point: list[str], bands: str) -> str:
    """What a curve and its band are, for seeds of the same point."""
    seeds = frame.groupby(point, dropna=False).size()
    if seeds.max() == 1:
        return "One seed: no bands."
    up_to = "up to " if seeds.nunique() > 1 else ""
    return f"Mean of {up_to}{seeds.max()} seeds; bands: {bands}."
