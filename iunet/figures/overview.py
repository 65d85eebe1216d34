"""The overview: IUNET minus every other method, with intervals, by groups of methods."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from iunet.figures.catalog import figure_request
from iunet.figures.parts import Rows
from iunet.figures.style import FAINT, INK, PAGE_WIDTH, new_figure
from iunet.labels import method_label
from iunet.results.collect import collect
from iunet.results.selection import main_runs
from iunet.runs.entries import Benchmark
from iunet.tables.cells import select
from iunet.tables.differences import compared
from iunet.tables.verdicts import POINT, effect

TITLES = {"tabular": "Tables (test balanced accuracy)", "vision": "Images (test accuracy)"}
GROUPS = {  # of methods, in their order; those that are in none are controls
    "Baselines": ("dense", "omp", "beta_lasso", "scl", "xgb", "tabnet", "mlp_c"),
    "Ablations": ("iunet_no_pis", "iunet_no_ilo", "iunet_no_prune"),
    "Controls": (),
}
# IUNET itself with one setting changed, which is no other method.
SWEEPS = ("iunet_kappa", "iunet_lambda", "iunet_corruption", "iunet_only_", "search_kappa")
ENDS = ["low", "high", "low_beyond", "high_beyond"]
NOTE = (
    "Diamond: mean. Orange: median over data sets, by which methods are ranked. Dot: a data set. "
    "Thick bar: 95 % interval on these data sets. Thin bar: beyond them. Grey: within 1 point."
)


def rows(bench: Benchmark, name: str) -> Rows:
    return differences(collect(bench, figure_request(bench, name)).runs)


def differences(runs: pd.DataFrame) -> Rows:
    """One row per kind of data, method and data set, with the method's mean and its intervals."""
    found = []
    for kind in TITLES:
        main = main_runs(runs, kind)
        for method in sorted({*main["method"]} - {"iunet"}):
            whole = effect(compared(main, "iunet", method, "test_primary").differences)
            if method.startswith(SWEEPS) or not whole:
                continue
            group = next((name for name in GROUPS if method in GROUPS[name]), "Controls")
            cut_off = {*select(main, method=method, disconnected=True)["dataset"]}
            ends = [*(whole.interval or (None, None)), *(whole.interval_beyond or (None, None))]
            head = {"kind": kind, "group": group, "method": method, "mean": whole.mean}
            head |= dict(zip(ENDS, ends, strict=True))
            head["median"] = pd.Series(whole.means).median()
            for dataset, difference in whole.means.items():
                each = {"dataset": dataset, "difference": difference}
                found.append(head | each | {"cut_off": dataset in cut_off, "missing": None})
    return found or [{"missing": "no method other than IUNET has finished"}]


def draw(rows: Rows) -> Figure:
    """A panel for each kind of data, all on the same scale, with a line for each method."""
    frame = pd.DataFrame(rows).astype(dict.fromkeys(ENDS, float))
    lines = _lines(frame)
    kinds = list(frame["kind"].unique())
    figure, body = new_figure(PAGE_WIDTH, 0.7 + 0.17 * (len(lines) + 1), [NOTE])
    axes = body.subplots(1, len(kinds), sharex=True, sharey=True, squeeze=False)[0]
    for panel, kind in zip(axes, kinds, strict=True):
        of_kind = frame[frame["kind"] == kind]
        panel.set_xlim(_limits(frame))
        _draw_panel(panel, of_kind, lines)
        sets = of_kind["dataset"].nunique()
        panel.set_title(f"{TITLES[kind]}\n{sets} data set{'s' * (sets > 1)}")
    cut_off = frame.groupby("method")["cut_off"].sum()
    names = {m: method_label(m) + (f" (cut off on {n})" if n else "") for m, n in cut_off.items()}
    axes[0].set_yticks(range(len(lines)), [names.get(line, line) for line in lines])
    for label, line in zip(axes[0].get_yticklabels(), lines, strict=True):
        label.set_weight("normal" if line in names else "bold")
    axes[0].tick_params(axis="y", length=0)
    axes[0].set_ylim(len(lines) - 0.3, -0.7)
    body.supxlabel("IUNET − method, points (right of 0: IUNET is better)", size=8)
    return figure


def _lines(frame: pd.DataFrame) -> list[str]:
    """The name of each group, then its methods, ranked by the median."""
    ranked = frame.drop_duplicates("method").sort_values(["median", "method"])
    methods = dict(iter(ranked.groupby("group")["method"]))
    return [line for group in GROUPS if group in methods for line in (group, *methods[group])]


def _limits(frame: pd.DataFrame) -> tuple[float, float]:
    """Single data sets and wide intervals may lie far out: the means decide what is shown."""
    ends, means = frame[["mean", *ENDS]], frame["mean"]
    low, high = min(ends.min().min(), -2), max(ends.max().max(), 2)
    return max(low, means.min() - 4) - 0.5, min(high, means.max() + 4) + 0.5


def _draw_panel(panel: Axes, frame: pd.DataFrame, lines: list[str]) -> None:
    left, right = panel.get_xlim()
    panel.axvspan(-POINT, POINT, color="#eeeeee", lw=0)
    panel.axvline(0, color=FAINT, lw=0.8)
    for method, sets in frame.groupby("method"):
        line, found = lines.index(method), sets.iloc[0]
        dots = {"ms": 2.5, "color": FAINT, "alpha": 0.6, "mew": 0}
        panel.plot(sets["difference"], [line] * len(sets), "o", **dots)
        for low, high, width in (("low", "high", 2.4), ("low_beyond", "high_beyond", 0.8)):
            panel.plot(found[[low, high]], [line, line], "-", color=INK, lw=width)
            arrow = {"ms": 4, "color": INK, "clip_on": False}  # where it leaves the panel
            if found[low] < left:
                panel.plot(left, line, "<", **arrow)
            if found[high] > right:
                panel.plot(right, line, ">", **arrow)
        panel.plot(found["mean"], line, "D", ms=4, color="#0072B2")
        if len(sets) > 1:
            panel.plot(found["median"], line, "|", ms=9, mew=1.5, color="#D55E00")
