"""How lazy training was: overlaps with the mask of the initial weights, densities of layers."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.results.selection import of_masks
from iunet.runs.entries import Benchmark
from iunet.runs.entries import Cell as RunCell
from iunet.tables.cells import cell, grouped_table, problem_notes, problems_of
from iunet.tables.document import TableDocument, Value

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "overlap": "Overlap with the initial mask",
    "first": "Density, first layer",
    "second": "second",
    "last": "last",
    "smallest": "smallest (layer)",
    "dead_units": "Dead units (%)",
    "disconnected": "Disconnected",
}
CAPTION = (
    "Share of a mask's weights that the mask of the initial weights θ† at the same "
    "ratio keeps too (1: training did not change which weights are large), and how dense the "
    "mask is, layer by layer, at every ratio."
)
NOTE = (
    "Mean ± sample standard deviation over seeds. Two random masks of ratio r overlap in "
    "1/r of their weights, so compare within a ratio. A dead unit keeps no incoming "
    "weight. A mask is disconnected if a layer loses all its weights: its network is "
    "constant."
)
ROWS = ("dataset", "network", "method", "cut")


def request(bench: Benchmark) -> Request:
    cells = pruned_cells(bench, "tables.laziness")
    return Request(cells, masks=cells)


def pruned_cells(bench: Benchmark, entry: str) -> list[RunCell]:
    return [cell for cell in bench.cells_of(entry) if cell.method.cuts]


def build(results: Results) -> TableDocument:
    """One row per data set, network, method and cut; of β-LASSO, what was chosen."""
    masks = of_masks(results.runs)
    masks = masks.assign(cut=masks["cut"].fillna("chosen"))
    return grouped_table(masks, ROWS, COLUMNS, _cells, CAPTION, [NOTE])


def _cells(key: tuple, part: pd.DataFrame) -> dict[str, Any] | str:
    found = part[part["missing"].isna() & part["failed"].isna()]
    if found.empty:
        return "; ".join(problems_of(part))
    densities = [*found["layer_density"]]
    lowest = [min(range(len(d)), key=d.__getitem__) for d in densities]
    units = [sum(int(s.partition("x")[0]) for s in shapes) for shapes in found["layer_shape"]]
    dead = [sum(d) / n for d, n in zip(found["layer_dead_units"], units, strict=True)]
    smallest = fmean(d[i] for d, i in zip(densities, lowest, strict=True))
    which = ", ".join(str(i + 1) for i in sorted(set(lowest)))
    cut_off, n = int(found["disconnected"].sum()), len(found)
    return {
        "overlap": cell(found["mask_overlap"], *problem_notes(part)),
        "first": [d[0] for d in densities],
        "second": [d[1] for d in densities if len(d) > 1],
        "last": [d[-1] for d in densities],
        "smallest": Value(smallest, n=n, text=f"{smallest:.3f} ({which})"),
        "dead_units": [100 * share for share in dead],
        "disconnected": Value(float(cut_off), n=n, text=f"{cut_off} of {n}"),
    }
