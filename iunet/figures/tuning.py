"""The search of each tuned baseline on a data set: every trial, and the best score so far."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from iunet.figures.catalog import TUNING, tuned_studies
from iunet.figures.parts import Rows
from iunet.figures.style import (
    COLUMN_WIDTH,
    INK,
    PAGE_WIDTH,
    house_style,
    look,
    new_figure,
    say_in_panel,
)
from iunet.labels import dataset_label, method_label
from iunet.results.trials import COLUMNS, read_trials
from iunet.runs.entries import Benchmark


def make(bench: Benchmark, name: str) -> tuple[Figure, Rows]:
    rows = trials(name.removeprefix(TUNING), tuned_studies(bench, name))
    return draw(rows), rows


def trials(dataset: str, studies: list[tuple[str, str, str | None]]) -> Rows:
    """One row per trial, in their order; a missing study is a row with the reason.

    A study is its method, the path of its trials, and the reason why there are none.
    """
    found = []
    for method, path, missing in studies:
        study = {"dataset": dataset, "method": method}
        if missing:
            empty = dict.fromkeys([*COLUMNS, "best_so_far"])
            found.append({**study, **empty, "missing": missing})
            continue
        best = None
        for trial in read_trials(path):
            if trial["score"] is not None:
                best = trial["score"] if best is None else max(best, trial["score"])
            found.append({**study, **trial, "best_so_far": best, "missing": None})
    return found


# ---- drawing


def draw(rows: Rows) -> Figure:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    with house_style():
        notes = [
            f"Missing: {method_label(row['method'])} ({row['missing']})."
            for row in rows
            if row["missing"]
        ]
        narrow = len(methods) == 1
        width = COLUMN_WIDTH if narrow else min(PAGE_WIDTH, 0.5 + 2.3 * len(methods))
        figure, body = new_figure(width, 2.7 if narrow else 2.5, notes)
        axes = body.subplots(1, len(methods), sharey=True, squeeze=False)[0]
        for panel, method in zip(axes, methods, strict=True):
            _draw_study(panel, method, [row for row in rows if row["method"] == method])
        axes[0].set_ylabel("Validation balanced\naccuracy (%)")
        body.suptitle(dataset_label(rows[0]["dataset"]), weight="bold")
        columns = 2 if narrow else 4
        body.legend(handles=_key(rows), loc="outside lower center", ncols=columns, handlelength=1.6)
    return figure


def _draw_study(panel: Axes, method: str, rows: Rows) -> None:
    panel.set_title(f"{method_label(method)}: {_count(rows)}")
    if rows[0]["missing"]:
        say_in_panel(panel, rows[0]["missing"])
        return
    colour = look(method).colour
    scored = [row for row in rows if row["score"] is not None]
    for flagged, face in ((False, colour), (True, "white")):
        dots = [row for row in scored if bool(row["flags"]) == flagged]
        if dots:
            panel.scatter(
                [row["number"] for row in dots],
                [row["score"] for row in dots],
                s=11,
                facecolor=face,
                edgecolor=colour,
                linewidth=0.7,
                alpha=1 if flagged else 0.8,
                zorder=3,
                label="flagged" if flagged else "trial",
            )
    failed = [row["number"] for row in rows if row["state"] == "failed"]
    if failed:
        panel.scatter(
            failed,
            [0.03] * len(failed),
            transform=panel.get_xaxis_transform(),
            marker="x",
            s=14,
            linewidth=0.9,
            color=INK,
            clip_on=False,
            zorder=4,
            label="failed",
        )
    if scored:
        best = [row for row in rows if row["best_so_far"] is not None]
        panel.step(
            [row["number"] for row in best],
            [row["best_so_far"] for row in best],
            where="post",
            color=INK,
            linewidth=1.1,
            zorder=2,
            label="best so far",
        )
    else:
        panel.text(0.5, 0.5, "every trial failed", transform=panel.transAxes, ha="center")
    panel.set_xlabel("Trial")
    panel.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=True))
    panel.margins(x=0.04, y=0.12)
    panel.grid(axis="y")


def _count(rows: Rows) -> str:
    """'12 trials, 2 failed'"""
    if rows[0]["missing"]:
        return "missing"
    failed = sum(row["state"] == "failed" for row in rows)
    text = f"{len(rows)} trial{'s' * (len(rows) != 1)}"
    return f"{text}, {failed} failed" if failed else text


def _key(rows: Rows) -> list[Line2D]:
    dot = {"linestyle": "none", "marker": "o", "markersize": 4, "color": INK}
    handles = [
        Line2D([], [], **dot, label="Trial"),
        Line2D([], [], color=INK, linewidth=1.1, label="Best so far"),
    ]
    if any(row["flags"] for row in rows):
        handles.append(
            Line2D(
                [], [], **dot | {"markerfacecolor": "white"}, label="Flagged (reason in the CSV)"
            )
        )
    if any(row["state"] == "failed" for row in rows):
        handles.append(Line2D([], [], **dot | {"marker": "x"}, label="Failed, no score"))
    return handles
