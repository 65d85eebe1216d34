"""The picture of a study: IUNET against every other method, over data sets and seeds."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from iunet.figures.style import FAINT, INK, PAGE_WIDTH, house_style, new_figure
from iunet.labels import method_label
from iunet.study.frames import SWEPT, by_dataset, differences, main_runs
from iunet.tables.cells import select
from iunet.tables.verdicts import POINT, effect

TITLES = {"tabular": "Tables (test balanced accuracy)", "vision": "Images (test accuracy)"}
BASELINES = ("dense", "omp", "beta_lasso", "scl", "xgb", "tabnet", "mlp_c")
ABLATIONS = ("iunet_no_pis", "iunet_no_ilo", "iunet_no_prune")
GROUPS = ("Baselines", "Ablations", "Controls")


def against_iunet(runs: pd.DataFrame) -> pd.DataFrame:
    """A row for every method and kind of data: IUNET − method, by group and then by the median.

    IUNET itself with one setting changed is no other method (`SWEEPS`).
    """
    found = []
    for kind in TITLES:
        main = main_runs(runs, kind)
        for method in sorted(set(main["method"]) - SWEPT - {"iunet"}):
            each = differences(runs, kind, "iunet", method)
            if whole := effect(each):
                cut_off = {*select(main, method=method, disconnected=True)["dataset"]}
                found.append(
                    {
                        "method": method,
                        "kind": kind,
                        "group": (method not in BASELINES) + (method not in BASELINES + ABLATIONS),
                        "effect": whole,
                        "each": by_dataset(each),
                        "cut_off": len(cut_off & {*whole.datasets}),
                    }
                )
    rows = pd.DataFrame(found)
    first = rows.drop_duplicates("method").set_index("method")["each"]
    rows["rank"] = rows["method"].map(first.map(pd.Series.median))
    return rows.sort_values(["group", "rank", "method", "kind"], ignore_index=True)


@house_style
def draw(runs: pd.DataFrame, path: str | Path) -> None:
    """A panel for each kind of data that has something to show, with one scale for both."""
    rows = against_iunet(runs)
    places = _places(rows)
    kinds = [kind for kind in TITLES if kind in set(rows["kind"])]
    figure, body = new_figure(PAGE_WIDTH, 0.7 + 0.17 * (max(places.values()) + 1))
    axes = body.subplots(1, len(kinds), sharex=True, sharey=True, squeeze=False)[0]
    for axis, kind in zip(axes, kinds, strict=True):
        _panel(axis, rows[rows["kind"] == kind], places, _limits(rows))
        sets = int(rows.loc[rows["kind"] == kind, "each"].map(len).max())
        axis.set_title(f"{TITLES[kind]}\n{sets} data set{'s' * (sets > 1)}")
    names = rows.groupby("method", sort=False).apply(_label, include_groups=False)
    heads = {place - 1: GROUPS[group] for group, place in _first_places(rows, places).items()}
    ticks = {**{places[method]: name for method, name in names.items()}, **heads}
    axes[0].set_yticks(list(ticks), list(ticks.values()))
    for label, place in zip(axes[0].get_yticklabels(), ticks, strict=True):
        label.set_weight("bold" if place in heads else "normal")
    axes[0].tick_params(axis="y", length=0)
    axes[0].set_ylim(max(places.values()) + 0.7, -0.7)
    body.supxlabel("IUNET − method, points (right of 0: IUNET is better)", size=8)
    figure.savefig(path, dpi=150, metadata={"Software": None})


def _places(rows: pd.DataFrame) -> dict[str, int]:
    """The line of every method; each group begins with a line for its name."""
    methods = rows.drop_duplicates("method")
    groups = [*methods["group"].unique()]
    return {
        method: line + groups.index(group) + 1
        for line, (method, group) in enumerate(
            zip(methods["method"], methods["group"], strict=True)
        )
    }


def _first_places(rows: pd.DataFrame, places: dict[str, int]) -> dict[int, int]:
    return rows.assign(place=rows["method"].map(places)).groupby("group")["place"].min().to_dict()


def _panel(
    axis: Axes, rows: pd.DataFrame, places: dict[str, int], limits: tuple[float, float]
) -> None:
    left, right = limits
    axis.axvspan(-POINT, POINT, color="#eeeeee", lw=0)
    axis.axvline(0, color=FAINT, lw=0.8)
    axis.set_xlim(left, right)
    for row in rows.itertuples():
        place = places[row.method]
        axis.plot(row.each, [place] * len(row.each), "o", ms=2.5, color=FAINT, alpha=0.6, mew=0)
        for interval, width in ((row.effect.on_sets, 2.4), (row.effect.beyond, 0.8)):
            if interval:
                low, high = interval
                axis.plot([low, high], [place, place], "-", color=INK, lw=width)
                for end, mark in [(left, "<")] * (low < left) + [(right, ">")] * (high > right):
                    axis.plot(end, place, mark, ms=4, color=INK, clip_on=False)
        axis.plot(row.effect.mean, place, "D", ms=4, color="#0072B2")
        if len(row.each) > 1:  # what methods are ranked by
            axis.plot(row.each.median(), place, "|", ms=9, mew=1.5, color="#D55E00")


def _label(rows: pd.DataFrame) -> str:
    name, cut_off = method_label(rows.name), rows["cut_off"].sum()
    return f"{name} (cut off on {cut_off})" if cut_off else name


def _limits(rows: pd.DataFrame) -> tuple[float, float]:
    """Single data sets and wide intervals may lie far out: the means decide what is shown."""
    means = [found.mean for found in rows["effect"]]
    intervals = [i for found in rows["effect"] for i in (found.on_sets, found.beyond) if i]
    ends = [*means, *(end for interval in intervals for end in interval), -2, 2]
    return max(min(ends), min(means) - 4) - 0.5, min(max(ends), max(means) + 4) + 0.5
