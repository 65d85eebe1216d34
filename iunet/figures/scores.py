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
from iunet.figures.parts import (
    Rows,
    draw_panels,
    missing_note,
    panel_grid,
    runs_note,
)
from iunet.figures.style import FAINT, INK, PAGE_WIDTH, SMALL, house_style, look, new_figure
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


@house_style
def draw(rows: Rows) -> Figure:
    frame = pd.DataFrame(rows)
    frame["name"] = run_names(frame)
    groups = frame.groupby("dataset", sort=False)
    panels = {dataset_label(dataset): of_panel for dataset, of_panel in groups}
    first = frame.drop_duplicates("name")
    order = first["method"].map(method_order(first["method"]).index)
    methods = first.loc[order.sort_values(kind="stable").index].set_index("name")["method"]
    lines, columns = panel_grid(len(panels))
    width = 0.3 + max(map(len, methods.index)) * 0.6 * SMALL / 72 + PANEL_WIDTH * columns
    height = lines * (0.62 + LINE_HEIGHT * max(len(methods), 2))
    figure, body = new_figure(min(PAGE_WIDTH, width), height, _notes(frame))
    one_metric = frame["metric"].nunique() == 1

    def draw_panel(panel: Axes, scored: pd.DataFrame) -> None:
        of_dataset = frame[frame["dataset"] == scored["dataset"].iloc[0]]
        _draw_panel(panel, scored, methods, {*of_dataset["name"]} - {*scored["name"]})
        panel.set_xlabel("" if one_metric else _axis_label(scored), size=SMALL)

    axes = draw_panels(body, panels, "value", draw_panel)
    if one_metric:
        body.supxlabel(_axis_label(frame), size=SMALL)
    axes[0, 0].set_yticks(range(len(methods)), methods.index)
    axes[0, 0].set_ylim(len(methods) - 0.5, -0.5)  # the first method on top
    return figure


def _axis_label(frame: pd.DataFrame) -> str:
    return f"{METRIC_LABELS[frame['metric'].iloc[0]]} (%)"


def _draw_panel(panel: Axes, scored: pd.DataFrame, methods: pd.Series, missing: set[str]) -> None:
    """The scores of a data set; `methods` are those of the figure by the name of their line."""
    lines = scored["name"].map(list(methods.index).index)
    seeds = scored.groupby(lines)["value"].agg(["mean", "std"])
    bar = {"fmt": "|", "color": FAINT, "markersize": 10, "markeredgewidth": 1.4}
    panel.errorbar(seeds["mean"], seeds.index, xerr=seeds["std"], **bar, elinewidth=0.8, zorder=2)
    dot = {"s": 16, "alpha": 0.75, "linewidth": 0.4, "edgecolor": "white", "zorder": 3}
    panel.scatter(scored["value"], lines, c=[look(m).colour for m in scored["method"]], **dot)
    text = {"va": "center", "color": FAINT, "size": SMALL}
    for i, name in enumerate(methods.index):
        if name in missing:
            panel.text(0.03, i, "missing", transform=panel.get_yaxis_transform(), **text)
    panel.tick_params(axis="y", length=0, labelcolor=INK)
    panel.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    panel.margins(x=0.08)
    panel.grid(axis="both")


def _notes(frame: pd.DataFrame) -> list[str]:
    there = frame[frame["value"].notna()]
    text = "Dot: a seed. Bar: the mean"
    if there.duplicated(["dataset", "name"]).any():
        text += ", with one standard deviation to either side"
    cut_off = runs_note("Disconnected", frame, "disconnected", frame["name"])
    return [f"{text}." if len(there) else "", cut_off, missing_note(frame, frame["name"])]
