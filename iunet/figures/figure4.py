"""Figure 4: first-layer weight magnitudes after training, methods side by side.

Top: an image network's units with the largest norm, each as a picture of the pixels it looks at,
the red, green and blue of a pixel being the magnitudes of its three weights. Bottom: the matrix of
the first layer of a network for tables, its columns grouped under the raw features. Each method has
a scale of its own, since κ scales its weights; magnitudes above the 99.5th percentile look like it.

Below each stands how structured the layer is: its locality or its selectivity, both of the mask
that keeps the largest eighth of this layer. (Pruning ranks the weights of all layers together; the
figure sees only the first.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from iunet.artifacts import read_arrays, read_json
from iunet.errors import UserError
from iunet.escape import drawn_text
from iunet.evaluation.locality import locality, selectivity
from iunet.figures.catalog import WEIGHTS, trained_supernets
from iunet.figures.parts import Rows, read_report
from iunet.figures.style import (
    FAINT,
    FONT,
    PAGE_WIDTH,
    SMALL,
    house_style,
    new_figure,
    say_in_panel,
)
from iunet.labels import dataset_label, method_label
from iunet.runs.entries import Benchmark

N_UNITS = 6
KEPT = 8  # one weight of the layer in so many is kept by the mask that is measured
BRIGHTEST = 99.5  # percentile of the shown magnitudes at which the scale ends
COLOURS = "magma"
GROUPS = ("#0072B2", "#8fc7ea")  # shades of neighbouring one-hot groups
LONGEST_NAME = 18
MEASURES = {"image": "locality", "tabular": "selectivity"}


@dataclass(frozen=True)
class FirstLayer:
    """The magnitudes of a trained first layer, or why there are none."""

    part: str  # image or tabular
    dataset: str
    method: str
    seed: int
    units: list[int] = field(default_factory=list)  # numbers of the units shown
    magnitudes: np.ndarray | None = None  # [units, inputs], the inputs in the network's order
    features: list[str] = field(default_factory=list)  # raw feature of each input, or its pixel
    groups: list[dict[str, Any]] = field(default_factory=list)  # inputs of each raw feature
    # By what it is of: "shown" and "layer" (locality), "layer" (selectivity).
    measures: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: str | None = None


def make(bench: Benchmark, name: str) -> tuple[Figure, Rows]:
    """Of the first seed: what one network looks like."""
    layers = first_layers(trained_supernets(bench, name, WEIGHTS, bench.seeds[:1]))
    return draw(layers), weight_rows(layers)


def first_layers(supernets: list[dict[str, Any]]) -> list[FirstLayer]:
    layers = []
    for part, kind, read in (
        ("image", "vision", _read_image),
        ("tabular", "tabular", _read_table),
    ):
        shown = [supernet for supernet in supernets if supernet["kind"] == kind]
        if len({supernet["dataset"] for supernet in shown}) > 1:
            raise UserError(f"Figure 4 shows one {part} data set, and was asked for several.")
        for supernet in shown:
            content = {"missing": supernet["missing"]}
            if not supernet["missing"]:
                content = read(supernet["files"], read_report(supernet))
            run = (supernet[key] for key in ("dataset", "method", "seed"))
            layers.append(FirstLayer(part, *run, **content))
    return layers


def _read_image(files: dict[str, str], report: dict[str, Any]) -> dict[str, Any]:
    side, channels = report["network"]["side"], report["network"]["channels"]
    if channels != 3:
        raise UserError(
            f"Figure 4 shows images with 3 channels, and {files['report']} is of images with "
            f"{channels}: name another data set under 'figures.figure4.datasets'."
        )
    weight = _magnitudes(files, report)
    norms = np.linalg.norm(weight.astype(np.float64), axis=1)
    units = np.argsort(-norms, kind="stable")[:N_UNITS]
    mask = largest(weight, KEPT)
    return {
        "units": units.tolist(),
        "magnitudes": weight[units],
        "features": [f"{c} y{y} x{x}" for c in "RGB" for y in range(side) for x in range(side)],
        "measures": {
            "shown": locality(mask[units], side, channels),
            "layer": locality(mask, side, channels),
        },
    }


def _read_table(files: dict[str, str], report: dict[str, Any]) -> dict[str, Any]:
    weight = _magnitudes(files, report)
    groups = read_json(files["preprocessing"])["groups"]
    columns = [list(range(group["start"], group["stop"])) for group in groups]
    return {
        "units": list(range(len(weight))),
        "magnitudes": weight,
        "features": [g["column"] for g in groups for _ in range(g["start"], g["stop"])],
        "groups": groups,
        "measures": {"layer": selectivity(largest(weight, KEPT), columns)},
    }


def _magnitudes(files: dict[str, str], report: dict[str, Any]) -> np.ndarray:
    name = report["first_layer"]
    return np.abs(read_arrays(files["weights"], name)[name])


def largest(magnitudes: np.ndarray, ratio: int) -> np.ndarray:
    """The mask of the largest n/ratio of n magnitudes; of equal ones the first are kept."""
    mask = np.zeros(magnitudes.size, dtype=bool)
    order = np.argsort(-magnitudes.ravel(), kind="stable")
    mask[order[: round(magnitudes.size / ratio)]] = True
    return mask.reshape(magnitudes.shape)


# ---- the data behind the figure


def weight_rows(layers: list[FirstLayer]) -> Rows:
    """One row per weight shown, numbered as the network has it, and one per number of a measure.

    A missing run is a row too.
    """
    rows = []
    for layer in layers:
        run = {key: getattr(layer, key) for key in ("part", "dataset", "method", "seed")}
        keys = ("unit", "input", "feature", "magnitude", "measure", "value", "missing")
        run |= dict.fromkeys(keys)
        if layer.missing:
            rows.append(run | {"missing": layer.missing})
            continue
        rows += [
            run | {"measure": f"{MEASURES[layer.part]} {of} {key}", "value": value}
            for of, found in layer.measures.items()
            for key, value in found.items()
        ]
        for unit, magnitudes in zip(layer.units, layer.magnitudes.tolist(), strict=True):
            rows += [
                run
                | {"unit": unit, "input": i, "feature": feature, "magnitude": f"{magnitude:.6g}"}
                for i, (feature, magnitude) in enumerate(
                    zip(layer.features, magnitudes, strict=True)
                )
            ]
    return rows


# ---- drawing


def draw(layers: list[FirstLayer]) -> Figure:
    halves = [
        (draw, height, shown)
        for part, draw, height in (("image", _draw_images, 2.85), ("tabular", _draw_tables, 2.9))
        if (shown := [layer for layer in layers if layer.part == part])
    ]
    with house_style():
        height = sum(height for _, height, _ in halves)
        figure, body = new_figure(PAGE_WIDTH, height, _notes(layers))
        parts = body.subfigures(
            len(halves), 1, height_ratios=[height for _, height, _ in halves], squeeze=False
        )
        for subfigure, (draw, _, shown) in zip(parts[:, 0], halves, strict=True):
            draw(subfigure, shown)
    return figure


def _scale(layer: FirstLayer) -> Normalize:
    """From 0 to the magnitude that only a few of the weights shown exceed."""
    top = float(np.percentile(layer.magnitudes, BRIGHTEST))
    return Normalize(0, top or 1.0, clip=True)


def _title(layer: FirstLayer) -> str:
    method = "sup (OMP)" if layer.method == "omp" else method_label(layer.method)
    return f"{method}, {dataset_label(layer.dataset)}"


def _draw_images(subfigure: SubFigure, layers: list[FirstLayer]) -> None:
    """For each method a block of two rows of three units."""
    columns = N_UNITS // 2
    blocks = subfigure.subfigures(1, len(layers), squeeze=False, wspace=0.04)[0]
    for block, layer in zip(blocks, layers, strict=True):
        block.suptitle(_title(layer), size=FONT)
        if layer.missing:
            say_in_panel(block.subplots(), layer.missing)
            continue
        scale = _scale(layer)
        axes = block.subplots(2, columns).ravel()
        for panel in axes:
            panel.set_axis_off()
        side = math.isqrt(len(layer.features) // 3)
        pictures = layer.magnitudes.reshape(-1, 3, side, side).transpose(0, 2, 3, 1)
        for panel, unit, picture in zip(axes, layer.units, pictures, strict=False):
            panel.imshow(np.asarray(scale(picture)), interpolation="nearest")
            panel.set_title(f"unit {unit}", size=SMALL, pad=2, color=FAINT)
        text = f"{_image_measure(layer)}\nbrightest from |θ| = {scale.vmax:.2g} on"
        block.supxlabel(text, size=SMALL)


def _image_measure(layer: FirstLayer) -> str:
    """Units with fewer than two pixels have no distance, and are left out."""
    shown, whole = layer.measures["shown"]["ratio"], layer.measures["layer"]
    if whole["ratio"] is None:
        return "locality: no unit keeps two pixels"
    these = f"{shown:.3f}" if shown is not None else "none"
    text = f"locality {these} (units shown), {whole['ratio']:.3f} (whole layer)"
    return text + f"\n{whole['left_out']} of {whole['units']} units left out" * bool(
        whole["left_out"]
    )


def _draw_tables(subfigure: SubFigure, layers: list[FirstLayer]) -> None:
    import seaborn

    axes = subfigure.subplots(1, len(layers), squeeze=False)[0]
    for panel, layer in zip(axes, layers, strict=True):
        panel.set_title(_title(layer))
        if layer.missing:
            say_in_panel(panel, layer.missing)
            continue
        seaborn.heatmap(
            layer.magnitudes,
            norm=_scale(layer),
            cmap=COLOURS,
            ax=panel,
            cbar_kws={"label": "|θ|", "extend": "max", "aspect": 25, "pad": 0.02},
            xticklabels=False,
            yticklabels=False,
            rasterized=True,  # as vectors, the PDF is 14 times as large
        )
        panel.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        panel.yaxis.set_major_formatter(ScalarFormatter())
        _draw_groups(panel, layer.groups, PAGE_WIDTH / len(layers) - 1.0)
        panel.set_ylabel("Unit")
        panel.set_xlabel(_table_measure(layer), size=SMALL)


def _table_measure(layer: FirstLayer) -> str:
    found = layer.measures["layer"]
    if found["ratio"] is None:
        return "selectivity: no weight is kept"
    text = f"{found['value']:.1f} raw features per unit"
    if not found["wide_features"]:
        return f"{text} (shuffled: the same, each has one column)"
    return f"selectivity {found['ratio']:.3f} ({text})"


def _draw_groups(panel: Axes, groups: list[dict[str, Any]], width: float) -> None:
    """A strip with the extent of each one-hot group, and as many names as there is room for."""
    n_inputs = groups[-1]["stop"]
    one_hot = [group for group in groups if group["stop"] - group["start"] > 1]
    if one_hot:
        strip = panel.inset_axes((0, -0.045, 1, 0.03), sharex=panel)
        strip.set_axis_off()
        for i, group in enumerate(one_hot):
            strip.axvspan(group["start"], group["stop"], color=GROUPS[i % 2], lw=0)
        panel.tick_params(axis="x", pad=6, length=0)
    named = named_groups(groups, n_inputs * (1.25 * SMALL / 72) / width)
    panel.set_xticks(
        [(group["start"] + group["stop"]) / 2 for group in named],
        [drawn_text(_short(group["column"])) for group in named],
        rotation=90,
    )


def named_groups(groups: list[dict[str, Any]], spacing: float) -> list[dict[str, Any]]:
    """The groups to name so that names are `spacing` inputs apart: wide ones first."""
    chosen: list[dict[str, Any]] = []

    def middle(group: dict[str, Any]) -> float:
        return (group["start"] + group["stop"]) / 2

    for group in sorted(groups, key=lambda g: (g["start"] - g["stop"], g["start"])):
        if all(abs(middle(group) - middle(other)) >= spacing for other in chosen):
            chosen.append(group)
    return sorted(chosen, key=lambda group: group["start"])


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _notes(layers: list[FirstLayer]) -> list[str]:
    """The seed and what is missing; the caption explains the rest."""
    shown = [layer for layer in layers if not layer.missing]
    notes = [f"Seed {shown[0].seed}. Kept: the largest eighth of the layer."] if shown else []
    if any(group["stop"] - group["start"] > 1 for layer in shown for group in layer.groups):
        notes.append("The strip shows the extent of each one-hot group.")
    absent = [
        f"{dataset_label(layer.dataset)}, {method_label(layer.method)} ({layer.missing})"
        for layer in layers
        if layer.missing
    ]
    return [" ".join(notes)] * bool(notes) + [f"Missing: {'; '.join(absent)}."] * bool(absent)
