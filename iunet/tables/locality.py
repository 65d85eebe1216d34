"""How structured first-layer masks are: near pixels on images, few raw features on tables."""

from __future__ import annotations

from typing import Any

from iunet.artifacts import read_arrays, read_json
from iunet.errors import UserError
from iunet.labels import dataset_label, method_label, network_label
from iunet.runs import paths
from iunet.runs.entries import Benchmark
from iunet.runs.requests import Requests
from iunet.tables.ask import BEYOND, Ask
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value
from iunet.tables.laziness import summary
from iunet.tables.masks import chosen_masks, mask_files, read_mask_reports
from iunet.tables.names import is_tabular, stand_in_text
from iunet.tables.reports import REDO
from iunet.tables.scores import About

TITLE = "Locality and selectivity of first-layer masks"
GROUP = BEYOND
PIXELS, FEATURES = "distance of pixels", "raw features"
CONVOLUTION = "a convolution is local by construction"
COLUMNS = {
    "cut": "Cut",
    "measure": "Measure",
    "value": "Mask",
    "shuffled": "Shuffled",
    "ratio": "Mask / shuffled",
    "left_out": "Units without (%)",
}


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.locality")
    requests = locality_requests(bench, cells)
    return Ask(cells, files=locality_files(requests), more={"masks": requests})


def locality_requests(bench: Benchmark, cells: list) -> Requests:
    """The chosen masks, each with what says where its inputs lie: pixels, or raw features."""
    requests = chosen_masks(bench, cells)
    for request in requests:
        if not request["missing"]:
            tabular = is_tabular(request["network"])
            template = paths.PREPROCESSING if tabular else paths.SPLIT_REPORT
            request["inputs"] = bench.path(template, dataset=request["dataset"])
    return requests


def locality_files(requests: Requests) -> list[str]:
    inputs = [request["inputs"] for request in requests if "inputs" in request]
    return list(dict.fromkeys([*mask_files(requests, "report", "mask"), *inputs]))


def build(ask: Ask, about: About) -> TableDocument:
    return locality_table(read_localities(ask.more["masks"]), about)


def read_localities(requests: Requests) -> list[dict[str, Any]]:
    """One row per request: `value`, `shuffled` and `ratio` of its first layer, or the reason."""
    rows = []
    for request, row in zip(requests, read_mask_reports(requests), strict=True):
        keys = ("dataset", "network", "method", "seed", "cut", "missing", "failed")
        found = {key: row[key] for key in keys}
        if not row["missing"] and not row["failed"]:
            found |= _measure(request, row)
        rows.append(found)
    return rows


def _measure(request: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    from iunet.evaluation.locality import locality, selectivity
    from iunet.method.masks import unpack_masks

    layer = row["report"]["layers"][0]
    if len(layer["shape"]) != 2:
        return {"missing": CONVOLUTION}
    name, path = layer["weight"], row["mask"]["mask"]
    mask = unpack_masks(read_arrays(path, name), {name: layer["shape"]})[name]
    facts = read_json(request["inputs"])
    if "groups" in facts:
        groups = [list(range(group["start"], group["stop"])) for group in facts["groups"]]
        measured = {"measure": FEATURES} | _checked(selectivity, path, mask, groups)
        measured["left_out"] = measured.pop("empty_units")
        return measured
    side, channels = facts["side"], facts.get("channels", 3)
    return {"measure": PIXELS} | _checked(locality, path, mask, side, channels)


def _checked(measure, path: str, *arguments: Any) -> dict[str, Any]:
    try:
        return measure(*arguments)
    except ValueError as error:
        raise UserError(f"{path} does not fit its data set: {error}. {REDO}") from error


def locality_table(rows: list[dict[str, Any]], about: About | None = None) -> TableDocument:
    """One row per data set, network and method; `rows` as `read_localities` gives them."""
    about = about or About()
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["dataset"], row["network"], row["method"]), []).append(row)
    heads, cells = [], {}
    for (dataset, network, method), part in groups.items():
        key = f"{dataset}/{network}/{method}"
        names = [dataset_label(dataset), network_label(network), method_label(method)]
        heads.append(Row(key, names, about.of(dataset)))
        cells[key] = _cells(part)
    return TableDocument(
        id="locality",
        title=TITLE,
        caption="Of the first layer's chosen masks. Images: mean distance between two pixels that "
        "a unit keeps. Tables: raw features that a unit keeps. Beside each, what a mask with as "
        "many weights at random places has; a ratio below 1 means more local, or more selective, "
        "than chance." + stand_in_text(about.stand_ins),
        row_header=["Dataset", "Network", "Method"],
        rows=heads,
        columns=[Column(key, label) for key, label in COLUMNS.items()],
        metrics=[VALUE],
        default_metric=VALUE,
        cells=cells,
        notes=[
            "Mean ± sample standard deviation over seeds. Units with fewer than two pixels have no "
            "distance; units without a feature count as 0. Raw features of one column cannot move "
            "the ratio: on a table without categories it is 1 by construction.",
            *(about.notes or []),
        ],
        best_along="none",
    )


def _cells(part: list[dict[str, Any]]) -> dict[str, Cell]:
    found = [row for row in part if row.get("measure")]
    troubles = [row["missing"] or row["failed"] for row in part if not row.get("measure")]
    if not found:
        return {column: Cell(missing="; ".join(dict.fromkeys(troubles))) for column in COLUMNS}
    cells = {key: summary([row[key] for row in found]) for key in ("value", "shuffled", "ratio")}
    cells["left_out"] = summary([100 * row["left_out"] / row["units"] for row in found])
    for column in ("cut", "measure"):
        text = ", ".join(dict.fromkeys(row[column] for row in found))
        cells[column] = Cell(values={VALUE: Value(text=text)})
    cells["value"].notes += [
        f"{reason} ({troubles.count(reason)} of {len(part)} seeds)"
        for reason in dict.fromkeys(troubles)
    ]
    return {key: cells[key] for key in COLUMNS}
