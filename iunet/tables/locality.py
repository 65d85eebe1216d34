"""How structured first-layer masks are: near pixels on images, few raw features on tables."""

from __future__ import annotations

from typing import Any

from iunet.errors import UserError
from iunet.runs.entries import Benchmark, Cell
from iunet.runs.requests import Requests, requests_at_each_cut
from iunet.tables.ask import BEYOND, Ask
from iunet.tables.document import VALUE, Column, TableDocument, Value
from iunet.tables.document import Cell as TableCell
from iunet.tables.groups import grouped, summary
from iunet.tables.names import stand_in_text
from iunet.tables.reports import REDO, choose, read_evaluation, refuse_repeated
from iunet.tables.scores import About

TITLE = "Locality and selectivity of first-layer masks"
GROUP = BEYOND
CONVOLUTION = "a convolution is local by construction"
COLUMNS = {
    "measure": "Measure",
    "value": "Mask",
    "shuffled": "Shuffled",
    "ratio": "Mask / shuffled",
    "left_out": "Units without (%)",
}


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.locality")
    return Ask(cells, locality_requests(bench, cells))


def locality_requests(bench: Benchmark, cells: list[Cell]) -> Requests:
    """The subnetworks of every ratio: their evaluation measures the first layer's mask."""
    return requests_at_each_cut(bench, [cell for cell in cells if cell.method.cuts])


def build(ask: Ask, about: About) -> TableDocument:
    return locality_table(read_localities(ask.requests), about)


def read_localities(requests: Requests) -> list[dict[str, Any]]:
    """One row per request: `value`, `shuffled` and `ratio` of its first layer, or the reason."""
    refuse_repeated(requests)
    return [_read(request) for request in requests]


def _read(request: dict[str, Any]) -> dict[str, Any]:
    row = {key: request[key] for key in ("dataset", "network", "method", "seed", "cut", "missing")}
    row["failed"] = None
    if row["missing"]:
        return row
    choice = choose(request)
    row |= {"cut": choice.cut, "failed": choice.failed}
    if choice.failed:
        return row
    report = read_evaluation(choice.path, request)
    if report.get("failed"):
        return row | {"failed": report["failed"]}
    if "first_layer_mask" not in report:
        raise UserError(f"{choice.path} does not measure the first layer's mask. {REDO}")
    row["disconnected"] = bool(report.get("disconnected"))
    return row | (report["first_layer_mask"] or {"missing": CONVOLUTION})


def locality_table(rows: list[dict[str, Any]], about: About | None = None) -> TableDocument:
    """One row per data set, network, method and cut; `rows` as `read_localities` gives them."""
    about = about or About()
    heads, parts = grouped(rows, ("dataset", "network", "method", "cut"), about)
    return TableDocument(
        id="locality",
        title=TITLE,
        caption="Of the first layer's masks, at every ratio. Images: mean distance between two "
        "pixels that a unit keeps. Tables: raw features that a unit keeps. Beside each, what a "
        "mask with as many weights at random places has; a ratio below 1 means more local, or more "
        "selective, than chance." + stand_in_text(about.stand_ins),
        row_header=["Dataset", "Network", "Method", "Cut"],
        rows=heads,
        columns=[Column(key, label) for key, label in COLUMNS.items()],
        metrics=[VALUE],
        default_metric=VALUE,
        cells={key: _cells(part) for key, part in parts.items()},
        notes=[
            "Mean ± sample standard deviation over seeds. Units with fewer than two pixels have no "
            "distance; units without a feature count as 0. Raw features of one column cannot move "
            "the ratio: on a table without categories it is 1 by construction. A dense mask cannot "
            "differ much from chance, so compare within a ratio; first layers differ in density "
            "there, too (table of laziness).",
            *(about.notes or []),
        ],
        best_along="none",
    )


def _cells(part: list[dict[str, Any]]) -> dict[str, TableCell]:
    found = [row for row in part if row.get("measure")]
    troubles = [row["missing"] or row["failed"] for row in part if not row.get("measure")]
    if not found:
        return {column: TableCell(missing="; ".join(dict.fromkeys(troubles))) for column in COLUMNS}
    cells = {key: summary([row[key] for row in found]) for key in ("value", "shuffled", "ratio")}
    cells["left_out"] = summary([100 * row["left_out"] / row["units"] for row in found])
    measures = ", ".join(dict.fromkeys(row["measure"] for row in found))
    cells["measure"] = TableCell(values={VALUE: Value(text=measures)})
    cells["value"].notes += [
        f"{reason} ({troubles.count(reason)} of {len(part)} seeds)"
        for reason in dict.fromkeys(troubles)
    ]
    if cut_off := sum(row["disconnected"] for row in found):
        cells["value"].notes.append(f"disconnected ({cut_off} of {len(part)} seeds)")
    return {key: cells[key] for key in COLUMNS}
