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

from iunet.errors import UserError
from iunet.figures.curves import draw_curve, draw_hollow
from iunet.figures.inputs import check_requests, finite
from iunet.figures.missing import missing_note
from iunet.figures.style import (
    FAINT,
    PAGE_WIDTH,
    house_style,
    look,
    new_figure,
    say_in_panel,
    write_figure,
)
from iunet.labels import dataset_label, method_label, method_order, network_label
from iunet.tables.masks import initial_densities, read_mask_reports

SOURCE = "The list of layer densities"
MOST_COLUMNS = 3
EXPECTED = {"linestyle": (0, (4, 2)), "linewidth": 1.0}


def make(ask: dict[str, Any], output: dict[str, str]) -> None:
    write_densities(density_rows(ask["requests"]), output)


def density_rows(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each layer of the mask that a request comes to (iunet/tables/masks.py)."""
    rows = []
    for mask in read_mask_reports(requests):
        head = {key: mask[key] for key in ("dataset", "network", "method", "seed")}
        missing = mask["missing"] or mask["failed"]
        if missing:
            gone = {"layer": None, "weight": None, "density": None, "expected": None}
            rows.append(head | {"ratio": None} | gone | {"missing": missing})
            continue
        layers = mask["report"]["layers"]
        expected = initial_densities(mask) or [None] * len(layers)
        for number, (layer, initial) in enumerate(zip(layers, expected, strict=True), start=1):
            rows.append(
                head
                | {"ratio": mask["report"]["ratio"], "layer": number, "weight": layer["weight"]}
                | {"density": layer["density"], "expected": initial, "missing": None}
            )
    return rows


def write_densities(rows: list[dict[str, Any]], output: dict[str, str]) -> None:
    """`rows` have dataset, network, method, seed, ratio, layer, weight, density, expected, missing.

    `layer` is the number and `weight` the name of a layer, `expected` the density that the mask
    of the initial weights has (None if it is not known), and `ratio` None for methods without one.
    A missing run is one row without layer and density, with the reason. The CSV holds the rows as
    they are.
    """
    write_figure(draw_densities(rows), rows, output)


def draw_densities(rows: list[dict[str, Any]]) -> Figure:
    _check(rows)
    panels: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
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


def _check(rows: list[dict[str, Any]]) -> None:
    check_requests(rows, ("dataset", "network", "method", "seed", "layer"))
    ratios: dict[tuple, Any] = {}
    for row in rows:
        run = f"{row['method']} on {row['dataset']}, {row['network']}, seed {row['seed']}"
        if row["density"] is None:
            if not row["missing"]:
                raise UserError(
                    f"{SOURCE} has neither a density nor the reason why there is none for {run}."
                )
            continue
        for key in ("density", "expected"):
            if key == "expected" and row[key] is None:
                continue
            if not 0 <= finite(SOURCE, f"the {key} of {run}", row[key]) <= 1:
                raise UserError(
                    f"{SOURCE} has {row[key]} as the {key} of {run}: not within 0 to 1."
                )
        curve = (row["dataset"], row["network"], row["method"])
        if ratios.setdefault(curve, row["ratio"]) != row["ratio"]:
            raise UserError(
                f"{SOURCE} has two ratios for {row['method']} on {row['dataset']}, "
                f"{row['network']}: {ratios[curve]} and {row['ratio']}. A panel can show one."
            )


def _floor(rows: list[dict[str, Any]]) -> float:
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


def _title(dataset: str, network: str, rows: list[dict[str, Any]]) -> str:
    """The panel's name, and below it the ratio; the notes have that of each method."""
    ratios = sorted(set(_ratios(rows).values()))
    text = f"{dataset_label(dataset)}, {network_label(network)}"
    if not ratios:
        return text
    if len(ratios) == 1:
        return f"{text}\nratio {ratios[0]:g}"
    return f"{text}\nratios {ratios[0]:g} to {ratios[-1]:g}"


def _ratios(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Of the methods of a panel that have one."""
    return {
        row["method"]: row["ratio"]
        for row in rows
        if row["density"] is not None and row["ratio"] is not None
    }


def _draw_panel(panel: Axes, rows: list[dict[str, Any]], floor: float) -> bool:
    """Whether there was anything to draw."""
    found = [row for row in rows if row["density"] is not None]
    if not found:
        say_in_panel(panel, "; ".join(dict.fromkeys(row["missing"] for row in rows)))
        return False
    layers = sorted({row["layer"] for row in found})
    # A layer that no row is of, in between, is a gap as well.
    layers = list(range(layers[0], layers[-1] + 1))
    expected: dict[tuple, list[str]] = defaultdict(list)
    for method in method_order(row["method"] for row in found):
        of_method = [row for row in found if row["method"] == method]
        style, front = look(method), 4 if method == "iunet" else 3
        densities = _by_layer(of_method, "density")
        solid = style.line_style() | {"linestyle": "-", "linewidth": 1.1}
        _draw_densities(panel, densities, layers, floor, label=method, zorder=front, **solid)
        empty = {
            layer: max(fmean(densities[layer]), floor)
            for layer in layers
            if 0 in densities.get(layer, [])
        }
        draw_hollow(panel, empty, style, label=f"{method} cut off", zorder=front + 2)
        means = {layer: fmean(d) for layer, d in _by_layer(of_method, "expected").items()}
        if means:
            expected[tuple(max(means.get(layer, math.nan), floor) for layer in layers)].append(
                method
            )
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


def _by_layer(rows: list[dict[str, Any]], key: str) -> dict[int, list[float]]:
    values: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        if row[key] is not None:
            values[row["layer"]].append(row[key])
    return values


def _key(rows: list[dict[str, Any]]) -> list[Line2D]:
    handles = []
    for method in method_order(row["method"] for row in rows):
        gone = all(row["density"] is None for row in rows if row["method"] == method)
        label = method_label(method) + ": missing" * gone
        style = look(method).line_style() | {"linestyle": "-", "linewidth": 1.1}
        handles.append(Line2D([], [], **style, label=label))
    if any(row["expected"] is not None for row in rows):
        handles.append(Line2D([], [], color=FAINT, **EXPECTED, label="from initial weights"))
    return handles


def _notes(rows: list[dict[str, Any]]) -> list[str]:
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


def _ratio_note(rows: list[dict[str, Any]]) -> list[str]:
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
