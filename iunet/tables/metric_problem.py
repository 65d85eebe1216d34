"""The metric problem of the paper's table 7: the evidence, computed from the paper's numbers.

Balanced accuracy of a constant predictor is 100/K %, yet MLP_TAB-family columns of the paper hold
the majority-class rate of the test split. And where all classes are equally frequent in the test
split, balanced accuracy is k/n (k/3n as a mean of 3 seeds), yet these columns hold other values.
Both fit macro precision: `balanced_accuracy_score` with its arguments swapped.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.labels import dataset_label
from iunet.paper import official_rows, paper_table
from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.runs.entries import Benchmark
from iunet.tables.cells import plain_table
from iunet.tables.document import PAPER_ROUNDING, PAPER_SEEDS, TableDocument
from iunet.tables.paper_values import METHODS, paper_table7
from iunet.tables.table7 import tabular_label

COLUMNS = {
    "paper": "Paper",
    "finding": "Finding",
    "comparison": "For comparison",
    "source": "Test split from",
}
FEW = 1000  # beyond that many test rows, most values of 3 decimals are some k/n by chance
FAMILIES = {"mlp_tab": [m for m in METHODS if m not in LEARNERS], "tuned": list(LEARNERS)}
MAJORITY, ONE, MEAN, NEITHER = "majority", "k/n", "k/3n", "neither"  # what a cell can be


def telling_cells() -> list[dict[str, Any]]:
    """The cells of the paper's table 7 that are evidence of its metric, and what each `is`.

    Either the cell equals the test split's majority rate to 3 decimals; or its test split is small
    with equal classes, and the cell is k/n for some k, k/3n (the mean of 3 seeds), or neither. The
    test split is the one that scikit-learn makes of as many rows as the paper's table 9 implies.
    """
    splits = {row["dataset"]: row for row in paper_table(9)}
    majority, equal_classes = [], []
    for (dataset, method), published in paper_table7().items():
        value, split = published.mean, splits[dataset]
        rate, least = float(split["majority_pct"]), float(split["minority_pct"])
        two = 2 if abs(rate + least - 100) < 0.02 else None
        n_classes = round(100 / rate) if rate == least else two  # none: the paper does not tell
        low, high = official_rows(dataset)
        # Classes of one size divide the number of rows; of the test split only if they divide that.
        totals = [n for n in range(low, high + 1) if rate != least or n % n_classes == 0]
        sizes = sorted({math.ceil(n / 5) for n in totals or range(low, high + 1)})
        cell = {"dataset": dataset, "method": method, "value": value}
        if rate != least or any(n % n_classes for n in sizes):
            # k of n rows: the nearest number, if the rate can mean it in a stratified split.
            rows = [(round(value * n / 100), n) for n in sizes if _is_fraction(value, n)]
            distances = {(k, n): abs(100 * k / n - rate) for k, n in rows}
            hits = [(k, n) for (k, n), far in distances.items() if far <= 0.005 + 100 / n]
            if hits:
                k, n = min(hits, key=lambda hit: (distances[hit], -hit[1]))
                chance = f"a constant predictor has {100 / n_classes:g} %" if n_classes else ""
                cell |= {"finding": f"majority rate {k}/{n}", "comparison": chance}
                majority.append(cell | {"is": MAJORITY})
        elif sizes[-1] <= FEW:
            n = sizes[0]
            fits = {ONE: n, MEAN: PAPER_SEEDS * n}
            found = next((name for name in fits if _is_fraction(value, fits[name])), NEITHER)
            finding = f"attainable as k/{fits[found]}" if found in fits else "not attainable"
            k = round(value * n / 100)
            cell |= {"finding": finding, "comparison": f"nearest {k}/{n} = {100 * k / n:.3f}"}
            equal_classes.append(cell | {"is": found})
    return majority + equal_classes


def _is_fraction(value: float, n: int) -> bool:
    """Whether some k of n are this percentage, as the paper rounds."""
    return abs(100 * round(value * n / 100) / n - value) <= PAPER_ROUNDING + 1e-9


def counts_of_cells() -> dict[str, dict[str, int]]:
    """The number of cells of each kind, by family of methods."""
    cells = telling_cells()
    counts = {}
    for name, family in FAMILIES.items():
        found = Counter(cell["is"] for cell in cells if cell["method"] in family)
        counts[name] = {
            "cells": len(paper_table(7)) * len(family),
            "majority": found[MAJORITY],
            "equal_class_cells": found[ONE] + found[MEAN] + found[NEITHER],
            "attainable": found[ONE],
            "attainable_as_mean": found[ONE] + found[MEAN],
        }
    return counts


# ---- the table


def request(bench: Benchmark) -> Request:
    """No runs: the table is about the paper's own numbers."""
    return Request()


def build(results: Results | None) -> TableDocument:
    """A row for each cell of the paper that is evidence."""
    lines = {}
    for cell in telling_cells():
        part = "majority" if cell["is"] == MAJORITY else "equal"
        labels = [dataset_label(cell["dataset"]), tabular_label(cell["method"])]
        content = {"paper": cell["value"], "source": "table 9"}
        content |= {key: cell[key] for key in ("finding", "comparison")}
        lines[f"{part}/{cell['dataset']}/{cell['method']}"] = (labels, content)
    ours, others = counts_of_cells().values()
    return plain_table(
        f"In the paper's table 7, {ours['majority']} of {ours['cells']} cells of MLP_TAB, "
        "OMP, β-LASSO and IUNET equal the majority-class rate of the test split, where a constant "
        f"predictor's balanced accuracy is far lower; of XGB, TABN and MLP_TAB+C "
        f"{others['majority']} of {others['cells']} do. On small test splits with equal classes, "
        f"{ours['attainable_as_mean']} of {ours['equal_class_cells']} cells of the first four are "
        f"attainable as k/n or as a mean of three, against {others['attainable']} of "
        f"{others['equal_class_cells']} of the other three as k/n. Both fit balanced accuracy with "
        "its arguments swapped: mean precision over the predicted classes.",
        ["Dataset", "Method"],
        COLUMNS,
        lines,
    )
