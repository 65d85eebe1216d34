"""Hand-made frames of runs, for the tests of tables."""

from __future__ import annotations

from typing import Any

import pandas as pd
from toy_results import SIZES

from iunet.results.collect import DATASET, Results, runs_frame
from iunet.results.collect import frame_of as typed_frame
from iunet.tables.catalog import table_entry
from iunet.tables.document import TableDocument

SCORES = ("accuracy", "balanced_accuracy", "swapped_balanced_accuracy")


def run(dataset, network, method, seed=0, score=None, **facts) -> dict[str, Any]:
    """A run; validation scores are 1 below those of the test. Without a cut it is a result."""
    scores = {"balanced_accuracy": facts.pop("balanced", score)}
    scores["swapped_balanced_accuracy"] = facts.pop("swapped", score)
    row = {"dataset": dataset, "network": network, "method": method, "seed": seed}
    row |= {"stage": "dense", "supernet": None, "cut": None, "chosen": None, "missing": None}
    if score is not None:
        row |= SIZES | {"disconnected": False}
        for name in SCORES:
            value = scores.get(name, score)
            row |= {f"test_{name}": value, f"valid_{name}": value - 1}
    if facts.get("cut"):
        row["stage"] = "subnetwork"
    return row | facts


def frame_of(*rows: dict[str, Any]) -> pd.DataFrame:
    return runs_frame(list(rows))


def results_of(*rows: dict[str, Any], datasets=()) -> Results:
    return Results(frame_of(*rows), typed_frame(list(datasets), DATASET))


def layers_of(units: int, *densities: float) -> dict[str, list]:
    """Square layers of a mask, of which the first rows are kept."""
    return {
        "layer_weight": [f"layer{i}" for i in range(len(densities))],
        "layer_shape": [f"{units}x{units}"] * len(densities),
        "layer_dead_units": [units - round(units * density) for density in densities],
        "layer_density": list(densities),
    }


def table_of(name: str, *rows: dict[str, Any]) -> TableDocument:
    """A table of the catalog, from runs."""
    return table_entry(name).build(results_of(*rows))
