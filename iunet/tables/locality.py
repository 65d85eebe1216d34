"""How structured first-layer masks are: near pixels on images, few raw features on tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.results.selection import of_subnetworks
from iunet.runs.entries import Benchmark
from iunet.tables.cells import (
    cut_off_notes,
    grouped_table,
    number_cell,
    problem_notes,
    problems_of,
    text_cell,
)
from iunet.tables.document import Cell, TableDocument
from iunet.tables.laziness import ROWS, pruned_cells

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Locality and selectivity of first-layer masks"
CONVOLUTION = "a convolution is local by construction"
CAPTION = (
    "Of the first layer's masks, at every ratio. Images: mean distance between two "
    "pixels that a unit keeps. Tables: raw features that a unit keeps. Beside each, what a "
    "mask with as many weights at random places has; a ratio below 1 means more local, or more "
    "selective, than chance."
)
NOTE = (
    "Mean ± sample standard deviation over seeds. Units with fewer than two pixels have no "
    "distance; units without a feature count as 0. Raw features of one column cannot move "
    "the ratio: on a table without categories it is 1 by construction. A dense mask cannot "
    "differ much from chance, so compare within a ratio; first layers differ in density "
    "there, too (table of laziness)."
)
COLUMNS = {
    "measure": "Measure",
    "value": "Mask",
    "shuffled": "Shuffled",
    "ratio": "Mask / shuffled",
    "left_out": "Units without (%)",
}


def request(bench: Benchmark) -> Request:
    return Request(pruned_cells(bench, "tables.locality"))


def first_layers(runs: pd.DataFrame) -> pd.DataFrame:
    """The subnetworks at every cut; those whose first layer has no measure say why."""
    cuts = of_subnetworks(runs)
    convolution = cuts["first_layer_measure"].isna() & cuts["missing"].isna()
    convolution &= cuts["failed"].isna()
    return cuts.assign(missing=cuts["missing"].mask(convolution, CONVOLUTION))


def build(results: Results) -> TableDocument:
    """One row per data set, network, method and cut."""
    runs = first_layers(results.runs)
    return grouped_table(runs, ROWS, COLUMNS, _cells, CAPTION, [NOTE])


def _cells(key: tuple, part: pd.DataFrame) -> dict[str, Cell]:
    found = part[part["first_layer_measure"].notna()]
    if found.empty:
        return {column: Cell(missing="; ".join(problems_of(part))) for column in COLUMNS}
    cells = {"measure": text_cell(", ".join(dict.fromkeys(found["first_layer_measure"])))}
    for key in ("value", "shuffled", "ratio"):
        cells[key] = number_cell(found[f"first_layer_{key}"])
    cells["left_out"] = number_cell(
        100 * found["first_layer_left_out"] / found["first_layer_units"]
    )
    cells["value"].notes += problem_notes(part) + cut_off_notes(part)
    return cells
