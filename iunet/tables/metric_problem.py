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
from iunet.tables.context import Context
from iunet.tables.document import PAPER_SEEDS, Column, Row, TableDocument
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


@dataclass
class TestSplit:
    """What the paper's table 9 tells of a data set's test split: candidates."""

    sizes: list[int]
    majority: dict[int, list[int]]  # rows of the majority class, by size
    equal_classes: bool
    n_classes: int | None  # none if the paper does not tell


def split_facts() -> dict[str, TestSplit]:
    """Per data set of the paper, from its table 9."""
    return {row["dataset"]: _from_paper(row) for row in paper_table(9)}


def _from_paper(row: dict[str, str]) -> TestSplit:
    """The sizes that scikit-learn makes of the implied rows; rates are rounded to 2 decimals."""
    low, high = official_rows(row["dataset"])
    rate, least = float(row["majority_pct"]), float(row["minority_pct"])
    two = 2 if abs(rate + least - 100) < 0.02 else None
    n_classes = round(100 / rate) if rate == least else two
    # Classes of one size divide the number of rows; of the test split only if they divide that too.
    totals = [n for n in range(low, high + 1) if rate != least or n % n_classes == 0]
    sizes = sorted({math.ceil(n / 5) for n in totals or range(low, high + 1)})
    equal = rate == least and all(size % n_classes == 0 for size in sizes)
    majority = {size: _rows_at(rate, size) for size in sizes}
    return TestSplit(sizes, majority, equal, n_classes)


def _rows_at(rate: float, size: int) -> list[int]:
    """The numbers of rows that this rate, of two decimals, can mean in a stratified split."""
    low, high = size * (rate - 0.005) / 100, size * (rate + 0.005) / 100
    return list(range(math.floor(low), math.ceil(high) + 1))


def majority_cells(facts: dict[str, TestSplit]) -> list[dict[str, Any]]:
    """Cells of the paper's table 7 that equal the test split's majority rate, to 3 decimals.

    `rows` of `n` are the majority class, `constant` is a constant predictor's balanced accuracy.
    """
    found = []
    for (dataset, method), (value, _) in paper_table7().items():
        split = facts[dataset]
        pairs = [(k, n) for n, rows in split.majority.items() for k in rows]
        hits = [(k, n) for k, n in pairs if abs(100 * k / n - value) <= HALF]
        if hits and not split.equal_classes:
            k, n = hits[0] if len(hits) == 1 else _likeliest(hits, dataset)
            cell = {"dataset": dataset, "method": method, "value": value, "rows": k, "n": n}
            found.append(cell | {"constant": 100 / split.n_classes if split.n_classes else None})
    return found


def _likeliest(hits: list[tuple[int, int]], dataset: str) -> tuple[int, int]:
    """Of several k/n that round to the value, the one nearest the rate that table 9 gives."""
    rate = next(float(r["majority_pct"]) for r in paper_table(9) if r["dataset"] == dataset)
    return min(hits, key=lambda hit: (abs(100 * hit[0] / hit[1] - rate), -hit[1]))


def attainable_cells(facts: dict[str, TestSplit]) -> list[dict[str, Any]]:
    """Every cell of the paper on small test splits with equal classes: can it be k/n at all?

    `as_one` is k/n for some k, `as_mean` k/3n: the mean of 3 seeds.
    """
    found = []
    for (dataset, method), (value, _) in paper_table7().items():
        split = facts[dataset]
        if split.equal_classes and max(split.sizes) <= FEW:
            n = split.sizes[0]
            cell = {"dataset": dataset, "method": method, "value": value, "n": n}
            cell["as_one"] = _is_fraction(value, n)
            found.append(cell | {"as_mean": _is_fraction(value, PAPER_SEEDS * n)})
    return found


def _is_fraction(value: float, n: int) -> bool:
    return abs(100 * round(value * n / 100) / n - value) <= HALF


def metric_problem() -> dict[str, Any]:
    """The evidence: the cells, and the counts of both families of columns."""
    facts = split_facts()
    majority, attainable = majority_cells(facts), attainable_cells(facts)
    counts = {}
    families = {"mlp_tab": [m for m in METHODS if m not in LEARNERS], "tuned": list(LEARNERS)}
    for name, family in families.items():
        tested = [cell for cell in attainable if cell["method"] in family]
        counts[name] = {
            "majority": sum(cell["method"] in family for cell in majority),
            "cells": len(facts) * len(family),
            "equal_class_cells": len(tested),
            "attainable": sum(cell["as_one"] for cell in tested),
            "attainable_as_mean": sum(cell["as_mean"] for cell in tested),
        }
    return {"majority": majority, "attainable": attainable, "counts": counts}


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


def request(bench: Benchmark) -> Request:
    """No run: it is about the paper's own numbers."""
    return Request()


def build(results: Results | None, context: Context) -> TableDocument:
    """The evidence as a table: one row per telling cell of the paper."""
    evidence = metric_problem()
    lines = {("majority", *_place(cell)): _of_majority(cell) for cell in evidence["majority"]}
    lines |= {("equal", *_place(cell)): _of_fraction(cell) for cell in evidence["attainable"]}
    cells = {
        "/".join(key): {"paper": text_cell(None, value)}
        | {name: text_cell(texts[name]) for name in ("finding", "beside", "source")}
        for key, (value, texts) in lines.items()
    }
    return TableDocument(
        caption=_summary(evidence["counts"]),
        row_header=["Dataset", "Method"],
        rows=[Row("/".join(key), [dataset_label(key[1]), tabular_label(key[2])]) for key in lines],
        columns=[Column(key, label) for key, label in COLUMNS.items()],
        cells=cells,
        best_along="none",
    )


def _place(cell: dict[str, Any]) -> tuple[str, str]:
    return cell["dataset"], cell["method"]


def _of_majority(cell: dict[str, Any]) -> tuple[float, dict[str, str]]:
    constant = cell["constant"]
    return cell["value"], {
        "finding": f"majority rate {cell['rows']}/{cell['n']}",
        "beside": f"a constant predictor has {constant:g} %" if constant else "",
        "source": "table 9",
    }


def _of_fraction(cell: dict[str, Any]) -> tuple[float, dict[str, str]]:
    n, near = cell["n"], round(cell["value"] * cell["n"] / 100)
    fraction = f"k/{n}" if cell["as_one"] else f"k/{PAPER_SEEDS * n}" if cell["as_mean"] else None
    return cell["value"], {
        "finding": f"attainable as {fraction}" if fraction else "not attainable",
        "beside": f"nearest {near}/{n} = {100 * near / n:.3f}",
        "source": "table 9",
    }
