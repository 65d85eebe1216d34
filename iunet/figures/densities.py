"""Layer densities: how many weights of each layer a mask keeps, beside what the initial weights
alone would keep.

One panel per data set and network. A global threshold may empty a layer, which cuts the network
off: on the logarithmic axis 0 lies at the bottom, with a hollow marker.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from iunet.figures.catalog import figure_request
from iunet.figures.parts import Rows, draw_curves, draw_panels, missing_note, panel_grid, seeds_note
from iunet.figures.style import FAINT, FONT, PAGE_WIDTH, look, new_figure
from iunet.labels import dataset_label, method_label, method_order, network_label, run_names
from iunet.networks.expected import Layer, expected_densities, init_of
from iunet.results.collect import Results, collect
from iunet.results.selection import of_results, with_reason
from iunet.runs.entries import Benchmark
from iunet.runs.names import CutName, SupernetName, base_network

SOLID = {"linestyle": "-", "linewidth": 1.1}
EXPECTED = {"linestyle": (0, (4, 2)), "linewidth": 1.0}


def rows(bench: Benchmark, name: str) -> Rows:
    return densities(collect(bench, figure_request(bench, name)), bench.config["init"])


def densities(results: Results, default_init: str) -> Rows:
    """A row for each layer of the masks, all at the ratio that was chosen for IUNET."""
    masks = with_reason(of_results(results.runs, choice_of="iunet"), "layer_density")
    found = []
    for run in masks.to_dict("records"):
        head = {key: run[key] for key in ("dataset", "network", "method", "seed")}
        if missing := run["missing"] or run["failed"]:
            empty = dict.fromkeys(("ratio", "layer", "weight", "density", "expected"))
            found.append(head | empty | {"missing": missing})
            continue
        head["ratio"] = None if math.isnan(run["ratio"]) else run["ratio"]  # β-LASSO has none
        expected = initial_densities(run, run["layer_shape"], default_init)
        for i, density in enumerate(run["layer_density"]):
            layer = {"layer": i + 1, "weight": run["layer_weight"][i], "density": density}
            found.append(head | layer | {"expected": expected[i], "missing": None})
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
    frame = pd.DataFrame(rows).assign(disconnected=lambda f: f["density"].eq(0))
    there = frame[frame["missing"].isna()]
    panels = {
        _title(*key, of_panel["ratio"].dropna()): of_panel
        for key, of_panel in there.groupby(["dataset", "network"], sort=False)
    }
    lines, columns = panel_grid(len(panels))
    width = min(PAGE_WIDTH, 1.6 + 2.1 * columns)
    figure, body = new_figure(width, 0.5 + 1.95 * lines, _notes(frame, there))
    axes = draw_panels(body, panels, _draw_panel)
    _set_scale(axes[0, 0], there[["density", "expected"]].stack())
    body.supylabel("Part of the weights kept", size=FONT)
    key = {"loc": "outside lower center", "ncols": min(4, 2 + columns), "handlelength": 2.6}
    body.legend(handles=_key(there), **key)
    return figure


def _title(dataset: str, network: str, ratios: pd.Series) -> str:
    text = ", ".join(f"{ratio:g}" for ratio in sorted(ratios.unique()))
    return f"{dataset_label(dataset)}, {network_label(network)}" + f"\nratio {text}" * bool(text)


def _set_scale(panel: Axes, densities: pd.Series) -> None:
    """Logarithmic, down to half a decade below all densities but 0, which lies at the bottom."""
    floor = 10.0 ** math.floor(math.log10(densities[densities > 0].min()) - 0.5)
    panel.set_yscale("symlog", linthresh=floor, linscale=0.5)
    panel.set_ylim(-floor / 4, 1.4)  # room for the markers at 0
    panel.minorticks_off()
    panel.yaxis.set_major_formatter(lambda y, _: f"{y:g}")


def _draw_panel(panel: Axes, frame: pd.DataFrame) -> None:
    # Not the standard deviation: seeds may differ by orders of magnitude.
    draw_curves(panel, frame, "layer", "density", whole_range=True, **SOLID)
    initial = frame.dropna(subset="expected").groupby(["method", "layer"])["expected"].mean()
    # Most methods start from the same weights: one line for all of them.
    for heights in dict.fromkeys(tuple(part) for _, part in initial.groupby("method")):
        panel.plot(
            sorted(frame["layer"].unique()),
            heights,
            color=FAINT,
            **EXPECTED,
            zorder=2,
            label="expected",
        )
    panel.set_xlabel("Layer")
    panel.xaxis.set_major_locator(MaxNLocator(9, steps=[1, 2, 5, 10], integer=True))
    panel.grid(axis="y")


def _key(frame: pd.DataFrame) -> list[Line2D]:
    handles = [
        Line2D([], [], **look(method).line_style() | SOLID, label=method_label(method))
        for method in method_order(frame["method"])
    ]
    if frame["expected"].notna().any():
        handles.append(Line2D([], [], color=FAINT, **EXPECTED, label="from initial weights"))
    return handles


def _notes(frame: pd.DataFrame, there: pd.DataFrame) -> list[str]:
    point = ["dataset", "network", "method", "layer"]
    sentences = [seeds_note(there, point, "from the lowest to the highest seed")]
    if there["expected"].notna().any():
        sentences.append("Dashed: densities of the mask of the initial weights.")
    if there["disconnected"].any():
        sentences.append("Hollow marker: in some seed the layer lost all its weights (cut off).")
    return [" ".join(sentences), missing_note(frame, run_names(frame))]
