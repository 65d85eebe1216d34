"""Reports made again from the rows of runs.csv, so that tables can be built from it alone.

What no row holds (histories, versions, weights) is not restored: this is for tables, not for runs
to go on from. They go on from the reports themselves (`iunet.study.archive`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from iunet.errors import UserError
from iunet.runs.entries import Benchmark
from iunet.runs.names import base_network
from iunet.study.requests import KEY, row_requests
from iunet.study.rows import FIRST_LAYER, LAYERS, NO, SECONDS, SECTIONS, TRANSFORMS, YES
from iunet.tables.frame import MEASURED, SIZES
from iunet.tables.reports import SCORED

Row = dict[str, Any]


def restore(rows: list[Row], bench: Benchmark) -> None:
    """Write the reports behind the rows below the benchmark's root, where tables look for them.

    The benchmark's config must not be partial: it has to name files that are not there yet.
    """
    places = {tuple(request[k] for k in KEY): request["files"] for request in row_requests(bench)}
    for row in rows:
        key = tuple(row[k] for k in KEY)
        if key not in places:
            raise UserError(f"runs.csv has a row that the config does not ask for: {key}.")
        for name, content in _reports(row).items():
            if name in places[key]:
                _write(places[key][name], content)
    for choice, candidates in _choices(rows, places).items():
        _write(choice, _choice(candidates))


def _write(path: str, content: dict[str, Any]) -> None:
    """No artifact: thousands of files for one look, so neither atomic nor with a checksum."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(content), encoding="utf-8")


def _reports(row: Row) -> dict[str, dict[str, Any]]:
    """The reports of a row, by the names of `iunet.study.requests.FILES`."""
    head = {"dataset": row["dataset"], "seed": row["seed"], "failed": row["failed"]}
    subset = {"subset": json.loads(row["subset"])} if row["subset"] else {}
    found = {
        "evaluation": head | _evaluation(row),
        "split": {"dataset": row["dataset"], "provenance": subset},
    }
    if row["layer_weight"]:
        found["mask"] = head | _mask(row)
    counts = {k: row[f"trials_{k}"] for k in ("complete", "failed")}
    for stage in SECONDS:
        if row[f"{stage}_seconds"] is not None:
            found[stage] = {"times": {"total_s": row[f"{stage}_seconds"]}}
    if "study" in found:
        found["study"]["counts"] = counts
    return found


def _evaluation(row: Row) -> dict[str, Any]:
    report: dict[str, Any] = {
        "network": {"name": base_network(row["network"])},
        "stage": row["stage"],
        "ratio": row["ratio"],
        "disconnected": row["disconnected"] == YES,
        "metrics": {key: row[key] for key in SCORED if row[key] is not None},
        "sizes": {key: row[key] for key in SIZES},
        "overlap_with_initial_mask": row["overlap_with_initial_mask"],
    }
    for section in SECTIONS:
        report[section] = {
            transform: {m: row[f"{section}_{transform}_{m}"] for m in MEASURED}
            for transform in TRANSFORMS
            if row[f"{section}_{transform}_same"] is not None
        }
    first = {key: row[f"first_layer_{key}"] for key in FIRST_LAYER}
    report["first_layer_mask"] = (
        {k: v for k, v in first.items() if v is not None or k in ("value", "ratio")}
        if first["measure"]
        else None
    )
    return report


def _mask(row: Row) -> dict[str, Any]:
    lists = {key: row[f"layer_{key}"].split(" ") for key in (*LAYERS, "density")}
    layers = []
    for weight, shape, kept, dead, density in zip(*lists.values(), strict=True):
        sides = list(map(int, shape.split("x")))
        layers.append(
            {
                "weight": weight,
                "shape": sides,
                "kept": int(kept),
                "density": float(density),
                "units": sides[0],
                "dead_units": int(dead),
            }
        )
    return {
        "ratio": row["ratio"],
        "layers": layers,
        "disconnected": row["disconnected"] == YES,
        "overlap_with_initial_mask": row["overlap_with_initial_mask"],
    }


def _choices(rows: list[Row], places: dict[tuple, dict[str, str]]) -> dict[str, list[Row]]:
    """The rows of every choice that was made, by its file."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["chosen"] in (YES, NO):
            path = places[tuple(row[k] for k in KEY)]["choice"]
            found.setdefault(path, []).append(row)
    return found


def _choice(rows: list[Row]) -> dict[str, Any]:
    candidates: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        candidates.setdefault((row["supernet"], row["cut"]), []).append(row)
    listed = []
    for (supernet, cut), part in candidates.items():
        failed = [f"{r['failed']} (seed {r['seed']})" for r in part if r["failed"]]
        reason = "; ".join(failed) or None
        listed.append({"supernet": supernet, "cut": cut, "failed": reason})
    chosen = [row for row in rows if row["chosen"] == YES]
    pair = {"supernet": chosen[0]["supernet"], "cut": chosen[0]["cut"]} if chosen else None
    facts = {key: rows[0][key] for key in ("dataset", "network", "method")}
    return facts | {"chosen": pair, "candidates": listed}
