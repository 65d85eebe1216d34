"""The picture of a study: every method beside IUNET, over data sets and seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iunet.figures.style import FAINT, INK, PAGE_WIDTH, SETTINGS
from iunet.labels import method_label, method_order
from iunet.study.answers import SMALLEST, compare, each_difference

Row = dict[str, Any]
LABELS = {"tabular": "tables: test balanced accuracy", "vision": "images: test accuracy"}


def differences(rows: list[Row], kind: str) -> list[dict[str, Any]]:
    """Of every method that has a data set in common with IUNET: method − IUNET, largest first."""
    found = []
    for method in method_order({row["method"] for row in rows}):
        if method == "iunet" or (difference := compare(rows, kind, method, "iunet")) is None:
            continue
        each = each_difference(rows, kind, method, "iunet")
        found.append({"method": method, "effect": difference, "each": each})
    return sorted(found, key=lambda entry: -entry["effect"].mean)


def draw(rows: list[Row], path: str | Path) -> None:
    """A panel for each kind of data that has something to show."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = {kind: found for kind in LABELS if (found := differences(rows, kind))}
    lines = max(map(len, panels.values()))
    with matplotlib.rc_context(SETTINGS):
        figure = Figure((PAGE_WIDTH, 0.6 + 0.19 * lines), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axis, (kind, found) in zip(axes, panels.items(), strict=True):
            _panel(axis, found, kind)
        figure.savefig(path, dpi=150, metadata={"Software": None})


def _panel(axis: Any, found: list[dict[str, Any]], kind: str) -> None:
    axis.axvspan(-SMALLEST, SMALLEST, color="#eeeeee", lw=0)
    axis.axvline(0, color=FAINT, lw=0.8)
    for place, entry in enumerate(found):
        effect = entry["effect"]
        axis.plot(
            list(entry["each"].values()),
            [place] * len(entry["each"]),
            "o",
            ms=2.5,
            color=FAINT,
            alpha=0.6,
            mew=0,
        )
        if effect.low is not None:
            axis.plot([effect.low, effect.high], [place, place], "-", color=INK, lw=1.2)
        axis.plot(effect.mean, place, "D", ms=4, color="#0072B2")
    sets = max(len(entry["each"]) for entry in found)
    axis.set_yticks(range(len(found)), [method_label(entry["method"]) for entry in found])
    axis.invert_yaxis()
    # Single data sets may lie far out: the intervals decide what is shown.
    ends = [
        e for entry in found for e in (entry["effect"].low, entry["effect"].high) if e is not None
    ]
    means = [entry["effect"].mean for entry in found]
    low, high = min([*ends, *means, -2]), max([*ends, *means, 2])
    axis.set_xlim(max(low, min(means) - 8) - 0.5, min(high, max(means) + 8) + 0.5)
    noun = "data set" if sets == 1 else "data sets"
    axis.set_xlabel(f"method − IUNET, points\n{LABELS[kind]} ({sets} {noun})")
