"""Layer densities: how many weights of each layer a mask keeps, beside what the initial weights
alone would keep.

One panel per data set and network. A global threshold may empty a layer, which cuts the network
off: on the logarithmic axis 0 lies at the bottom, with a hollow marker.
"""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from iunet.figures.catalog import figure_request
from iunet.figures.parts import Rows, draw_curve, draw_hollow, missing_note, reasons
from iunet.figures.style import (
    FAINT,
    PAGE_WIDTH,
    house_style,
    look,
    new_figure,
    say_in_panel,
)
from iunet.labels import dataset_label, method_label, method_order, network_label
from iunet.networks.expected import Layer, expected_densities, init_of
from iunet.results.collect import Results, collect
from iunet.results.selection import of_results, with_masks
from iunet.runs.entries import Benchmark
from iunet.runs.names import CutName, SupernetName, base_network

MOST_COLUMNS = 3
EXPECTED = {"linestyle": (0, (4, 2)), "linewidth": 1.0}


def make(bench: Benchmark, name: str) -> tuple[Figure, Rows]:
    rows = densities(collect(bench, figure_request(bench, name)), bench.config["init"])
    return draw(rows), rows


def densities(results: Results, default_init: str) -> Rows:
    """A row for each layer of the masks, all at the ratio that was chosen for IUNET."""
    masks = with_masks(of_results(results.runs, choice_of="iunet"))
    found = []
    for run in masks.to_dict("records"):
        head = {key: run[key] for key in ("dataset", "network", "method", "seed")}
        missing = run["missing"] or run["failed"]
        if missing:
            gone = dict.fromkeys(("ratio", "layer", "weight", "density", "expected"))
            found.append(head | gone | {"missing": missing})
            continue
        expected = initial_densities(run, run["layer_shape"], default_init)
        ratio = None if math.isnan(run["ratio"]) else run["ratio"]  # β-LASSO has none
        lists = zip(run["layer_weight"], run["layer_density"], expected, strict=True)
        for number, (weight, density, initial) in enumerate(lists, start=1):
            of_layer = {"layer": number, "weight": weight, "density": density}
            found.append(
                head | {"ratio": ratio} | of_layer | {"expected": initial, "missing": None}
            )
    return found


def initial_densities(run: dict[str, Any], shapes: list[str], default: str) -> list[float | None]:
    """The densities that the initial weights alone would give, of masks by a global ratio."""
    cut = CutName.parse(run["cut"])
    if cut.ratio is None or cut.folder != str(CutName(cut.ratio)):
        return [None] * len(shapes)  # of what survived, or of another score than the magnitude
    own = SupernetName.parse(run["supernet"]).init.removeprefix("-")
    layers = [Layer(tuple(map(int, shape.split("x")))) for shape in shapes]
    return expected_densities(
        layers, init_of(base_network(run["network"]), own or default), run["ratio"]
    )


def draw(rows: Rows) -> Figure:
    panels: dict[tuple[str, str], Rows] = defaultdict(list)
    for row in rows:
        panels[row["dataset"], row["network"]].append(row)
    lines = math.ceil(len(panels) / MOST_COLUMNS)
    columns = math.ceil(len(panels) / lines)
    floor = _floor(rows)
    with house_style():
        width = min(PAGE_WIDTH, 1.6 + 2.1 * columns)
        figure, body = new_figure(width, 0.5 + 1.95 * lines, _notes(rows))
        axes = body.subplots(lines, columns, sharey=True, squeeze=False)
        for panel in axes.ravel()[len(panels) :]:
            panel.set_axis_off()
        lowest = {}  # panel of each column that has something in it
        for i, (panel, name) in enumerate(zip(axes.ravel(), panels, strict=False)):
            panel.set_title(_title(*name, panels[name]))
            if _draw_panel(panel, panels[name], floor):
                lowest[i % columns] = panel
            else:
                # The numbers are those of the panels beside it, too.
                panel.tick_params(labelleft=i % columns == 0)
            if i % columns == 0:
                panel.set_ylabel("Part of the weights kept")
        for panel in lowest.values():
            panel.set_xlabel("Layer")
        _set_scale(axes[0, 0], floor)
        body.legend(
            handles=_key(rows),
            loc="outside lower center",
            ncols=min(4, 2 + columns),
            handlelength=2.6,
        )
    return figure


def _floor(rows: Rows) -> float:
    """Where 0 is drawn: at a power of ten, at least half a decade below all other densities."""
    shown = [row[key] for row in rows for key in ("density", "expected") if row[key]]
    return 10.0 ** math.floor(math.log10(min(shown, default=0.1)) - 0.5)


def _set_scale(panel: Axes, floor: float) -> None:
    panel.set_yscale("log")
    panel.set_ylim(floor / 1.4, 1.4)
    powers = [10.0**i for i in range(round(math.log10(floor)) + 1, 1)]
    panel.yaxis.set_major_locator(FixedLocator([floor, *powers]))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(lambda y, _: "0" if y < floor * 1.1 else f"{y:g}")


def _title(dataset: str, network: str, rows: Rows) -> str:
    """The panel's name, and below it the ratio; the notes have that of each method."""
    ratios = sorted(set(_ratios(rows).values()))
    text = f"{dataset_label(dataset)}, {network_label(network)}"
    if not ratios:
        return text
    if len(ratios) == 1:
        return f"{text}\nratio {ratios[0]:g}"
    return f"{text}\nratios {ratios[0]:g} to {ratios[-1]:g}"


def _ratios(rows: Rows) -> dict[str, float]:
    """Of the methods of a panel that have one."""
    return {row["method"]: row["ratio"] for row in rows if row["ratio"] is not None}


def _draw_panel(panel: Axes, rows: Rows, floor: float) -> bool:
    """Whether there was anything to draw."""
    found = [row for row in rows if row["density"] is not None]
    if not found:
        say_in_panel(panel, reasons(rows))
        return False
    layers = sorted({row["layer"] for row in found})
    expected: dict[tuple, list[str]] = defaultdict(list)
    for method in method_order(row["method"] for row in found):
        of_method = [row for row in found if row["method"] == method]
        style, front = look(method), 4 if method == "iunet" else 3
        densities = _by_layer(of_method, "density")
        solid = style.line_style() | {"linestyle": "-", "linewidth": 1.1}
        _draw_densities(panel, densities, layers, floor, label=method, zorder=front, **solid)
        empty = {at: max(fmean(seeds), floor) for at, seeds in densities.items() if 0 in seeds}
        draw_hollow(panel, empty, style, label=f"{method} cut off", zorder=front + 2)
        initial = _by_layer(of_method, "expected").values()
        if initial:
            expected[tuple(max(fmean(of_seeds), floor) for of_seeds in initial)].append(method)
    for heights, methods in expected.items():
        # Methods that start from the same weights have the same line: it is none of theirs then.
        colour = look(methods[0]).colour if len(methods) == 1 else FAINT
        panel.plot(
            layers,
            heights,
            color=colour,
            **EXPECTED,
            zorder=2,
            label=f"{' '.join(methods)} expected",
        )
    panel.xaxis.set_major_locator(MaxNLocator(9, steps=[1, 2, 5, 10], integer=True))
    panel.grid(axis="y")
    panel.axhspan(floor / 1.4, floor * 1.4, color="#f5f5f5", zorder=0)  # 0 is not on the scale
    return True


def _draw_densities(
    panel: Axes, densities: dict[int, list[float]], layers: list[int], floor: float, **line: Any
) -> None:
    """The mean over seeds, and the range of the seeds as a band, nothing below the floor.

    Not the standard deviation: seeds may differ by orders of magnitude, and the mean less it may
    be negative, which a logarithmic axis cannot show.
    """
    # What has one seed is not averaged.
    shown = {at: d if len(d) > 1 else [max(d[0], floor)] for at, d in densities.items()}
    draw_curve(
        panel,
        shown,
        layers,
        estimator=lambda seeds: max(seeds.mean(), floor),
        errorbar=lambda seeds: (max(seeds.min(), floor), max(seeds.max(), floor)),
        **line,
    )


def _by_layer(rows: Rows, key: str) -> dict[int, list[float]]:
    values: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        if row[key] is not None:
            values[row["layer"]].append(row[key])
    return values


def _key(rows: Rows) -> list[Line2D]:
    handles = []
    for method in method_order(row["method"] for row in rows):
        gone = all(row["density"] is None for row in rows if row["method"] == method)
        label = method_label(method) + ": missing" * gone
        style = look(method).line_style() | {"linestyle": "-", "linewidth": 1.1}
        handles.append(Line2D([], [], **style, label=label))
    if any(row["expected"] is not None for row in rows):
        handles.append(Line2D([], [], color=FAINT, **EXPECTED, label="from initial weights"))
    return handles


def _notes(rows: Rows) -> list[str]:
    seeds: dict[tuple, int] = defaultdict(int)
    for row in rows:
        if row["density"] is not None:
            seeds[row["dataset"], row["network"], row["method"], row["layer"]] += 1
    sentences = []
    if max(seeds.values(), default=0) == 1:
        sentences.append("One seed: no bands.")
    elif seeds:
        sentences.append("Mean over seeds; bands: from the lowest to the highest seed.")
    if any(row["expected"] is not None for row in rows):
        sentences.append(
            "Dashed: densities of the mask of the initial weights, grey where methods share it."
        )
    if any(row["density"] == 0 for row in rows):
        sentences.append("Hollow marker: in some seed the layer lost all its weights (cut off).")
    notes = [" ".join(sentences)] * bool(sentences)
    return notes + _ratio_note(rows) + missing_note(rows)


def _ratio_note(rows: Rows) -> list[str]:
    """The ratios of each method, where those of a panel differ."""
    texts = []
    for dataset, network in dict.fromkeys((row["dataset"], row["network"]) for row in rows):
        panel = [row for row in rows if (row["dataset"], row["network"]) == (dataset, network)]
        ratios = _ratios(panel)
        if len(set(ratios.values())) > 1:
            each = [f"{method_label(method)} {ratios[method]:g}" for method in method_order(ratios)]
            name = f"{dataset_label(dataset)}, {network_label(network)}"
            texts.append(f"{name}: {', '.join(each)}")
    return [f"Ratios of {'; '.join(texts)}."] * bool(texts)
