"""Figure 3: how the magnitudes of the encoder's weights move while a supernet trains.

A heat map for each data set and κ: epochs to the right, magnitude upwards, the colour the share of
all encoder weights in a bin of a twentieth of a decade. Two lines give the median and the magnitude
above which lies one weight in eight, which pruning at ratio 8 keeps. Shares are means over seeds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, FigureBase
from matplotlib.ticker import FuncFormatter, MaxNLocator

from iunet.artifacts import read_arrays
from iunet.errors import UserError
from iunet.figures.catalog import HISTOGRAMS, trained_supernets
from iunet.figures.parts import Rows, missing_note, read_report, reasons
from iunet.figures.style import PAGE_WIDTH, house_style, new_figure, say_in_panel
from iunet.labels import dataset_label, kappa_label, supernet_point
from iunet.runs.entries import Benchmark

COLOURS = "Blues"
LINE = "#D55E00"
QUANTILES = {0.5: "-", 0.875: (0, (3, 1.5))}  # and how their lines are drawn
TAILS = (0.02, 0.9995)  # part of the weights of a panel below and above which nothing is shown


def make(bench: Benchmark, name: str) -> tuple[Figure, Rows]:
    rows = shares(trained_supernets(bench, name, HISTOGRAMS))
    return draw(rows), rows


def shares(supernets: list[dict[str, Any]]) -> Rows:
    """One row per data set, κ, epoch and bin that holds a weight; a missing run is a row too."""
    panels: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for supernet in supernets:
        if supernet_point(supernet["supernet"]) is None:
            raise UserError(f"Figure 3 cannot show '{supernet['supernet']}': it has no κ.")
        panels[supernet["dataset"], supernet["supernet"]].append(supernet)
    return [row for panel, of_panel in panels.items() for row in _panel_rows(panel, of_panel)]


def _panel_rows(panel: tuple[str, str], supernets: list[dict[str, Any]]) -> Rows:
    dataset, supernet = panel
    bins = dict.fromkeys(("epoch", "magnitude_low", "magnitude_high", "share"))
    head = {"dataset": dataset, "supernet": supernet, "kappa": supernet_point(supernet)[0], **bins}
    rows = [
        head | {"seeds": str(s["seed"]), "missing": s["missing"]} for s in supernets if s["missing"]
    ]
    there = [supernet for supernet in supernets if not supernet["missing"]]
    if not there:
        return rows
    of_seeds = []
    for run in there:
        read_report(run)
        arrays = read_arrays(run["files"]["histograms"], "counts", "edges")
        counts, edges = arrays["counts"], arrays["edges"].tolist()  # [epochs + 1, bins], [bins + 1]
        of_seeds.append(counts / counts[0].sum())
    mean = np.mean(of_seeds, axis=0)
    seeds = {"seeds": " ".join(str(run["seed"]) for run in there), "missing": None}
    for t, b in np.argwhere(mean).tolist():
        found = (t, edges[b], edges[b + 1], float(mean[t, b]))
        rows.append(head | dict(zip(bins, found, strict=True)) | seeds)
    return rows


# ---- drawing


def draw(rows: Rows) -> Figure:
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    supernets = sorted({row["supernet"] for row in rows}, key=lambda s: (-supernet_point(s)[0], s))
    panels: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        panels[row["dataset"], row["supernet"]].append(row)
    counted = [row for row in rows if row["share"] is not None]
    scale = Normalize(0, 100 * max((row["share"] for row in counted), default=1))
    with house_style():
        width = min(PAGE_WIDTH, 1.6 + 1.6 * len(supernets))
        figure, body = new_figure(width, 0.8 + 1.4 * len(datasets), _notes(rows))
        axes = body.subplots(
            len(datasets), len(supernets), sharex="row", sharey=True, squeeze=False
        )
        for i, dataset in enumerate(datasets):
            for j, supernet in enumerate(supernets):
                drawn = _draw_panel(axes[i, j], panels[dataset, supernet], scale)
                if i == 0:
                    axes[i, j].set_title(kappa_label(supernet_point(supernet)[0]))
                if drawn and dataset == datasets[-1]:
                    axes[i, j].set_xlabel("Epoch")
            axes[i, 0].set_ylabel(f"{dataset_label(dataset)}\n|θ|")
        if counted:
            axes[0, 0].set_ylim(*_shown_range(panels.values()))
            _draw_key(body, axes, scale)
    return figure


def _shown_range(panels: Iterable[list[dict[str, Any]]]) -> tuple[float, float]:
    """Magnitudes between which nearly all weights of every panel lie, in every epoch."""
    lows, highs = [], []
    for rows in panels:
        if counted := [row for row in rows if row["share"] is not None]:
            shares, edges = _matrix(counted)
            lows += [quantile_of(share, edges, TAILS[0]) for share in shares]
            highs += [quantile_of(share, edges, TAILS[1]) for share in shares]
    return min(lows), max(highs)


def _draw_panel(panel: Axes, rows: list[dict[str, Any]], scale: Normalize) -> bool:
    """Whether there was anything to draw."""
    counted = [row for row in rows if row["share"] is not None]
    if not counted:
        say_in_panel(panel, reasons(rows))
        return False
    shares, edges = _matrix(counted)
    epochs = np.arange(len(shares) + 1) - 0.5
    # Not seaborn's heatmap, which numbers its cells and knows no edges: no axis of magnitudes.
    panel.pcolormesh(epochs, edges, 100 * shares.T, norm=scale, cmap=COLOURS, rasterized=True)
    for quantile, line in QUANTILES.items():
        heights = [quantile_of(share, edges, quantile) for share in shares]
        panel.plot(range(len(shares)), heights, color=LINE, linestyle=line, linewidth=1.1)
    panel.set_facecolor(colormaps[COLOURS](0.0))
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter(FuncFormatter(lambda magnitude, _: f"{magnitude:g}"))
    panel.set_xlim(epochs[0], epochs[-1])
    panel.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=True))
    return True


def _matrix(rows: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """(shares [epochs, bins], edges), the bins between the lowest and the highest with weights."""
    bins = sorted({(row["magnitude_low"], row["magnitude_high"]) for row in rows})
    edges = np.array(sorted({edge for pair in bins for edge in pair}))
    place = {low: i for i, low in enumerate(edges)}
    shares = np.zeros((max(row["epoch"] for row in rows) + 1, len(edges) - 1))
    for row in rows:
        shares[row["epoch"], place[row["magnitude_low"]]] = row["share"]
    return shares, edges


def quantile_of(shares: np.ndarray, edges: np.ndarray, quantile: float) -> float:
    """The magnitude below which this part of the weights lies, log-linear inside a bin."""
    cumulative = np.concatenate([[0], np.cumsum(shares)]) / shares.sum()
    return float(np.exp(np.interp(quantile, cumulative, np.log(edges))))


def _draw_key(body: FigureBase, axes: np.ndarray, scale: Normalize) -> None:
    bar = body.colorbar(
        ScalarMappable(scale, COLOURS), ax=axes, aspect=14 * len(axes), pad=0.015, fraction=0.05
    )
    bar.set_label("Weights per bin (%)")
    bar.outline.set_visible(False)


def _notes(rows: list[dict[str, Any]]) -> list[str]:
    seeds = {len(row["seeds"].split()) for row in rows if row["share"] is not None}
    over = " Mean over seeds." if max(seeds, default=0) > 1 else " One seed."
    notes = [
        "Solid line: median magnitude. Dashed: above it lies the largest eighth of the weights."
        + (over if seeds else "")
    ]
    runs = [row | {"seed": row["seeds"]} for row in rows]
    return notes + missing_note(runs, [kappa_label(row["kappa"]) for row in rows])
