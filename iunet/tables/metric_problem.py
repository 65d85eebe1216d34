"""The metric problem of the paper's table 7, with its evidence computed from the numbers.

Balanced accuracy of a constant predictor is 100/K %, yet MLP_TAB-family columns of the paper hold
the majority-class rate of the test split. And where all classes are equally frequent in the test
split, balanced accuracy is k/n (k/3n as a mean of 3 seeds), yet these columns hold other values.
Both fit macro precision: `balanced_accuracy_score` with its arguments swapped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.labels import dataset_label
from iunet.paper import official_rows, paper_table
from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.runs.entries import Benchmark
from iunet.tables.cells import text_cell
from iunet.tables.document import PAPER_SEEDS, Cell, Column, Row, TableDocument
from iunet.tables.table7 import METHODS, paper_table7, tabular_label

TITLE = "The metric of the paper's table 7"
HALF = 0.0005 + 1e-9  # the paper gives 3 decimals
COLUMNS = {
    "paper": "Paper",
    "finding": "Finding",
    "beside": "Beside",
    "source": "Test split from",
}
FEW = 1000  # beyond that many test rows, most values of 3 decimals are some k/n by chance
FAMILIES = {"mlp_tab": [m for m in METHODS if m not in LEARNERS], "tuned": list(LEARNERS)}


@dataclass
class TestSplit:
    """What the paper's table 9 tells of a data set's test split."""

    sizes: list[int]  # candidates
    rate: float  # of the majority class in percent, to 2 decimals
    n_classes: int | None  # none if the paper does not tell
    equal_classes: bool

    def majority_rows(self, value: float) -> tuple[int, int] | None:
        """k of n rows of the majority class that give this percentage; the likeliest, if several.

        k are the numbers of rows that the rate can mean in a stratified split.
        """
        hits = [
            (k, n)
            for n in self.sizes
            for k in range(
                math.floor(n * (self.rate - 0.005) / 100),
                math.ceil(n * (self.rate + 0.005) / 100) + 1,
            )
            if abs(100 * k / n - value) <= HALF
        ]
        near = [(abs(100 * k / n - self.rate), -n, (k, n)) for k, n in hits]
        return min(near)[-1] if near else None


def split_of(row: dict[str, str]) -> TestSplit:
    """From a row of table 9: the sizes that scikit-learn makes of the implied rows."""
    low, high = official_rows(row["dataset"])
    rate, least = float(row["majority_pct"]), float(row["minority_pct"])
    two = 2 if abs(rate + least - 100) < 0.02 else None
    n_classes = round(100 / rate) if rate == least else two
    # Classes of one size divide the number of rows; of the test split only if they divide that too.
    totals = [n for n in range(low, high + 1) if rate != least or n % n_classes == 0]
    sizes = sorted({math.ceil(n / 5) for n in totals or range(low, high + 1)})
    equal = rate == least and all(size % n_classes == 0 for size in sizes)
    return TestSplit(sizes, rate, n_classes, equal)


def metric_problem() -> dict[str, Any]:
    """The evidence: telling cells of the paper's table 7, and the counts of both families.

    `majority` has cells that equal the test split's majority rate to 3 decimals, `rows` of `n`
    rows, beside a `constant` predictor's balanced accuracy. `attainable` has every cell on small
    test splits with equal classes: `as_one` is k/n for some k, `as_mean` k/3n, the mean of 3 seeds.
    """
    splits = {row["dataset"]: split_of(row) for row in paper_table(9)}
    majority, attainable = [], []
    for (dataset, method), published in paper_table7().items():
        value = published.mean
        split = splits[dataset]
        cell = {"dataset": dataset, "method": method, "value": value}
        if not split.equal_classes:
            if hit := split.majority_rows(value):
                constant = 100 / split.n_classes if split.n_classes else None
                majority.append(cell | {"rows": hit[0], "n": hit[1], "constant": constant})
        elif max(split.sizes) <= FEW:
            n = split.sizes[0]
            as_one, as_mean = _is_fraction(value, n), _is_fraction(value, PAPER_SEEDS * n)
            attainable.append(cell | {"n": n, "as_one": as_one, "as_mean": as_mean})
    counts = {}
    for name, family in FAMILIES.items():
        tested = [cell for cell in attainable if cell["method"] in family]
        counts[name] = {
            "majority": sum(cell["method"] in family for cell in majority),
            "cells": len(splits) * len(family),
            "equal_class_cells": len(tested),
            "attainable": sum(cell["as_one"] for cell in tested),
            "attainable_as_mean": sum(cell["as_mean"] for cell in tested),
        }
    return {"majority": majority, "attainable": attainable, "counts": counts}


def _is_fraction(value: float, n: int) -> bool:
    return abs(100 * round(value * n / 100) / n - value) <= HALF


# ---- the table


def request(bench: Benchmark) -> Request:
    """No run: it is about the paper's own numbers."""
    return Request()


def build(results: Results | None) -> TableDocument:
    """The evidence as a table: one row per telling cell of the paper."""
    evidence = metric_problem()
    rows, cells = [], {}
    for name, part in (("majority", "majority"), ("equal", "attainable")):
        for cell in evidence[part]:
            key = f"{name}/{cell['dataset']}/{cell['method']}"
            labels = [dataset_label(cell["dataset"]), tabular_label(cell["method"])]
            rows.append(Row(key, labels))
            cells[key] = _cells(cell)
    return TableDocument(
        caption=_summary(evidence["counts"]),
        row_header=["Dataset", "Method"],
        rows=rows,
        columns=[Column(key, label) for key, label in COLUMNS.items()],
        cells=cells,
        best_along="none",
    )


def _cells(cell: dict[str, Any]) -> dict[str, Cell]:
    n, near = cell["n"], round(cell["value"] * cell["n"] / 100)
    if "rows" in cell:
        finding = f"majority rate {cell['rows']}/{n}"
        constant = cell["constant"]
        beside = f"a constant predictor has {constant:g} %" if constant else ""
    else:
        seeds = 1 if cell["as_one"] else PAPER_SEEDS
        finding = f"attainable as k/{seeds * n}" if cell["as_mean"] else "not attainable"
        beside = f"nearest {near}/{n} = {100 * near / n:.3f}"
    texts = {"finding": finding, "beside": beside, "source": "table 9"}
    paper = {"paper": text_cell(None, cell["value"])}
    return paper | {name: text_cell(text) for name, text in texts.items()}


def _summary(counts: dict[str, dict[str, int]]) -> str:
    ours, others = counts["mlp_tab"], counts["tuned"]
    return (
        f"In the paper's table 7, {ours['majority']} of {ours['cells']} cells of MLP_TAB, OMP, "
        "β-LASSO and IUNET equal the majority-class rate of the test split, where a constant "
        f"predictor's balanced accuracy is far lower; of XGB, TABN and MLP_TAB+C "
        f"{others['majority']} of {others['cells']} do. On small test splits with equal classes, "
        f"{ours['attainable_as_mean']} of {ours['equal_class_cells']} cells of the first four are "
        f"attainable as k/n or as a mean of three, against {others['attainable']} of "
        f"{others['equal_class_cells']} of the other three as k/n. Both fit balanced accuracy with "
        "its arguments swapped: mean precision over the predicted classes."
    )
