"""Figure 2: validation accuracy of `mlp_vis` against the compression ratio.

The upper row varies the initialisation (PIS: κ, trained with `sup`), the lower one the objective
(ILO: `sup`, `scl`, `ilo` at κ = 1); IUNET is in both. Ratio 1 is the supernet itself, that of
`scl` with a decoder trained on its frozen encoder.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from iunet.errors import UserError
from iunet.figures.catalog import figure_request
from iunet.figures.parts import Rows, draw_curve, draw_hollow, reasons, seeds_text
from iunet.figures.style import (
    PAGE_WIDTH,
    house_style,
    look,
    new_figure,
    say_in_panel,
)
from iunet.labels import OBJECTIVE_LABELS, dataset_label, kappa_label, method_label
from iunet.results.collect import collect
from iunet.runs.entries import Benchmark
from iunet.runs.names import SupernetName
from iunet.runs.settings import trains_decoder

if TYPE_CHECKING:
    import pandas as pd

OWN_DECODER, LENT_DECODER = "its own", "trained on the frozen encoder"
SWEEPS = {"pis": "PIS: initialisation", "ilo": "ILO: objective"}


def make(bench: Benchmark, name: str) -> tuple[Figure, Rows]:
    rows = points(collect(bench, figure_request(bench, name)).runs)
    return draw(rows), rows


def points(runs: pd.DataFrame) -> Rows:
    """One row per run and ratio; what is missing has the reason in place of an accuracy."""
    supernets: dict[str, str] = {}
    found = []
    for run in runs.to_dict("records"):
        method, supernet = run["method"], run["supernet"]
        if not sweeps_of(method, run["kappa"], run["objective"]):
            raise UserError(
                f"Figure 2 cannot show the method '{method}' ({supernet}): it shows supernets with "
                "the objective sup, those with κ = 1, and iunet."
            )
        if supernets.setdefault(method, supernet) != supernet:
            raise UserError(
                f"Figure 2 was asked for two supernets of the method '{method}': "
                f"{supernets[method]} and {supernet}."
            )
        missing = run["missing"] or run["failed"]
        decoder = OWN_DECODER if trains_decoder(supernet) else LENT_DECODER
        found.append(
            {key: run[key] for key in ("dataset", "method", "supernet", "kappa", "objective")}
            | {
                "seed": run["seed"],
                "ratio": float(run["ratio"]) if run["cut"] else 1.0,
                "valid_accuracy": None if missing else run["valid_accuracy"],
                "disconnected": None if missing else bool(run["disconnected"]),
                "decoder": None if missing or run["cut"] else decoder,
                "missing": missing,
            }
        )
    return found


def sweeps_of(method: str, kappa: float, objective: str) -> list[str]:
    """The rows of panels that a curve is in."""
    if method == "iunet":
        return list(SWEEPS)
    return [sweep for sweep, of in {"pis": objective == "sup", "ilo": kappa == 1}.items() if of]


# ---- drawing


def draw(rows: Rows) -> Figure:
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    ratios = sorted({row["ratio"] for row in rows if not row["missing"]})
    with house_style():
        width = min(PAGE_WIDTH, 1.3 + 2.4 * len(datasets))
        figure, body = new_figure(width, 4.2, _notes(rows))
        grid = body.add_gridspec(
            2, len(datasets) + 1, width_ratios=[*[1] * len(datasets), 0.95 / (width - 0.95) * 3]
        )
        for j, dataset in enumerate(datasets):
            panel = None
            for i, sweep in enumerate(SWEEPS):
                panel = body.add_subplot(grid[i, j], sharey=panel)
                drawn = _draw_panel(panel, _shown(rows, sweep, dataset), ratios)
                if i == 0:
                    panel.set_title(dataset_label(dataset), weight="bold")
                elif drawn:
                    panel.set_xlabel("Compression ratio")
                if j == 0 and drawn:
                    panel.set_ylabel("Validation accuracy (%)")
        for i, sweep in enumerate(SWEEPS):
            _draw_legend(body.add_subplot(grid[i, -1]), _shown(rows, sweep), sweep)
    return figure


def _shown(rows: Rows, sweep: str, dataset: str | None = None) -> Rows:
    return [
        row
        for row in rows
        if sweep in sweeps_of(row["method"], row["kappa"], row["objective"])
        and dataset in (None, row["dataset"])
    ]


def _curves(rows: Rows) -> list[str]:
    """The methods of a sweep from κ = 1 and `sup` away, IUNET last."""
    objectives = list(OBJECTIVE_LABELS)
    place = {
        row["method"]: (row["method"] == "iunet", -row["kappa"], objectives.index(row["objective"]))
        for row in rows
    }
    return sorted(place, key=lambda method: (place[method], method))


def _draw_panel(panel: Axes, rows: Rows, ratios: list[float]) -> bool:
    """Whether there was anything to draw."""
    found = [row for row in rows if not row["missing"]]
    if not found:
        say_in_panel(panel, reasons(rows))
        return False
    for method in _curves(found):
        _draw_method(panel, method, [row for row in found if row["method"] == method], ratios)
    panel.set_xscale("log", base=2)
    panel.set_xlim(min(ratios) / 1.15, max(ratios) * 1.15)
    panel.xaxis.set_major_locator(FixedLocator(ratios))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}"))
    panel.grid(axis="y")
    return True


def _draw_method(panel: Axes, method: str, rows: Rows, ratios: list[float]) -> None:
    """The mean over seeds, with one standard deviation about it where there are two seeds.

    A ratio that this method lacks and another has is a gap in the curve.
    """
    values: dict[float, list[float]] = defaultdict(list)
    for row in rows:
        values[row["ratio"]].append(row["valid_accuracy"])
    cut_off = {row["ratio"] for row in rows if row["disconnected"]}
    style, front = look(method), 4 if method == "iunet" else 3
    draw_curve(panel, values, ratios, label=method, zorder=front, **style.line_style())
    hollow = {ratio: fmean(values[ratio]) for ratio in sorted(cut_off)}
    draw_hollow(panel, hollow, style, label=f"{method} disconnected", zorder=front + 2)


def _draw_legend(axes: Axes, rows: Rows, sweep: str) -> None:
    axes.set_axis_off()
    handles = []
    for method in _curves(rows):
        of_method = [row for row in rows if row["method"] == method]
        label = curve_label(of_method[0], sweep)
        if all(row["missing"] for row in of_method):
            label += ": missing"
        handles.append(Line2D([], [], **look(method).line_style(), label=label))
    axes.legend(
        handles=handles,
        title=SWEEPS[sweep],
        loc="center left",
        alignment="left",
        borderaxespad=0,
        bbox_to_anchor=(-0.05, 0.5),
        handlelength=2.6,
        labelspacing=0.7,
    )


def curve_label(row: dict, sweep: str) -> str:
    """What the sweep varies, and the method's name where it has one of its own."""
    if row["method"] == "iunet":
        return f"IUNET ({kappa_label(row['kappa'])}, ILO)"
    name = kappa_label(row["kappa"]) if sweep == "pis" else OBJECTIVE_LABELS[row["objective"]]
    init = SupernetName.parse(row["supernet"]).init.removeprefix("-")
    name += f", {init}" if init else ""
    return f"{name} (OMP)" if row["method"] == "omp" else name


# ---- notes


def _notes(rows: Rows) -> list[str]:
    per_point: dict[tuple, int] = defaultdict(int)
    for row in rows:
        if not row["missing"]:
            per_point[row["dataset"], row["method"], row["ratio"]] += 1
    sentences = []
    if max(per_point.values(), default=0) == 1:
        sentences.append("One seed: no bands.")
    elif per_point:
        same = len(set(per_point.values())) == 1
        seeds = f"{'' if same else 'up to '}{max(per_point.values())} seeds"
        sentences.append(f"Mean of {seeds}; bands: ± one standard deviation.")
    if any(row["disconnected"] for row in rows):
        sentences.append("Hollow marker: in some seed a layer lost all its weights.")
    if lent := dict.fromkeys(row["method"] for row in rows if row["decoder"] == LENT_DECODER):
        names = " and ".join(map(method_label, lent))
        sentences.append(
            f"{names} at ratio 1: a decoder trained on the frozen encoder, since its supernet "
            "trains none."
        )
    absent = _missing_text(rows)
    return [" ".join(sentences)] * bool(sentences) + [f"Missing: {absent}."] * bool(absent)


def _missing_text(rows: Rows) -> str:
    """Every missing point with its reason: 'CIFAR10, OMP at 1, 4 (seeds 0, 1): not finished'."""
    groups: dict[tuple[str, str], Rows] = defaultdict(list)
    for row in rows:
        if row["missing"]:
            groups[row["dataset"], row["missing"]].append(row)
    texts = []
    for (dataset, reason), gone in groups.items():
        here = [row for row in rows if row["dataset"] == dataset]
        which = "all runs" if len(gone) == len(here) else ", ".join(_missing_points(gone, here))
        texts.append(f"{dataset_label(dataset)}, {which}: {reason}")
    return "; ".join(texts)


def _missing_points(gone: Rows, here: Rows) -> list[str]:
    """For each method the seeds that lack the same ratios; a seed that lacks all names none."""
    texts = []
    for method in dict.fromkeys(row["method"] for row in gone):
        asked = tuple(sorted({row["ratio"] for row in here if row["method"] == method}))
        of_seed: dict[int, list[float]] = defaultdict(list)
        for row in gone:
            if row["method"] == method:
                of_seed[row["seed"]].append(row["ratio"])
        seeds_of: dict[tuple, list[int]] = defaultdict(list)
        for seed, ratios in of_seed.items():
            seeds_of[tuple(sorted(ratios))].append(seed)
        for ratios, seeds in seeds_of.items():
            at = f" at ratio{'s' * (len(ratios) > 1)} {', '.join(f'{r:g}' for r in ratios)}"
            name = method_label(method) + (at if ratios != asked else "")
            texts.append(f"{name} ({seeds_text(seeds)})")
    return texts
