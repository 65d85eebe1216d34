"""How lazy training was: is the mask that of the initial weights, and how dense is each layer?"""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import Any

from iunet.runs.entries import Benchmark
from iunet.tables.ask import BEYOND, Ask
from iunet.tables.document import VALUE, Cell, Column, TableDocument, Value
from iunet.tables.groups import grouped, summary
from iunet.tables.masks import mask_files, masks_at_each_cut, read_mask_reports
from iunet.tables.names import stand_in_text
from iunet.tables.scores import About

TITLE = "Laziness: masks beside those of the initial weights"
GROUP = BEYOND
COLUMNS = {
    "overlap": "Overlap with the initial mask",
    "first": "Density, first layer",
    "second": "second",
    "last": "last",
    "smallest": "smallest (layer)",
    "dead_units": "Dead units (%)",
    "disconnected": "Disconnected",
}


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.laziness")
    requests = masks_at_each_cut(bench, cells)
    return Ask(cells, files=mask_files(requests), more={"masks": requests})


def build(ask: Ask, about: About) -> TableDocument:
    return laziness(read_mask_reports(ask.more["masks"]), about)


def laziness(masks: list[dict[str, Any]], about: About | None = None) -> TableDocument:
    """One row per data set, network, method and cut; `masks` as `read_mask_reports` gives them."""
    about = about or About()
    named = [mask | {"cut": cut_text(mask)} for mask in masks]
    rows, parts = grouped(named, ("dataset", "network", "method", "cut"), about)
    return TableDocument(
        id="laziness",
        title=TITLE,
        caption="Share of a mask's weights that the mask of the initial weights θ† at the same "
        "ratio keeps too (1: training did not change which weights are large), and how dense the "
        "mask is, layer by layer, at every ratio." + stand_in_text(about.stand_ins),
        row_header=["Dataset", "Network", "Method", "Cut"],
        rows=rows,
        columns=[Column(key, label) for key, label in COLUMNS.items()],
        metrics=[VALUE],
        default_metric=VALUE,
        cells={key: _cells(part) for key, part in parts.items()},
        notes=[
            "Mean ± sample standard deviation over seeds. Two random masks of ratio r overlap in "
            "1/r of their weights, so compare within a ratio. A dead unit keeps no incoming "
            "weight. A mask is disconnected if a layer loses all its weights: its network is "
            "constant.",
            *(about.notes or []),
        ],
        best_along="none",
    )


def cut_text(mask: dict[str, Any]) -> str:
    """`ratio8`; what the seeds of a choice share even where one of them failed."""
    return mask["cut"] or "chosen"


def _cells(part: list[dict[str, Any]]) -> dict[str, Cell]:
    found = [mask["report"] for mask in part if mask["report"] and not mask["failed"]]
    troubles = Counter(t for m in part if (t := m["missing"] or m["failed"]))
    if not found:
        return {column: Cell(missing="; ".join(troubles)) for column in COLUMNS}
    densities = [[layer["density"] for layer in report["layers"]] for report in found]
    lowest = [min(range(len(d)), key=d.__getitem__) for d in densities]
    numbers = {
        "overlap": [report["overlap_with_initial_mask"] for report in found],
        "first": [d[0] for d in densities],
        "second": [d[1] for d in densities if len(d) > 1],
        "last": [d[-1] for d in densities],
        "dead_units": [100 * _dead(report) for report in found],
    }
    cells = {key: summary(values) for key, values in numbers.items()}
    smallest = [d[i] for d, i in zip(densities, lowest, strict=True)]
    which = ", ".join(str(i + 1) for i in sorted(set(lowest)))
    value = Value(fmean(smallest), n=len(smallest), text=f"{fmean(smallest):.3f} ({which})")
    cells["smallest"] = Cell(values={VALUE: value})
    cut_off = sum(bool(report["disconnected"]) for report in found)
    text = f"{cut_off} of {len(found)}"
    cells["disconnected"] = Cell(values={VALUE: Value(float(cut_off), n=len(found), text=text)})
    cells["overlap"].notes += [f"{t} ({n} of {len(part)} seeds)" for t, n in troubles.items()]
    return {key: cells[key] for key in COLUMNS}


def _dead(report: dict[str, Any]) -> float:
    """The part of all hidden units that keeps no incoming weight."""
    layers = report["layers"]
    return sum(layer["dead_units"] for layer in layers) / sum(layer["units"] for layer in layers)
