"""How far the same runs differ between two processors, beside how far seeds differ.

Reads two runs.csv (`snakemake results/runs.csv`, or a study's), compares the rows that are in both
but were made on different processors. Equal weights and batches, other roundings: if those did not
matter, differences would be 0; if they make another network of it, as large as between two seeds.

    python benchmarks/two_processors.py reports/cpu-study/runs.csv other/runs.csv
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from math import nan, sqrt
from statistics import fmean, variance

from iunet.results.collect import is_tabular
from iunet.results.runs_csv import read_records

RUN = ("dataset", "network", "supernet", "cut", "seed")  # methods may share one


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("one")
    parser.add_argument("other")
    arguments = parser.parse_args()
    one, other = (
        {
            tuple(row[key] for key in RUN): row
            for row in read_records(path)
            if row["processor"] and not row["failed"]
        }
        for path in (arguments.one, arguments.other)
    )
    pairs = [
        (one[key], other[key])
        for key in one
        if key in other and one[key]["processor"] != other[key]["processor"]
    ]
    if not pairs:
        raise SystemExit("No run is in both files with different processors.")
    by_run = defaultdict(list)
    for pair in pairs:
        by_run[" ".join(filter(None, (pair[0]["supernet"], pair[0]["cut"])))].append(pair)
    for machines in sorted({f"{a['processor']} → {b['processor']}" for a, b in pairs}):
        print(machines)
    print("points of the test score of the second less the first")
    print(f"{'':32}{'runs':>6}{'mean':>8}{'r.m.s.':>8}{'of two seeds':>14}")
    for name, found in {**by_run, "all": pairs}.items():
        differences = [score(b) - score(a) for a, b in found]
        typical = sqrt(fmean(d**2 for d in differences))
        print(
            f"{name:32}{len(found):6}{fmean(differences):+8.2f}{typical:8.2f}"
            f"{between_seeds([a for a, _ in found]):14.2f}"
        )


def score(row: dict) -> float:
    return row["test_balanced_accuracy" if is_tabular(row["network"]) else "test_accuracy"]


def between_seeds(rows: list[dict]) -> float:
    """The r.m.s. difference of two seeds of the same method on the same data set."""
    seeds = defaultdict(list)
    for row in rows:
        seeds[*(row[key] for key in RUN[:-1])].append(score(row))
    variances = [variance(values) for values in seeds.values() if len(values) > 1]
    return sqrt(2 * fmean(variances)) if variances else nan


if __name__ == "__main__":
    main()
