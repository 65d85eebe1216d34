"""Jobs and seconds of every rule, from the benchmark files that Snakemake leaves.

python -m iunet.machine.job_times results/demo
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

FOLDERS = {"report": "page"}  # folders of benchmarks whose name is not the rule's or the stage's


def job_times(folder: str | Path) -> dict[str, dict[str, float]]:
    """By rule for runs; by stage (download, split, tables, figures) for the rest."""
    rules: dict[str, dict[str, float]] = {}
    for path in sorted(Path(folder).rglob("*.tsv")):
        first = path.relative_to(folder).parts[0]
        name = FOLDERS.get(first, first)
        if first == "runs":  # `choose` of `choose-iunet`, `tune` of `worker0`
            name = re.sub(r"^worker\d+$", "tune", path.stem).split("-")[0]
        rule = rules.setdefault(name, {"jobs": 0, "seconds": 0.0})
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                rule["jobs"] += 1
                rule["seconds"] += float(row["s"])
    return dict(sorted(rules.items()))


if __name__ == "__main__":
    times = job_times(Path(sys.argv[1]) / "benchmarks")
    print(f"{'rule':20}{'jobs':>6}{'seconds':>10}{'each':>8}")
    for rule, entry in sorted(times.items(), key=lambda item: -item[1]["seconds"]):
        jobs, seconds = entry["jobs"], entry["seconds"]
        print(f"{rule:20}{jobs:6}{seconds:10.1f}{seconds / jobs:8.1f}")
    jobs, seconds = (sum(entry[key] for entry in times.values()) for key in ("jobs", "seconds"))
    print(f"{'total':20}{jobs:6}{seconds:10.1f}   (sum over all jobs; some ran at the same time)")
