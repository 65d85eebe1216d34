"""The search of each tuned baseline on a data set: every trial, and the best score so far."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from iunet.errors import UserError, one_line
from iunet.figures.inputs import check_requests, finite, missing_reason, refuse
from iunet.figures.style import (
    COLUMN_WIDTH,
    INK,
    PAGE_WIDTH,
    house_style,
    look,
    new_figure,
    say_in_panel,
    write_figure,
)
from iunet.labels import dataset_label, method_label

COLUMNS = ("number", "state", "score", "seconds", "reason", "flags")


def make(ask: dict[str, Any], output: dict[str, str]) -> None:
    write_tuning_history(ask["requests"], output)


def write_tuning_history(requests: list[dict[str, Any]], output: dict[str, str]) -> None:
    """From the `trials.csv` files of one data set to the figure.

    A request has dataset, method, optionally `budget` (trials that were to be made), and either
    `trials`, the path, or `missing`, the reason why there is none.
    """
    rows = tuning_rows(requests)
    write_figure(draw_tuning_history(rows), rows, output)


def tuning_rows(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per trial, in their order; a missing study is a row with the reason."""
    check_requests(requests, ("method",))
    if len({request["dataset"] for request in requests}) > 1:
        raise UserError("The tuning history is of one data set, and was asked for several.")
    rows = []
    for request in requests:
        study = {
            "dataset": request["dataset"],
            "method": request["method"],
            "budget": request.get("budget"),
        }
        if reason := missing_reason(request, "trials"):
            empty = dict.fromkeys([*COLUMNS, "best_so_far"])
            rows.append({**study, **empty, "missing": reason})
            continue
        best = None
        for trial in read_trials(request["trials"]):
            if trial["score"] is not None:
                best = trial["score"] if best is None else max(best, trial["score"])
            rows.append({**study, **trial, "best_so_far": best, "missing": None})
    return rows


def read_trials(path: str | Path) -> list[dict[str, Any]]:
    """The trials of a study by number, their states and scores checked."""
    if not Path(path).exists():
        raise UserError(
            f"{path} does not exist: run the stage of the workflow that makes it first."
        )
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file, strict=True))
    except (OSError, ValueError, csv.Error) as error:
        raise refuse(path, f"cannot be read as CSV ({one_line(error)})") from error
    if not lines:
        raise refuse(path, "has no trials")
    trials: dict[int, dict[str, Any]] = {}
    for line in lines:
        trial = _trial(path, line)
        if trial["number"] in trials:
            raise refuse(path, f"has the trial {trial['number']} twice")
        trials[trial["number"]] = trial
    return [trials[number] for number in sorted(trials)]


def _trial(path: str | Path, line: dict[str, str]) -> dict[str, Any]:
    # A line that is too short or too long has None as a value or a key.
    if lacking := [name for name in COLUMNS if line.get(name) is None]:
        raise refuse(path, f"lacks {', '.join(lacking)} in a line")
    if None in line or not line["number"].isdecimal():
        raise refuse(path, f"has a line that is not a trial, with the number {line['number']!r}")
    name = f"trial {line['number']}"
    if line["state"] not in ("complete", "failed"):
        raise refuse(path, f"has the state {line['state']!r} in {name}")
    complete = line["state"] == "complete"
    return {
        "number": int(line["number"]),
        "state": line["state"],
        "score": _number(path, f"the score of {name}", line["score"]) if complete else None,
        "seconds": _number(path, f"the seconds of {name}", line["seconds"])
        if complete or line["seconds"]
        else None,
        "reason": line["reason"] or None,
        "flags": line["flags"] or None,
    }


def _number(path: str | Path, name: str, text: str) -> float:
    try:
        return finite(path, name, float(text))
    except ValueError:
        raise refuse(path, f"has {text!r} as {name}, which is not a number") from None


# ---- drawing


def draw_tuning_history(rows: list[dict[str, Any]]) -> Figure:
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


def _draw_study(panel: Axes, method: str, rows: list[dict[str, Any]]) -> None:
    panel.set_title(f"{method_label(method)}: {_budget(rows)}")
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


def _budget(rows: list[dict[str, Any]]) -> str:
    """'12 of 40 trials, 2 failed': what was made of what was to be made."""
    budget = rows[0]["budget"]
    if rows[0]["missing"]:
        return "missing" if budget is None else f"0 of {budget} trials"
    failed = sum(row["state"] == "failed" for row in rows)
    text = f"{len(rows)} of {budget} trials" if budget not in (None, len(rows)) else ""
    text = text or f"{len(rows)} trial{'s' * (len(rows) != 1)}"
    return f"{text}, {failed} failed" if failed else text


def _key(rows: list[dict[str, Any]]) -> list[Line2D]:
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
