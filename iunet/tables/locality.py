"""How structured first-layer masks are: near pixels on images, few raw features on tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.results.selection import of_subnetworks, with_reason
from iunet.runs.entries import Benchmark
from iunet.tables.cells import (
    cell,
    cut_off_notes,
    grouped_table,
    problem_notes,
    problems_of,
)
from iunet.tables.document import TableDocument
from iunet.tables.laziness import ROWS, pruned_cells

if TYPE_CHECKING:
    import pandas as pd

CONVOLUTION = "a convolution is local by construction"
CAPTION = (
    "Of the first layer's masks, at every ratio. Images: mean distance between two "
    "pixels that a unit keeps. Tables: raw features that a unit keeps. Both also for a mask with "
    "as many weights at random places; a ratio below 1 means more local, or more selective, than "
    "chance."
)
NOTE = (
    "Mean ± sample standard deviation over seeds. Units with fewer than two pixels have no "
    "distance; units without a feature count as 0. Raw features of one column cannot move "
    "the ratio: on a table without categories it is 1 by construction. A dense mask cannot "
    "differ much from chance, so compare masks of one ratio. Their first layers still differ in "
    "density (table of laziness); the claims compare them at the same density."
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
    """The subnetworks at every cut, with a reason if their first layer has no measure."""
    return with_reason(of_subnetworks(runs), "first_layer_measure", CONVOLUTION)


def build(results: Results) -> TableDocument:
    """One row per data set, network, method and cut."""
    runs = first_layers(results.runs)
    return grouped_table(runs, ROWS, COLUMNS, _cells, CAPTION, [NOTE])


def _cells(key: tuple, part: pd.DataFrame) -> dict[str, Any] | str:
    found = part[part["first_layer_measure"].notna()]
    if found.empty:
        return "; ".join(problems_of(part))
    return {
        "measure": ", ".join(found["first_layer_measure"].unique()),
        "value": cell(found["first_layer_value"], *problem_notes(part), *cut_off_notes(part)),
        "shuffled": found["first_layer_shuffled"],
        "ratio": found["first_layer_ratio"],
        "left_out": 100 * found["first_layer_left_out"] / found["first_layer_units"],
    }
