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
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from iunet.artifacts import read_arrays, read_json
from iunet.errors import UserError
from iunet.evaluation.locality import locality, selectivity
from iunet.figures.catalog import trained_supernets
from iunet.figures.parts import Rows, missing_note
from iunet.figures.style import FAINT, FONT, PAGE_WIDTH, SMALL, new_figure
from iunet.labels import dataset_label, method_label
from iunet.runs.entries import Benchmark

N_UNITS = 6
KEPT = 8  # one weight of the layer in so many is kept by the mask that is measured
BRIGHTEST = 99.5  # percentile of the shown magnitudes at which the scale ends
COLOURS = "magma"
GROUPS = ("#0072B2", "#8fc7ea")  # shades of neighbouring one-hot groups
LONGEST_NAME = 18
HEIGHTS = {"image": 2.85, "tabular": 2.9}  # inches of the halves
COLUMNS = ("unit", "input", "feature", "magnitude", "measure", "value", "missing")


def rows(bench: Benchmark, name: str) -> Rows:
    return weight_rows(trained_supernets(bench, name))


def weight_rows(supernets: list[dict[str, Any]]) -> Rows:
    """One row per weight shown, numbered as the network has it, and one per number of a measure.

    A missing run is a row too. Images come first.
    """
    rows = []
    for supernet in sorted(supernets, key=lambda s: s["kind"] == "tabular"):
        part, shown = ("tabular", _table) if supernet["kind"] == "tabular" else ("image", _image)
        run = {"part": part} | {key: supernet[key] for key in ("dataset", "method", "seed")}
        run |= dict.fromkeys(COLUMNS)
        if supernet["missing"]:
            rows.append(run | {"missing": supernet["missing"]})
            continue
        files = supernet["files"]
        report = read_json(files["report"])
        name = report["first_layer"]
        weight = np.abs(read_arrays(files["arrays"], name)[name])
        units, features, measures = shown(weight, files, report["network"])
        rows += [
            run | {"measure": f"{measure} {key}", "value": value}
            for measure, found in measures.items()
            for key, value in found.items()
        ]
        for unit in units:
            for i, magnitude in enumerate(weight[unit].tolist()):
                of_weight = {"unit": unit, "input": i, "feature": features[i]}
                rows.append(run | of_weight | {"magnitude": f"{magnitude:.6g}"})
    return rows


Shown = tuple[list[int], list[str], dict[str, dict[str, Any]]]  # units, features, measures


def _image(weight: np.ndarray, files: dict[str, str], network: dict[str, Any]) -> Shown:
    """The units with the largest norm, the pixel of each input, and the locality."""
    side, channels = network["side"], network["channels"]
    if channels != 3:
        raise UserError(
            f"Figure 4 shows images with 3 channels, and {files['report']} is of images with "
            f"{channels}: name another data set under 'figures.figure4.datasets'."
        )
    norms = np.linalg.norm(weight.astype(np.float64), axis=1)
    units = np.argsort(-norms, kind="stable")[:N_UNITS].tolist()
    pixels = [f"{c} y{y} x{x}" for c in "RGB" for y in range(side) for x in range(side)]
    mask = largest(weight, KEPT)
    measures = {
        "locality shown": locality(mask[units], side, channels),
        "locality layer": locality(mask, side, channels),
    }
    return units, pixels, measures


def _table(weight: np.ndarray, files: dict[str, str], network: dict[str, Any]) -> Shown:
    """All units, the raw feature of each input, and the selectivity."""
    groups = read_json(files["preprocessing"])["groups"]
    columns = [list(range(group["start"], group["stop"])) for group in groups]
    features = [g["column"] for g, of in zip(groups, columns, strict=True) for _ in of]
    measures = {"selectivity layer": selectivity(largest(weight, KEPT), columns)}
    return list(range(len(weight))), features, measures


def largest(magnitudes: np.ndarray, ratio: int) -> np.ndarray:
    """The mask of the largest n/ratio of n magnitudes; of equal ones the first are kept."""
    mask = np.zeros(magnitudes.size, dtype=bool)
    order = np.argsort(-magnitudes.ravel(), kind="stable")
    mask[order[: round(magnitudes.size / ratio)]] = True
    return mask.reshape(magnitudes.shape)


# ---- drawing


def draw(rows: Rows) -> Figure:
    frame = pd.DataFrame(rows)
    there = frame[frame["missing"].isna()]
    halves = dict(iter(there.groupby("part", sort=False)))
    heights = [HEIGHTS[part] for part in halves]
    figure, body = new_figure(PAGE_WIDTH, sum(heights), _notes(frame, there))
    subfigures = body.subfigures(len(halves), 1, height_ratios=heights, squeeze=False)[:, 0]
    for subfigure, (part, half) in zip(subfigures, halves.items(), strict=True):
        layers = {}
        for (dataset, method), layer in half.groupby(["dataset", "method"], sort=False):
            name = "sup (OMP)" if method == "omp" else method_label(method)
            layers[f"{name}, {dataset_label(dataset)}"] = layer
        (_draw_images if part == "image" else _draw_tables)(subfigure, layers)
    return figure


def _matrix(layer: pd.DataFrame) -> tuple[np.ndarray, Normalize]:
    """The magnitudes [units, inputs], and a scale up to the one that only a few of them exceed."""
    weights = layer[layer["unit"].notna()]
    magnitudes = weights["magnitude"].to_numpy(float).reshape(weights["unit"].nunique(), -1)
    return magnitudes, Normalize(0, np.percentile(magnitudes, BRIGHTEST) or 1.0, clip=True)


def _measures(layer: pd.DataFrame) -> pd.Series:
    return layer[layer["measure"].notna()].set_index("measure")["value"]


def _draw_images(subfigure: SubFigure, layers: dict[str, pd.DataFrame]) -> None:
    """For each method a block of two rows of three units."""
    blocks = subfigure.subfigures(1, len(layers), squeeze=False, wspace=0.04)[0]
    for block, (title, layer) in zip(blocks, layers.items(), strict=True):
        block.suptitle(title, size=FONT)
        magnitudes, scale = _matrix(layer)
        axes = block.subplots(2, N_UNITS // 2).ravel()
        side = math.isqrt(magnitudes.shape[1] // 3)
        pictures = magnitudes.reshape(-1, 3, side, side).transpose(0, 2, 3, 1)
        units = layer["unit"].dropna().unique()
        for panel in axes:
            panel.set_axis_off()
        for panel, unit, picture in zip(axes, units, pictures, strict=False):
            panel.imshow(np.asarray(scale(picture)), interpolation="nearest")
            panel.set_title(f"unit {unit:g}", size=SMALL, pad=2, color=FAINT)
        text = f"{_locality(_measures(layer))}\nbrightest from |θ| = {scale.vmax:.2g} on"
        block.supxlabel(text, size=SMALL)


def _locality(found: pd.Series) -> str:
    """Of the whole layer; units with fewer than two pixels have no distance."""
    if math.isnan(found["locality layer ratio"]):
        return "locality: no unit keeps two pixels"
    left_out = found["locality layer left_out"]
    text = f" ({left_out:g} of {found['locality layer units']:g} units left out)" * bool(left_out)
    return f"locality {found['locality layer ratio']:.3f}{text}"


def _draw_tables(subfigure: SubFigure, layers: dict[str, pd.DataFrame]) -> None:
    import seaborn

    axes = subfigure.subplots(1, len(layers), squeeze=False)[0]
    for panel, (title, layer) in zip(axes, layers.items(), strict=True):
        panel.set_title(title)
        magnitudes, scale = _matrix(layer)
        seaborn.heatmap(
            magnitudes,
            norm=scale,
            cmap=COLOURS,
            ax=panel,
            cbar_kws={"label": "|θ|", "extend": "max", "aspect": 25, "pad": 0.02},
            xticklabels=False,
            yticklabels=False,
            rasterized=True,  # as vectors, the PDF is 14 times as large
        )
        panel.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        panel.yaxis.set_major_formatter(ScalarFormatter())
        _draw_groups(panel, input_groups(layer), PAGE_WIDTH / len(layers) - 1.0)
        panel.set_ylabel("Unit")
        panel.set_xlabel(_selectivity(_measures(layer)), size=SMALL)


def _selectivity(found: pd.Series) -> str:
    if math.isnan(found["selectivity layer ratio"]):
        return "selectivity: no weight is kept"
    text = f"{found['selectivity layer value']:.1f} raw features per unit"
    if not found["selectivity layer wide_features"]:
        return f"{text} (shuffled: the same, each has one column)"
    return f"selectivity {found['selectivity layer ratio']:.3f} ({text})"


def input_groups(layer: pd.DataFrame) -> pd.DataFrame:
    """The first input of each raw feature, how many it has, and their middle."""
    inputs = layer.drop_duplicates("input").groupby("feature", sort=False)["input"]
    groups = inputs.agg(start="min", width="size")
    return groups.assign(middle=groups["start"] + groups["width"] / 2)


def _draw_groups(panel: Axes, groups: pd.DataFrame, width: float) -> None:
    """A strip with the extent of each one-hot group, and as many names as there is room for."""
    one_hot = groups[groups["width"] > 1]
    if len(one_hot):
        strip = panel.inset_axes((0, -0.045, 1, 0.03), sharex=panel)
        strip.set_axis_off()
        for i, group in enumerate(one_hot.itertuples()):
            strip.axvspan(group.start, group.start + group.width, color=GROUPS[i % 2], lw=0)
        panel.tick_params(axis="x", pad=6, length=0)
    named = named_groups(groups, groups["width"].sum() * (1.25 * SMALL / 72) / width)
    names = [" ".join(name.split()) for name in named.index]  # on one line
    shortened = [n if len(n) <= LONGEST_NAME else n[: LONGEST_NAME - 1] + "…" for n in names]
    panel.set_xticks(named, shortened, rotation=90, parse_math=False)


def named_groups(groups: pd.DataFrame, spacing: float) -> pd.Series:
    """The middles of the groups to name, `spacing` inputs apart or more: wide ones first."""
    chosen: dict[str, float] = {}
    for group in groups.sort_values(["width", "start"], ascending=[False, True]).itertuples():
        if all(abs(group.middle - other) >= spacing for other in chosen.values()):
            chosen[group.Index] = group.middle
    return pd.Series(chosen).sort_values()


def _notes(frame: pd.DataFrame, there: pd.DataFrame) -> list[str]:
    """The seed and what is missing; the caption explains the rest."""
    note = f"Seed {frame['seed'][0]}. Kept: the largest eighth of the layer."
    if input_groups(there[there["part"] == "tabular"])["width"].gt(1).any():
        note += " The strip shows the extent of each one-hot group."
    return [note, missing_note(frame, frame["method"].map(method_label))]
