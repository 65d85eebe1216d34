"""The search of each tuned baseline on a data set: every trial, and the best score so far."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from iunet.figures.catalog import TUNING, tuned_studies
from iunet.figures.parts import Rows, missing_note
from iunet.figures.style import INK, PAGE_WIDTH, look, new_figure
from iunet.labels import dataset_label, method_label
from iunet.results.reports import TRIAL, read_trials
from iunet.runs.entries import Benchmark


def rows(bench: Benchmark, name: str) -> Rows:
    return trials(name.removeprefix(TUNING), tuned_studies(bench, name))


def trials(dataset: str, studies: list[tuple[str, str, str | None]]) -> Rows:
    """One row per trial, in their order; a missing study is a row with the reason.

    A study is its method, the path of its trials, and the reason why there are none.
    """
    found = []
    for method, path, missing in studies:
        best = None
        for trial in [dict.fromkeys(TRIAL)] if missing else read_trials(path):
            best = max((s for s in (best, trial["score"]) if s is not None), default=None)
            row = {"dataset": dataset, "method": method, **trial}
            found.append(row | {"best_so_far": best, "missing": missing})
    return found


def draw(rows: Rows) -> Figure:
    frame = pd.DataFrame(rows)
    there = frame[frame["missing"].isna()]
    studies = dict(iter(there.groupby("method", sort=False)))
    note = missing_note(frame, frame["method"].map(method_label))
    figure, body = new_figure(min(PAGE_WIDTH, 1.1 + 2.3 * len(studies)), 2.6, [note])
    axes = body.subplots(1, len(studies), sharey=True, squeeze=False)[0]
    for panel, (method, study) in zip(axes, studies.items(), strict=True):
        _draw_study(panel, study, look(method).colour)
    axes[0].set_ylabel("Validation balanced\naccuracy (%)")
    body.suptitle(dataset_label(frame["dataset"][0]), weight="bold")
    found = {h.get_label(): h for panel in axes for h in panel.get_legend_handles_labels()[0]}
    key = {"loc": "outside lower center", "ncols": 2 * len(studies), "handlelength": 1.6}
    body.legend(handles=[*found.values()], **key)
    return figure


def _draw_study(panel: Axes, study: pd.DataFrame, colour: str) -> None:
    failed, scored = study[study["state"] == "failed"], study[study["score"].notna()]
    plain, flagged = scored[scored["flags"].isna()], scored[scored["flags"].notna()]
    dots = {"s": 11, "edgecolor": colour, "linewidth": 0.7, "zorder": 3}
    if len(plain):
        panel.scatter("number", "score", data=plain, **dots, color=colour, alpha=0.8, label="trial")
    if len(flagged):
        label = "flagged (reason in the CSV)"
        panel.scatter("number", "score", data=flagged, **dots, facecolor="white", label=label)
    if len(failed):
        cross = {"marker": "x", "s": 14, "linewidth": 0.9, "color": INK, "zorder": 4}
        at_bottom = {"transform": panel.get_xaxis_transform(), "clip_on": False}
        panel.scatter(failed["number"], [0.03] * len(failed), **cross, **at_bottom, label="failed")
    if len(scored):
        best = study[study["best_so_far"].notna()]
        line = {"color": INK, "linewidth": 1.1, "where": "post", "zorder": 2}
        panel.step(best["number"], best["best_so_far"], **line, label="best so far")
    else:
        panel.text(0.5, 0.5, "every trial failed", transform=panel.transAxes, ha="center")
    failures = f", {len(failed)} failed" if len(failed) else ""
    name, trials = method_label(study["method"].iloc[0]), "trials" if len(study) > 1 else "trial"
    panel.set_title(f"{name}: {len(study)} {trials}{failures}")
    panel.set_xlabel("Trial")
    panel.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=True))
    panel.margins(x=0.04, y=0.12)
    panel.grid(axis="y")
