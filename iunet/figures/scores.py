"""Scores per method with all their seeds: one panel per data set.

For experiments of a user's own. Each dot is a seed, the bar behind it the mean of the method, with
a line of one standard deviation to either side where there are two seeds.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from iunet.figures.catalog import figure_request
from iunet.figures.parts import Rows, draw_panels, missing_note, panel_grid
from iunet.figures.style import FAINT, INK, PAGE_WIDTH, SMALL, look, new_figure
from iunet.labels import METRIC_LABELS, dataset_label, method_order, run_names
from iunet.results.collect import collect, is_tabular
from iunet.results.selection import of_results
from iunet.runs.entries import Benchmark

PANEL_WIDTH, LINE_HEIGHT = 1.95, 0.165  # inches


def rows(bench: Benchmark, name: str) -> Rows:
    return scores(of_results(collect(bench, figure_request(bench, name)).runs))


def scores(runs: pd.DataFrame) -> Rows:
    """Test accuracy of images, balanced accuracy of tables; tuned learners have no network."""
    found = []
    for run in runs.to_dict("records"):
        missing = run["missing"] or run["failed"]
        found.append(
            {
                "dataset": run["dataset"],
                "network": None if run["stage"] == "tuned" else run["network"],
                "method": run["method"],
                "seed": run["seed"],
                "metric": "balanced_accuracy" if is_tabular(run["network"]) else "accuracy",
                "value": None if missing else run["test_primary"],
                "disconnected": not missing and bool(run["disconnected"]),
                "missing": missing,
            }
        )
    return found


def draw(rows: Rows) -> Figure:
    frame = pd.DataFrame(rows)
    frame["name"] = run_names(frame)
    there = frame[frame["missing"].isna()]
    groups = there.groupby("dataset", sort=False)
    panels = {dataset_label(dataset): of_panel for dataset, of_panel in groups}
    of_methods = there.groupby("method")["name"].unique()
    names = [name for method in method_order(of_methods.index) for name in of_methods[method]]
    lines, columns = panel_grid(len(panels))
    width = 0.3 + max(map(len, names)) * 0.6 * SMALL / 72 + PANEL_WIDTH * columns
    height = lines * (0.62 + LINE_HEIGHT * max(len(names), 2))
    figure, body = new_figure(min(PAGE_WIDTH, width), height, _notes(frame, there))
    axes = draw_panels(body, panels, lambda panel, scored: _draw_panel(panel, scored, names))
    if there["metric"].nunique() == 1:
        body.supxlabel(_axis_label(there), size=SMALL)
    else:
        for panel, of_panel in zip(axes.flat, panels.values(), strict=False):
            panel.set_xlabel(_axis_label(of_panel), size=SMALL)
    axes[0, 0].set_yticks(range(len(names)), names)
    axes[0, 0].set_ylim(len(names) - 0.5, -0.5)  # the first method on top
    return figure


def _axis_label(scored: pd.DataFrame) -> str:
    return f"{METRIC_LABELS[scored['metric'].iloc[0]]} (%)"


def _draw_panel(panel: Axes, scored: pd.DataFrame, names: list[str]) -> None:
    """The scores of a data set; `names` are those of the figure's lines."""
    lines = scored["name"].map(names.index)
    seeds = scored.groupby(lines)["value"].agg(["mean", "std"])
    bar = {"fmt": "|", "color": FAINT, "markersize": 10, "markeredgewidth": 1.4}
    panel.errorbar(seeds["mean"], seeds.index, xerr=seeds["std"], **bar, elinewidth=0.8, zorder=2)
    colours = scored["method"].map(lambda method: look(method).colour)
    inside = colours.mask(scored["disconnected"].eq(True), "white")
    dot = {"s": 16, "alpha": 0.75, "linewidth": 0.8, "zorder": 3}
    panel.scatter(scored["value"], lines, c=inside, edgecolor=colours, **dot)
    panel.tick_params(axis="y", length=0, labelcolor=INK)
    panel.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    panel.margins(x=0.08)
    panel.grid(axis="both")


def _notes(frame: pd.DataFrame, there: pd.DataFrame) -> list[str]:
    text = "Dot: a seed. Bar: the mean"
    if there.duplicated(["dataset", "name"]).any():
        text += ", with one standard deviation to either side"
    hollow = " Hollow dot: a layer lost all its weights." * bool(there["disconnected"].any())
    return [f"{text}.{hollow}", missing_note(frame, frame["name"])]
