"""The picture of a study: every method beside IUNET, over data sets and seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from iunet.figures.style import FAINT, INK, PAGE_WIDTH, house_style, new_figure
from iunet.labels import method_label, method_order
from iunet.study.frames import SWEPT, by_dataset, differences, main_runs
from iunet.tables.cells import select
from iunet.tables.verdicts import POINT, Effect, effect

LABELS = {
    "tabular": "tables: test balanced accuracy",
    "vision": "images: test accuracy",
}


def beside_iunet(runs: pd.DataFrame, kind: str) -> list[dict[str, Any]]:
    """Of every method that has a data set in common with IUNET: method − IUNET, largest first.

    IUNET itself with one setting changed is no other method (`SWEEPS`).
    """
    main, found = main_runs(runs, kind), []
    for method in method_order(set(main["method"]) - SWEPT - {"iunet"}):
        each = differences(runs, kind, method, "iunet")
        if whole := effect(each):
            cut_off = {*select(main, method=method, disconnected=True)["dataset"]}
            entry = {"method": method, "effect": whole, "each": by_dataset(each)}
            found.append(entry | {"cut_off": len(cut_off & {*whole.datasets})})
    return sorted(found, key=lambda entry: -entry["effect"].mean)


@house_style
def draw(runs: pd.DataFrame, path: str | Path) -> None:
    """A panel for each kind of data that has something to show."""
    panels = {kind: found for kind in LABELS if (found := beside_iunet(runs, kind))}
    figure, body = new_figure(PAGE_WIDTH, 0.6 + 0.19 * max(map(len, panels.values())))
    axes = body.subplots(1, len(panels), squeeze=False)[0]
    for axis, (kind, found) in zip(axes, panels.items(), strict=True):
        _panel(axis, found, kind)
    figure.savefig(path, dpi=150, metadata={"Software": None})


def _panel(axis: Axes, found: list[dict[str, Any]], kind: str) -> None:
    axis.axvspan(-POINT, POINT, color="#eeeeee", lw=0)
    axis.axvline(0, color=FAINT, lw=0.8)
    left, right = _limits([entry["effect"] for entry in found])
    for place, entry in enumerate(found):
        effect, each = entry["effect"], entry["each"]
        axis.plot(each, [place] * len(each), "o", ms=2.5, color=FAINT, alpha=0.6, mew=0)
        for interval, width in ((effect.on_sets, 2.4), (effect.beyond, 0.8)):
            if interval:
                low, high = interval
                axis.plot([low, high], [place, place], "-", color=INK, lw=width)
                out = [(left, "<")] * (low < left) + [(right, ">")] * (high > right)
                for end, mark in out:
                    axis.plot(end, place, mark, ms=4, color=INK, clip_on=False)
        axis.plot(effect.mean, place, "D", ms=4, color="#0072B2")
    sets = max(len(entry["each"]) for entry in found)
    axis.set_yticks(range(len(found)), [_label(entry, sets) for entry in found])
    axis.invert_yaxis()
    axis.set_xlim(left, right)
    noun = "data set" if sets == 1 else "data sets"
    axis.set_xlabel(f"method − IUNET, points\n{LABELS[kind]}\n({sets} {noun})")


def _label(entry: dict[str, Any], sets: int) -> str:
    """With the number of its data sets, where others have more, and on how many it is cut off."""
    own = len(entry["each"])
    facts = [f"{own} of {sets} sets"] * (own < sets)
    facts += [f"cut off on {entry['cut_off']}"] * bool(entry["cut_off"])
    return method_label(entry["method"]) + (f" ({', '.join(facts)})" if facts else "")


def _limits(effects: list[Effect]) -> tuple[float, float]:
    """Single data sets and wide intervals may lie far out: the means decide what is shown."""
    means = [effect.mean for effect in effects]
    intervals = [i for effect in effects for i in (effect.on_sets, effect.beyond) if i]
    ends = [end for interval in intervals for end in interval]
    low, high = min([*ends, *means, -2]), max([*ends, *means, 2])
    return max(low, min(means) - 8) - 0.5, min(high, max(means) + 8) + 0.5
