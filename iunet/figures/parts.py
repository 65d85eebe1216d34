"""What figures share: curves over seeds, panels, names of runs, notes on what is missing."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.lines import Line2D

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.figures.style import FAINT, PAGE_WIDTH, SMALL, house_style, look, new_figure
from iunet.labels import dataset_label, method_order

Rows = list[dict[str, Any]]
MOST_COLUMNS = 3  # of panels, as wide as a page


# ---- panels


def panel_grid(n_panels: int) -> tuple[int, int]:
    """Lines and columns: as many as fit on a page, and no more than leave the last line filled."""
    lines = math.ceil(n_panels / MOST_COLUMNS)
    return lines, math.ceil(n_panels / lines)


def draw_panels(
    body: FigureBase,
    groups: dict[str, pd.DataFrame],
    value: str,
    draw: Callable[[Axes, pd.DataFrame], None],
) -> np.ndarray:
    """A titled panel for each group, line by line, with one y axis; an empty one says why."""
    axes = body.subplots(*panel_grid(len(groups)), sharey=True, squeeze=False)
    for panel in axes.ravel()[len(groups) :]:
        panel.set_axis_off()
    for panel, (title, frame) in zip(axes.ravel(), groups.items(), strict=False):
        panel.set_title(title)
        if frame[value].notna().any():
            draw(panel, frame[frame[value].notna()])
        else:
            say_why_empty(panel, frame)
            panel.tick_params(labelleft=panel in axes[:, 0])  # it names the panels beside it, too
    return axes


def say_why_empty(panel: Axes, rows: pd.DataFrame) -> None:
    """The reasons for which all runs of a panel are missing, in place of their curves."""
    # Ticks are hidden, not removed: other panels may share the axis.
    panel.tick_params(bottom=False, left=False, labelbottom=False, labelleft=False, which="both")
    panel.spines[:].set_visible(False)
    panel.set_facecolor("#f5f5f5")
    text = "; ".join(rows["missing"].dropna().unique()) or "no run was asked for"
    width = 72 * panel.get_window_extent().width / panel.get_figure(root=True).dpi  # points
    wrapped = textwrap.fill(text, max(12, int(width / (0.65 * SMALL))))
    centred = {"transform": panel.transAxes, "ha": "center", "va": "center"}
    panel.text(0.5, 0.5, wrapped, **centred, size=SMALL, color=FAINT)


@house_style
def draw_reason(reason: str, note: str = "") -> Figure:
    """A figure that says why it has nothing to show."""
    figure, body = new_figure(PAGE_WIDTH, 1.0, [note])
    body.text(0.5, 0.5, textwrap.fill(reason, 90), ha="center", va="center", color=FAINT)
    return figure


def draw_curves(
    panel: Axes,
    frame: pd.DataFrame,
    x: str,
    y: str,
    places: Sequence[float],
    whole_range: bool = False,
    **line: Any,
) -> None:
    """A curve for each method: the mean over seeds, in a band of one standard deviation or of all.

    A place without a value is a gap, as matplotlib draws NaN; a lone place has a bar, since a band
    over it would have no width. A white marker says that in some seed a layer lost all its weights
    (the column `disconnected`).
    """
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
            alone = mean.shift().isna() & mean.shift(-1).isna()
            colour = {"color": style["color"], "label": method}
            panel.fill_between(places, low, high, **colour, alpha=0.16, linewidth=0)
            panel.vlines(alone.index[alone], low[alone], high[alone], **colour, linewidth=0.8)
        hollow = mean[mean.index.isin(points[points["disconnected"].eq(True)][x])]
        if len(hollow):
            style |= {"linestyle": "none", "markerfacecolor": "white", "markeredgewidth": 1.0}
            style |= {"markeredgecolor": style["color"], "zorder": style["zorder"] + 2}
            panel.plot(hollow.index, hollow, **style, label=f"{method} disconnected")


def key_line(method: str, label: str, rows: pd.Series, **line: Any) -> Line2D:
    """A method's entry in a key, which says if it has no value among `rows`."""
    label += ": missing" * bool(rows.isna().all())
    return Line2D([], [], **look(method).line_style() | line, label=label)


# ---- names and notes


def runs_note(title: str, frame: pd.DataFrame, reason: str, names: Iterable[str]) -> str:
    """One sentence with every run that has a reason, by data set and reason; empty without one.

    `names` are those of the frame's rows; what has no seed is named alone.
    """
    frame = frame.assign(name=names)
    found = frame[frame[reason].notna() & frame[reason].ne(False)]
    texts = []
    for (dataset, why), part in found.groupby(["dataset", reason], sort=False):
        whole = len(part) == sum(frame["dataset"] == dataset)
        each = [name + _seeds(of_name) for name, of_name in part.groupby("name", sort=False)]
        which = "all runs" if whole else ", ".join(each)
        texts.append(
            f"{dataset_label(dataset)}, {which}" + (f": {why}" if isinstance(why, str) else "")
        )
    return f"{title}: {'; '.join(texts)}." if texts else ""


def _seeds(runs: pd.DataFrame) -> str:
    """' (seeds 0, 1)', if they have any."""
    if "seed" not in runs:
        return ""
    seeds = runs["seed"].drop_duplicates().astype(int).astype(str)
    return f" (seed{'s' * (len(seeds) > 1)} {', '.join(seeds)})"


def missing_note(frame: pd.DataFrame, names: Iterable[str]) -> str:
    """What is missing, and why."""
    return runs_note("Missing", frame, "missing", names)


def seeds_note(frame: pd.DataFrame, point: list[str], bands: str) -> str:
    """What a curve and its band are, for seeds of the same point."""
    seeds = frame.groupby(point, dropna=False).size()
    if seeds.empty:
        return ""
    if seeds.max() == 1:
        return "One seed: no bands."
    up_to = "up to " if seeds.nunique() > 1 else ""
    return f"Mean of {up_to}{seeds.max()} seeds; bands: {bands}."


# ---- artifacts


def read_report(supernet: dict[str, Any]) -> dict[str, Any]:
    """The report beside a supernet's artifacts, once it is found to be that of the run."""
    path = supernet["files"]["report"]
    report = read_json(path)
    run = str(report.get("run", "")).split("/")
    for part in (supernet["dataset"], supernet["supernet"], f"seed{supernet['seed']}"):
        if part not in run:
            raise UserError(
                f"{path} belongs to the run {report.get('run')!r}, not to {part}. Delete it and "
                "run the same command again."
            )
    return report
