"""Figure 4: first-layer weight magnitudes after training, methods side by side.

Top: an image network's units with the largest norm, each as a picture of the pixels it looks at,
the red, green and blue of a pixel being the magnitudes of its three weights. Bottom: the matrix of
the first layer of a network for tables, its columns grouped under the raw features. Within each
half one scale holds for all methods; magnitudes above the 99.5th percentile look like it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, SubFigure

from iunet.errors import UserError
from iunet.figures.inputs import (
    check_requests,
    check_run,
    missing_reason,
    read_array,
    read_report,
    refuse,
)
from iunet.figures.style import (
    FAINT,
    FONT,
    PAGE_WIDTH,
    SMALL,
    house_style,
    new_figure,
    say_in_panel,
    write_figure,
)
from iunet.labels import dataset_label, method_label

N_UNITS = 6
BRIGHTEST = 99.5  # percentile of the shown magnitudes at which the scale ends
COLOURS = "magma"
GROUPS = ("#0072B2", "#8fc7ea")  # shades of neighbouring one-hot groups
LONGEST_NAME = 18


@dataclass(frozen=True)
class FirstLayer:
    """The magnitudes of a trained first layer, or why there are none."""

    part: str  # image or tabular
    dataset: str
    method: str
    seed: int
    units: np.ndarray | None = None  # numbers of the units shown
    magnitudes: np.ndarray | None = None  # image: [units, side, side, 3]; tabular: [units, inputs]
    groups: tuple[dict[str, Any], ...] = ()  # tabular: which inputs belong to which raw feature
    missing: str | None = None


def write_figure4(
    image: list[dict[str, Any]], tabular: list[dict[str, Any]], output: dict[str, str]
) -> None:
    """From trained supernets to the figure; one of the two lists may be empty.

    A request has dataset, supernet, method, seed, and either the paths `weights` (of
    supernet.safetensors), `report` (of supernet.json) and, for a table, `preprocessing`, or
    `missing`, the reason why there are none.
    """
    layers = figure4_layers(image, tabular)
    write_figure(draw_figure4(layers), figure4_rows(layers), output)


def figure4_layers(image: list[dict[str, Any]], tabular: list[dict[str, Any]]) -> list[FirstLayer]:
    check_requests([*image, *tabular], ("dataset", "method"))
    layers = []
    for part, requests, read in (("image", image, _read_image), ("tabular", tabular, _read_table)):
        if len({request["dataset"] for request in requests}) > 1:
            raise UserError(f"Figure 4 shows one {part} data set, and was asked for several.")
        for request in requests:
            name = (part, request["dataset"], request["method"], request["seed"])
            if reason := missing_reason(request, "weights"):
                layers.append(FirstLayer(*name, missing=reason))
            else:
                layers.append(FirstLayer(*name, **read(request)))
    return layers


def _first_weight(request: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
    """|θ| of the first layer, and the network's specification."""
    path = request["report"]
    report = check_run(path, request)
    name, network = report.get("first_layer"), report.get("network")
    if not name or not isinstance(network, dict):
        raise refuse(path, "does not describe a network and its first layer")
    return np.abs(read_array(request["weights"], name)), network


def _read_image(request: dict[str, Any]) -> dict[str, Any]:
    weight, network = _first_weight(request)
    side, channels = network.get("side"), network.get("channels")
    if channels != 3:
        raise refuse(request["report"], f"is of images with {channels} channels, not 3")
    if weight.ndim != 2 or weight.shape[1] != channels * side**2:
        raise refuse(
            request["weights"],
            f"has a first layer of shape {weight.shape}, not one weight for each of the "
            f"{channels} × {side} × {side} inputs",
        )
    norms = np.linalg.norm(weight.astype(np.float64), axis=1)
    units = np.argsort(-norms, kind="stable")[:N_UNITS]
    pictures = weight[units].reshape(-1, channels, side, side).transpose(0, 2, 3, 1)
    return {"units": units, "magnitudes": pictures}


def _read_table(request: dict[str, Any]) -> dict[str, Any]:
    weight, _ = _first_weight(request)
    path = request["preprocessing"]
    groups = read_report(path).get("groups")
    if not groups or [g["start"] for g in groups] != [0, *(g["stop"] for g in groups[:-1])]:
        raise refuse(path, "does not say which inputs belong to which raw feature")
    if weight.ndim != 2 or weight.shape[1] != groups[-1]["stop"]:
        raise refuse(
            request["weights"],
            f"has a first layer of shape {weight.shape}, "
            f"but {path} has {groups[-1]['stop']} inputs",
        )
    return {"units": np.arange(len(weight)), "magnitudes": weight, "groups": tuple(groups)}


# ---- the data behind the figure


def figure4_rows(layers: list[FirstLayer]) -> list[dict[str, Any]]:
    """One row per weight shown, numbered as the network has it; a missing run is a row too."""
    rows = []
    for layer in layers:
        run = {
            "part": layer.part,
            "dataset": layer.dataset,
            "method": layer.method,
            "seed": layer.seed,
        }
        empty = dict.fromkeys(("unit", "input", "feature", "magnitude"))
        if layer.missing:
            rows.append({**run, **empty, "missing": layer.missing})
            continue
        features = _features(layer)
        for unit, magnitudes in zip(layer.units.tolist(), _by_input(layer), strict=True):
            rows += [
                {
                    **run,
                    "unit": unit,
                    "input": i,
                    "feature": features[i],
                    "magnitude": f"{magnitude:.6g}",
                    "missing": None,
                }
                for i, magnitude in enumerate(magnitudes.tolist())
            ]
    return rows


def _by_input(layer: FirstLayer) -> np.ndarray:
    """[units, inputs], the inputs in the network's order."""
    if layer.part == "tabular":
        return layer.magnitudes
    return layer.magnitudes.transpose(0, 3, 1, 2).reshape(len(layer.units), -1)


def _features(layer: FirstLayer) -> list[str]:
    """The raw feature of each input; of an image, its channel and pixel."""
    if layer.part == "tabular":
        return [g["column"] for g in layer.groups for _ in range(g["start"], g["stop"])]
    side = layer.magnitudes.shape[1]
    return [f"{c} y{y} x{x}" for c in "RGB" for y in range(side) for x in range(side)]


# ---- drawing


def draw_figure4(layers: list[FirstLayer]) -> Figure:
    halves = [
        (draw, height, shown)
        for part, draw, height in (("image", _draw_images, 2.5), ("tabular", _draw_tables, 2.9))
        if (shown := [layer for layer in layers if layer.part == part])
    ]
    with house_style():
        height = sum(height for _, height, _ in halves)
        figure, body = new_figure(PAGE_WIDTH, height, _notes(layers))
        parts = body.subfigures(
            len(halves), 1, height_ratios=[height for _, height, _ in halves], squeeze=False
        )
        for subfigure, (draw, _, shown) in zip(parts[:, 0], halves, strict=True):
            draw(subfigure, shown, _scale(shown))
    return figure


def _scale(layers: list[FirstLayer]) -> Normalize:
    """From 0 to the magnitude that only a few weights of all methods together exceed."""
    shown = [layer.magnitudes.ravel() for layer in layers if not layer.missing]
    top = float(np.percentile(np.concatenate(shown), BRIGHTEST)) if shown else 1.0
    return Normalize(0, top or 1.0, clip=True)


def _title(layer: FirstLayer) -> str:
    method = "sup (OMP)" if layer.method == "omp" else method_label(layer.method)
    return f"{method}, {dataset_label(layer.dataset)}"


def _draw_images(subfigure: SubFigure, layers: list[FirstLayer], scale: Normalize) -> None:
    """For each method a block of two rows of three units."""
    columns = N_UNITS // 2
    blocks = subfigure.subfigures(1, len(layers), squeeze=False, wspace=0.04)[0]
    for block, layer in zip(blocks, layers, strict=True):
        block.suptitle(_title(layer), size=FONT)
        if layer.missing:
            say_in_panel(block.subplots(), layer.missing)
            continue
        axes = block.subplots(2, columns).ravel()
        for panel in axes:
            panel.set_axis_off()
        for panel, unit, picture in zip(axes, layer.units, layer.magnitudes, strict=False):
            panel.imshow(np.asarray(scale(picture)), interpolation="nearest")
            panel.set_title(f"unit {unit}", size=SMALL, pad=2, color=FAINT)


def _draw_tables(subfigure: SubFigure, layers: list[FirstLayer], scale: Normalize) -> None:
    axes = subfigure.subplots(1, len(layers), squeeze=False)[0]
    for panel, layer in zip(axes, layers, strict=True):
        panel.set_title(_title(layer))
        if layer.missing:
            say_in_panel(panel, layer.missing)
            continue
        panel.imshow(layer.magnitudes, norm=scale, cmap=COLOURS, aspect="auto")
        _draw_groups(panel, layer.groups, PAGE_WIDTH / len(layers) - 0.6)
        panel.set_ylabel("Unit")
    bar = subfigure.colorbar(
        ScalarMappable(scale, COLOURS), ax=list(axes), extend="max", aspect=25, pad=0.015
    )
    bar.set_label("|θ|")
    bar.outline.set_visible(False)


def _draw_groups(panel: Axes, groups: tuple[dict[str, Any], ...], width: float) -> None:
    """A strip with the extent of each one-hot group, and as many names as there is room for."""
    n_inputs = groups[-1]["stop"]
    one_hot = [group for group in groups if group["stop"] - group["start"] > 1]
    if one_hot:
        strip = panel.inset_axes((0, -0.045, 1, 0.03), sharex=panel)
        strip.set_axis_off()
        for i, group in enumerate(one_hot):
            strip.axvspan(group["start"] - 0.5, group["stop"] - 0.5, color=GROUPS[i % 2], lw=0)
        panel.tick_params(axis="x", pad=6, length=0)
    named = named_groups(groups, n_inputs * (1.25 * SMALL / 72) / width)
    panel.set_xticks(
        [(group["start"] + group["stop"] - 1) / 2 for group in named],
        [_short(group["column"]) for group in named],
        rotation=90,
    )
    for spine in panel.spines.values():
        spine.set_visible(False)


def named_groups(groups, spacing: float) -> list[dict[str, Any]]:
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
    notes = []
    for part, text in (
        ("image", "Top: the six units with the largest norm; red, green and blue are magnitudes"),
        ("tabular", "Bottom: inputs after one-hot encoding, under their raw features"),
    ):
        if shown := [layer for layer in layers if layer.part == part and not layer.missing]:
            seeds = ", ".join(sorted({str(layer.seed) for layer in shown}))
            top = f"brightest from {_scale(shown).vmax:.3g} on, for all methods"
            if any(group["stop"] - group["start"] > 1 for group in shown[0].groups):
                top += "; the strip shows the extent of each one-hot group"
            notes.append(f"{text}; {top}. Seed {seeds}.")
    absent = [
        f"{dataset_label(layer.dataset)}, {method_label(layer.method)} ({layer.missing})"
        for layer in layers
        if layer.missing
    ]
    return notes + [f"Missing: {'; '.join(absent)}."] * bool(absent)
