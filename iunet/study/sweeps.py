"""One setting at a time, and what it does to IUNET: κ, λ, the ratio, the views."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from iunet.labels import dataset_label
from iunet.study.answers import compare, sample
from iunet.study.findings import points

Row = dict[str, Any]
OWN = "iunet"  # with the paper's value of every setting
USUAL = (OWN, "iunet_no_pis", "iunet_no_ilo")
NOT_RUN = "No sweep was run yet."


@dataclass(frozen=True)
class Sweep:
    """Methods that differ in one setting; `OWN` is the one that they are compared with."""

    title: str
    kinds: tuple[str, ...]
    methods: dict[str, str]  # method → its value


SWEEPS = (
    Sweep(
        "κ, the factor on initial weights",
        ("tabular", "vision"),
        {
            "iunet_no_pis": "1",
            OWN: "1/4",
            "iunet_kappa0.0625": "1/16",
            "iunet_kappa0.015625": "1/64",
            "iunet_kappa0.00390625": "1/256",
        },
    ),
    Sweep(
        "λ, the weight of ILO's contrastive part",
        ("tabular",),
        {"iunet_lambda0.25": "0.25", "iunet_lambda0.5": "0.5", OWN: "1"},
    ),
    Sweep(
        "κ, with r chosen on validation among 2, 4 and 8",
        ("tabular",),
        {
            OWN: "1/4, r = 8",
            "search_kappa0.25": "1/4",
            "search_kappa0.125": "1/8",
            "search_kappa0.0625": "1/16",
        },
    ),
    Sweep(
        "corruption, the share of features that a view replaces",
        ("tabular",),
        {
            "iunet_no_ilo": "no views",
            "iunet_corruption0.3": "0.3",
            OWN: "0.6",
            "iunet_corruption0.9": "0.9",
        },
    ),
    Sweep(
        "transforms that make the views",
        ("vision",),
        {
            "iunet_no_ilo": "no views",
            "iunet_only_resize": "resize",
            "iunet_only_horiz": "horiz",
            "iunet_only_color": "color",
            "iunet_only_graysc": "graysc",
            OWN: "all four",
        },
    ),
)


def swept_methods() -> set[str]:
    """The methods that are in the study for a sweep alone."""
    return {method for sweep in SWEEPS for method in sweep.methods} - set(USUAL)


def sweeps_text(rows: list[Row]) -> str:
    """A table for every sweep that was run, on the data sets where it was."""
    found = [
        table for sweep in SWEEPS for kind in sweep.kinds if (table := _table(rows, sweep, kind))
    ]
    return "\n\n".join(found) or NOT_RUN


def _table(rows: list[Row], sweep: Sweep, kind: str) -> str | None:
    # The usual methods ran on more data sets: those with a method of the sweep's own count.
    own = swept_methods()
    swept = dict.fromkeys(
        dataset for m in sweep.methods if m in own for dataset in sample(rows, kind, m)
    )
    if not swept:
        return None
    columns = [sweep.title, *map(dataset_label, swept)]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for method, value in sweep.methods.items():
        cells = [_cell(rows, kind, method, dataset) for dataset in swept]
        lines.append(f"| {' | '.join([value, *cells])} |")
    return "\n".join(lines)


def _cell(rows: list[Row], kind: str, method: str, dataset: str) -> str:
    """The score, and how far it is from IUNET's on the seeds that both have."""
    here = [row for row in rows if row["dataset"] == dataset]
    values = sample(here, kind, method).get(dataset)
    if not values:
        return "not run"
    few = "" if len(values) > 1 else ", one seed"
    found = compare(here, kind, method, OWN) if method != OWN else None
    difference = f" ({points(found)}{few})" if found else ""
    return f"{fmean(values.values()):.1f}{difference}"
