"""Figure 3: how the magnitudes of the encoder's weights move while a supernet trains.

A heat map for each data set and κ: epochs to the right, magnitude upwards, the colour the share of
all encoder weights in a bin of a twentieth of a decade. Two lines give the median and the magnitude
above which lies one weight in eight, which pruning at ratio 8 keeps. Shares are means over seeds.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from iunet.artifacts import read_arrays
from iunet.errors import UserError
from iunet.figures.catalog import trained_supernets
from iunet.figures.parts import Rows, missing_note
from iunet.figures.style import PAGE_WIDTH, new_figure
from iunet.labels import dataset_label, kappa_label
from iunet.method.catalog import LASSO
from iunet.runs.entries import Benchmark
from iunet.runs.names import SupernetName

BINS = ("epoch", "magnitude_low", "magnitude_high", "share")
COLOURS = "Blues"
LINE = "#D55E00"
QUANTILES = {0.5: "-", 0.875: (0, (3, 1.5))}  # and how their lines are drawn
TAILS = (0.02, 0.9995)  # part of the weights of a panel below and above which nothing is shown


def rows(bench: Benchmark, name: str) -> Rows:
    return shares(trained_supernets(bench, name))


def shares(supernets: list[dict[str, Any]]) -> Rows:
    """One row per data set, κ, epoch and bin that holds a weight; a missing run is a row too."""
    panels: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for supernet in supernets:
        panels[supernet["dataset"], supernet["supernet"]].append(supernet)
    rows = []
    for (dataset, supernet), runs in panels.items():
        name = SupernetName.parse(supernet)
        if name.objective == LASSO:
            raise UserError(f"Figure 3 cannot show '{supernet}': β-LASSO has no κ.")
        head = {"dataset": dataset, "supernet": supernet, "kappa": float(name.kappa)}
        for run in runs:
            if run["missing"]:
                seed = {"seeds": str(run["seed"]), "missing": run["missing"]}
                rows.append(head | dict.fromkeys(BINS) | seed)
        if there := [run for run in runs if not run["missing"]]:
            seeds = {"seeds": " ".join(str(run["seed"]) for run in there), "missing": None}
            rows += [head | dict(zip(BINS, found, strict=True)) | seeds for found in _bins(there)]
    return rows


def _bins(supernets: list[dict[str, Any]]) -> list[tuple[int, float, float, float]]:
    """Epoch, edges and share of each bin that holds a weight: the mean over seeds."""
    of_seeds = []
    for run in supernets:
        arrays = read_arrays(run["files"]["arrays"], "counts", "edges")
        counts, edges = arrays["counts"], arrays["edges"].tolist()  # [epochs + 1, bins], [bins + 1]
        of_seeds.append(counts / counts[0].sum())
    mean = np.mean(of_seeds, axis=0)
    return [(t, edges[b], edges[b + 1], float(mean[t, b])) for t, b in np.argwhere(mean).tolist()]


# ---- drawing


def draw(rows: Rows) -> Figure:
    frame = pd.DataFrame(rows)
    there = frame[frame["missing"].isna()]
    datasets = list(there["dataset"].unique())
    kappas = dict(zip(there["supernet"], there["kappa"], strict=True))
    supernets = sorted(kappas, key=lambda supernet: (-kappas[supernet], supernet))
    matrices = {key: _matrix(part) for key, part in there.groupby(["dataset", "supernet"])}
    scale = Normalize(0, 100 * there["share"].max())
    width = min(PAGE_WIDTH, 1.6 + 1.6 * len(supernets))
    figure, body = new_figure(width, 0.8 + 1.4 * len(datasets), _notes(frame, there))
    axes = body.subplots(len(datasets), len(supernets), sharex="row", sharey=True, squeeze=False)
    for (dataset, supernet), (found, edges) in matrices.items():
        panel = axes[datasets.index(dataset), supernets.index(supernet)]
        _draw_panel(panel, found, edges, scale)
    for dataset, panel in zip(datasets, axes[:, 0], strict=True):
        panel.set_ylabel(f"{dataset_label(dataset)}\n|θ|")
    for supernet, top, bottom in zip(supernets, axes[0], axes[-1], strict=True):
        top.set_title(kappa_label(kappas[supernet]))
        bottom.set_xlabel("Epoch")
    # Magnitudes between which nearly all weights of every panel lie, in every epoch.
    shares_of = [(share, edges) for found, edges in matrices.values() for share in found]
    low, high = ([quantile_of(*each, tail) for each in shares_of] for tail in TAILS)
    axes[0, 0].set_ylim(min(low), max(high))
    key = {"aspect": 14 * len(axes), "pad": 0.015, "fraction": 0.05}
    bar = body.colorbar(ScalarMappable(scale, COLOURS), ax=axes, **key)
    bar.set_label("Weights per bin (%)")
    bar.outline.set_visible(False)
    return figure


def _matrix(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """(shares [epochs, bins], edges), the bins between the lowest and the highest with weights."""
    edges = np.unique(rows[["magnitude_low", "magnitude_high"]])
    shares = rows.pivot(index="epoch", columns="magnitude_low", values="share")
    return shares.reindex(columns=edges[:-1]).fillna(0).to_numpy(), edges


def _draw_panel(panel: Axes, shares: np.ndarray, edges: np.ndarray, scale: Normalize) -> None:
    epochs = np.arange(len(shares) + 1) - 0.5
    panel.pcolormesh(epochs, edges, 100 * shares.T, norm=scale, cmap=COLOURS, rasterized=True)
    for quantile, line in QUANTILES.items():
        heights = [quantile_of(share, edges, quantile) for share in shares]
        panel.plot(range(len(shares)), heights, color=LINE, linestyle=line, linewidth=1.1)
    panel.set_facecolor(colormaps[COLOURS](0.0))
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter(FuncFormatter(lambda magnitude, _: f"{magnitude:g}"))
    panel.set_xlim(epochs[0], epochs[-1])
    panel.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=True))


def quantile_of(shares: np.ndarray, edges: np.ndarray, quantile: float) -> float:
    """The magnitude below which this part of the weights lies, log-linear inside a bin."""
    cumulative = np.concatenate([[0], np.cumsum(shares)]) / shares.sum()
    return float(np.exp(np.interp(quantile, cumulative, np.log(edges))))


def _notes(frame: pd.DataFrame, there: pd.DataFrame) -> list[str]:
    text = "Solid line: median magnitude. Dashed: above it lies the largest eighth of the weights."
    several = there["seeds"].str.contains(" ").any()
    text += " Mean over seeds." if several else " One seed."
    return [text, missing_note(frame, frame["kappa"].map(kappa_label))]
