"""What each method cost to train and to tune, from the times in the runs' reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import method_order
from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.results.selection import costs
from iunet.runs.entries import NOT_FINISHED, Benchmark
from iunet.tables.cells import cell, grouped_table
from iunet.tables.document import Cell, TableDocument, Value

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "datasets": "Data sets",
    "runs": "Runs",
    "seconds_per_run": "Training per run (s)",
    "trials_per_dataset": "Trials per data set",
    "tuning_per_dataset": "Tuning per data set (s)",
    "total": "Total (s)",
}
CAPTION = (
    "Wall-clock seconds by method, on the machine that ran them, with all candidates that a method "
    "chose among; a supernet that several methods share counts for each of them."
)


def request(bench: Benchmark) -> Request:
    return Request(bench.all_cells, times=bench.all_cells)


def build(results: Results) -> TableDocument:
    """Seconds and trials by network and method."""
    frame = costs(results.runs)
    place = {method: i for i, method in enumerate(method_order(frame["method"]))}
    frame = frame.assign(place=frame["method"].map(place))
    frame = frame.sort_values(["network", "place"], kind="stable")
    return grouped_table(frame, ("network", "method"), COLUMNS, _cells, CAPTION, decimals=1)


def _cells(key: tuple, part: pd.DataFrame) -> dict[str, Cell] | str:
    done = part[part["missing"].isna()]
    if done.empty:
        return "; ".join(part["missing"].unique())
    runs, studies = done[done["seed"].notna()], done[done["seed"].isna()]
    numbers = {
        "datasets": float(done["dataset"].nunique()),
        "runs": float(len(runs)),
        "seconds_per_run": runs["seconds"].mean() if len(runs) else None,
        "trials_per_dataset": studies["trials"].mean() if len(studies) else 0.0,
        "tuning_per_dataset": studies["seconds"].mean() if len(studies) else 0.0,
        "total": done["seconds"].sum(),
    }
    cells = {}
    for column, number in numbers.items():
        if number is None:
            cells[column] = Cell(missing=NOT_FINISHED)
            continue
        whole = column in ("datasets", "runs", "trials_per_dataset") and float(number).is_integer()
        cells[column] = cell(Value(float(number), text=f"{number:,.0f}" if whole else None))
    gone = part["missing"].dropna()
    if len(gone):
        reasons = "; ".join(gone.unique())
        cells["total"].notes.append(f"{len(gone)} of {len(part)} parts are missing: {reasons}")
    return cells
