"""What each job costs beside the training itself: imports, loading, writing.

Reads a finished results root: Snakemake's wall time of every job, less the seconds of training that
its report names.

    python benchmarks/job_overhead.py results/demo
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

REPORTS = {"supernet": "supernet.json", "finetune": "finetune.json", "train_dense": "finetune.json"}


def wall_seconds(benchmark: Path) -> float:
    header, values = (line.split("\t") for line in benchmark.read_text().splitlines()[:2])
    return float(dict(zip(header, values, strict=True))["s"])


def training_seconds(root: Path, benchmark: Path) -> float:
    name = REPORTS.get(benchmark.stem)
    if name is None:
        return 0.0
    folder = root / benchmark.parent.relative_to(root / "benchmarks")
    return json.loads((folder / name).read_text())["times"]["training_s"]


def main() -> None:
    root = Path(sys.argv[1])
    jobs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for benchmark in sorted((root / "benchmarks").rglob("*.tsv")):
        stage = benchmark.relative_to(root / "benchmarks").parts[0]
        rule = benchmark.stem.split("-")[0] if stage == "runs" else stage
        jobs[rule].append((wall_seconds(benchmark), training_seconds(root, benchmark)))
    print(f"{'rule':14}{'jobs':>6}{'wall s':>9}{'training s':>12}{'overhead s':>12}   (medians)")
    for rule, times in jobs.items():
        wall, training = (statistics.median(column) for column in zip(*times, strict=True))
        overhead = statistics.median(a - b for a, b in times)
        print(f"{rule:14}{len(times):6}{wall:9.2f}{training:12.2f}{overhead:12.2f}")


if __name__ == "__main__":
    main()
