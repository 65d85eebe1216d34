"""What a config costs, before anything runs: jobs and hours per table, figure and experiment.

    python -m iunet.cost [FILE ...] [--configfile FILE] [--config KEY=VALUE] [--remaining]
    make cost ARGS="…"

Hours are the estimate by which jobs ask for time (iunet/machine/resources.py), without its margins.
The jobs are those of the lineage (iunet/runs/lineage.py). A job that several tables share counts in
each of them, and once in the total.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from iunet.errors import UserError
from iunet.figures.catalog import declared_figures
from iunet.runs import paths
from iunet.runs.costs import Costs
from iunet.runs.entries import Benchmark
from iunet.runs.lineage import Job, Lineage
from iunet.runs.overlays import merged_config
from iunet.runs.validate import validate
from iunet.shown import Shown, whole_lineage
from iunet.tables.catalog import declared_tables

COLUMNS = f"{'':26}{'jobs':>8}{'GPU-hours':>11}{'CPU-hours':>11}{'longest':>12}{'memory':>10}"


@dataclass
class Sum:
    """Of some jobs: how many, how long one after the other, and the largest among them."""

    jobs: int = 0
    seconds: float = 0.0
    longest_s: float = 0.0
    mem_mb: float = 0.0
    gpu_s: float = 0.0

    def row(self, name: str) -> str:
        gpu, cpu = self.gpu_s / 3600, (self.seconds - self.gpu_s) / 3600
        times = f"{gpu:11,.2f}{cpu:11,.2f}{self.longest_s / 3600:10.2f} h"
        return f"{name:26}{self.jobs:8,}{times}{self.mem_mb / 1000:7.1f} GB"


class Estimate:
    """Sums over jobs of a benchmark."""

    def __init__(self, bench: Benchmark, remaining: bool = False):
        self.bench, self.remaining = bench, remaining
        self.shown = Shown(bench)
        self.lineage: Lineage = whole_lineage(self.shown)
        self.costs = Costs(bench)

    def jobs(self, last: Iterable[Job]) -> list[Job]:
        """These jobs and all before them, each once."""
        found: dict[Job, None] = {}
        todo = list(last)
        while todo:
            job = todo.pop()
            if job not in found:
                found[job] = None
                todo.extend(job.before)
        return [job for job in found if not (self.remaining and self._is_done(job))]

    def _is_done(self, job: Job) -> bool:
        rule = job.identity["rule"]
        made = paths.OUTPUTS.get(rule) or paths.OUTPUTS[rule.partition("_")[0]]
        return Path(self.bench.path(made[-1], **job.identity["wildcards"])).exists()

    def sum(self, jobs: Iterable[Job]) -> Sum:
        total = Sum()
        for job in jobs:
            rule, point = job.identity["rule"], SimpleNamespace(**job.identity["wildcards"])
            # One worker stands for all of a study's.
            count = self.bench.config["tuning"]["workers"] if rule == "tune" else 1
            total.jobs += count
            if cost := self.costs.of(rule, point):
                total.seconds += count * cost.seconds
                total.gpu_s += count * cost.seconds * self.costs.gpus(rule, point)
                total.longest_s = max(total.longest_s, cost.seconds)
                total.mem_mb = max(total.mem_mb, cost.mem_mb)
        return total

    def shown_jobs(self) -> dict[str, Job]:
        """The jobs of tables and figures, by their names."""
        tables = {name: self.lineage.job("table", table=name) for name in self.shown.tables}
        figures = {name: self.lineage.job("figure", figure=name) for name in self.shown.figures}
        names = {name: f"{name} (figure)" if name in tables else name for name in figures}
        return tables | {names[name]: job for name, job in figures.items()}

    def everything(self) -> list[Job]:
        """The jobs of the rule `all`."""
        return self.jobs([self.lineage.job("page"), self.lineage.job("rows")])


def report(estimate: Estimate, files: Iterable[str] = ()) -> str:
    """The whole as text; with files, of what these need."""
    last = [_maker(estimate, file) for file in files]
    jobs = estimate.jobs(last) if last else estimate.everything()
    lines = []
    if not last:
        lines += ["per table and figure, with all it depends on", COLUMNS]
        for name, job in estimate.shown_jobs().items():
            behind = estimate.jobs([job])
            if any("network" in j.identity["wildcards"] for j in behind):
                lines.append(estimate.sum(behind).row(name))
        lines.append("")
    lines += ["per rule", COLUMNS]
    rules: dict[str, list[Job]] = {}
    for job in jobs:
        rules.setdefault(job.identity["rule"], []).append(job)
    lines += [estimate.sum(rules[rule]).row(rule) for rule in sorted(rules)]
    total = estimate.sum(jobs)
    lines += ["", total.row("total")]
    if total.gpu_s:
        lines.append("The GPU's speed is assumed, not measured.")
    else:
        threads = estimate.bench.config["train"]["threads"]
        lines.append(f"CPU-hours with train.threads = {threads}; with a GPU: --device cuda.")
    return "\n".join(lines)


def _maker(estimate: Estimate, file: str) -> Job:
    if (job := estimate.lineage.maker(file)) is None:
        raise UserError(f"No rule makes the file {file}.")
    return job


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="what is asked for; without one, everything")
    parser.add_argument("--configfile", action="append", default=[], help="overlay; repeatable")
    parser.add_argument("--config", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="other than the config says")
    parser.add_argument("--remaining", action="store_true", help="leave out what is there already")
    arguments = parser.parse_args()
    changes = [*arguments.config, *([f"device={arguments.device}"] if arguments.device else [])]
    try:
        config: dict[str, Any] = merged_config(arguments.configfile, changes)
        bench = validate(config, declared_tables() | declared_figures())
        print(report(Estimate(bench, arguments.remaining), arguments.files))
    except UserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
