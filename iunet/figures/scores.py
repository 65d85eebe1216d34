"""Scores per method with all their seeds: one panel per data set.

For experiments of a user's own. Each dot is a seed, the bar behind it the mean of the method, with
a line of one standard deviation to either side where there are two seeds.
"""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from iunet.baselines.catalog import LEARNERS
from iunet.figures.catalog import figure_request
from iunet.figures.parts import Rows, Run, missing_note, reasons, run_names, runs_note
from iunet.figures.style import (
    FAINT,
    INK,
    PAGE_WIDTH,
    SMALL,
    house_style,
    look,
    new_figure,
    say_in_panel,
)
from iunet.labels import dataset_label, metric_label
from iunet.results.collect import collect
from iunet.results.selection import of_results
from iunet.runs.entries import Benchmark
from iunet.runs.settings import network_kind

PANEL_WIDTH, LINE_HEIGHT = 1.95, 0.165  # inches
MOST_COLUMNS = 3  # as many panels as a page is wide, beside the names


def make(bench: Benchmark, name: str) -> tuple[Figure, Rows]:
    rows = scores(of_results(collect(bench, figure_request(bench, name)).runs))
    return draw(rows), rows


def scores(runs: pd.DataFrame) -> Rows:
    """Test accuracy of images, balanced accuracy of tables; tuned learners have no network."""
    found = []
    for run in runs.to_dict("records"):
        tuned = run["network"] in LEARNERS
        tabular = tuned or network_kind(run["network"]) == "tabular"
        metric = "balanced_accuracy" if tabular else "accuracy"
        missing = run["missing"] or run["failed"]
        found.append(
            {
                "dataset": run["dataset"],
                "network": None if tuned else run["network"],
                "method": run["method"],
                "seed": run["seed"],
                "metric": metric,
                "value": None if missing else run[f"test_{metric}"],
                "disconnected": not missing and bool(run["disconnected"]),
                "missing": missing,
            }
        )
    return found


def draw(rows: Rows) -> Figure:
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    entries = run_names(rows)
    columns = _columns(len(datasets))
    lines = math.ceil(len(datasets) / columns)
    longest = max(len(name) for name in entries.values())
    with house_style():
        width = min(PAGE_WIDTH, 0.3 + longest * 0.6 * SMALL / 72 + PANEL_WIDTH * columns)
        height = lines * (0.62 + LINE_HEIGHT * max(len(entries), 2))
        figure, body = new_figure(width, height, _notes(rows))
        axes = body.subplots(lines, columns, sharey=True, squeeze=False)
        for panel in axes.ravel()[len(datasets) :]:
            panel.set_axis_off()
        one_metric = len({row["metric"] for row in rows}) == 1
        labelled = {}  # the lowest panel of each column, or all if their metrics differ
        for i, (panel, dataset) in enumerate(zip(axes.ravel(), datasets, strict=False)):
            of_panel = [row for row in rows if row["dataset"] == dataset]
            panel.set_title(dataset_label(dataset), weight="bold")
            if not _draw_panel(panel, of_panel, entries):
                # The names are those of the panels beside it, too.
                panel.tick_params(labelleft=i % columns == 0)
                continue
            labelled[i % columns if one_metric else i] = panel, of_panel[0]["metric"]
        for panel, metric in labelled.values():
            panel.set_xlabel(metric_label(metric), size=SMALL)
        axes[0, 0].set_yticks(range(len(entries)), entries.values())
        axes[0, 0].set_ylim(len(entries) - 0.5, -0.5)  # the first method on top
    return figure


def _columns(n_panels: int) -> int:
    """As many as fit on a page, and no more than leave the last line well filled."""
    lines = math.ceil(n_panels / MOST_COLUMNS)
    return math.ceil(n_panels / lines)


def _draw_panel(panel: Axes, rows: Rows, entries: dict[Run, str]) -> bool:
    """Whether there was anything to draw."""
    import seaborn

    scored = [row for row in rows if row["value"] is not None]
    if not scored:
        say_in_panel(panel, reasons(rows))
        return False
    values = [row["value"] for row in scored]
    names = [entries[row["method"], row["network"]] for row in scored]
    shared = {"x": values, "y": names, "order": list(entries.values()), "ax": panel, "orient": "y"}
    seaborn.pointplot(
        **shared,
        errorbar="sd" if len(set(names)) < len(names) else None,
        color=FAINT,
        linestyle="none",
        marker="|",
        markersize=10,
        markeredgewidth=1.4,
        err_kws={"linewidth": 0.8},
        zorder=2,
        legend=False,
    )
    seaborn.stripplot(
        **shared,
        hue=names,
        palette={name: look(method).colour for (method, _), name in entries.items()},
        legend=False,
        jitter=False,  # random; the line of a method has room for nothing else
        size=4,
        alpha=0.75,
        linewidth=0.4,
        edgecolor="white",
        zorder=3,
    )
    absent = {(row["method"], row["network"]) for row in rows} - {
        (row["method"], row["network"]) for row in scored
    }
    for i, entry in enumerate(entries):
        if entry in absent:
            where = {"transform": panel.get_yaxis_transform(), "va": "center"}
            panel.text(0.03, i, "missing", **where, color=FAINT, size=SMALL)
    panel.set(xlabel="", ylabel="")
    panel.tick_params(axis="y", length=0, labelcolor=INK)
    panel.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    panel.margins(x=0.08)
    panel.grid(axis="both")
    return True


def _notes(rows: Rows) -> list[str]:
    frame = pd.DataFrame(rows)
    there = frame[frame["value"].notna()]
    text = "Dot: a seed. Bar: the mean"
    if there.duplicated(["dataset", "network", "method"]).any():
        text += ", with one standard deviation to either side"
    names = run_names(rows)
    called = [names[row["method"], row["network"]] for row in rows]
    cut_off = runs_note("Disconnected", rows, "disconnected", called)
    return [f"{text}."] * bool(len(there)) + cut_off + missing_note(rows)
