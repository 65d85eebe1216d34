"""Hand-made frames of runs, for the tests of tables."""

from __future__ import annotations

from typing import Any

import pandas as pd
from toy_results import SIZES

from iunet.results.collect import DATASET, LAYERS, Results, runs_frame, typed
from iunet.tables.catalog import table_module
from iunet.tables.context import Context
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


def results_of(*rows: dict[str, Any], layers=(), datasets=()) -> Results:
    return Results(
        frame_of(*rows),
        pd.DataFrame(layers, columns=LAYERS),
        typed(pd.DataFrame(datasets, columns=DATASET)),
        pd.DataFrame(),
    )


def table_of(name: str, *rows: dict[str, Any], **context: Any) -> TableDocument:
    """A table of the catalog, from runs."""
    return table_module(name).build(results_of(*rows), Context(**context))
