"""What a config costs, before anything runs: jobs and hours per table, figure and experiment.

    python -m iunet.cost [FILE ...] [--configfile FILE ...] [--config KEY=VALUE ...] [--remaining]
    make cost ARGS="…"

Hours are the estimates of iunet/machine/resources.py, without the margins of what jobs ask for. If
trainings of a network have finished on the same kind of device, their times scale its estimates.
The jobs are those of the lineage (iunet/runs/lineage.py). A job that several tables share counts in
each of them, and once in the total.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.machine.resources import SPEEDS
from iunet.runs import paths
from iunet.runs.costs import Costs
from iunet.runs.entries import Benchmark
from iunet.runs.lineage import Job, with_all_before
from iunet.runs.names import base_network
from iunet.runs.overlays import merged_config
from iunet.shown import Shown, benchmark

COLUMNS = {  # of a sum of jobs: how each is made and shown
    "jobs": ("sum", "{:,.0f}".format),
    "GPU-hours": ("sum", "{:,.2f}".format),
    "CPU-hours": ("sum", "{:,.2f}".format),
    "longest": ("max", "{:.2f} h".format),
    "memory": ("max", "{:.1f} GB".format),
}
HOW = {name: how for name, (how, _) in COLUMNS.items()}
TRAININGS = ("supernet", "finetune", "train_dense")


class Estimate:
    """The jobs of a benchmark, and what they cost."""

    def __init__(self, bench: Benchmark, remaining: bool = False, shown: Shown | None = None):
        self.bench, self.remaining = bench, remaining
        self.shown = shown or Shown(bench)
        self.lineage = self.shown.lineage
        self.costs = Costs(bench)
        self.finished = self._finished()
        sums = self.finished.groupby(["rule", "network"])[["took", "estimated"]].sum()
        self.factors = (sums["took"] / sums["estimated"]).to_dict()

    def jobs(self, last: Iterable[Job]) -> list[Job]:
        """These jobs and all before them; with `remaining`, those that are not done."""
        jobs = with_all_before(last)
        return [job for job in jobs if not (self.remaining and self._is_done(job))]

    def _is_done(self, job: Job) -> bool:
        rule = job.identity["rule"]
        made = paths.OUTPUTS.get(rule) or paths.OUTPUTS[rule.partition("_")[0]]
        return Path(self.bench.path(made[-1], **job.identity["wildcards"])).exists()

    def everything(self) -> list[Job]:
        """The jobs of the rule `all`."""
        return self.jobs(self._last())

    def _last(self) -> list[Job]:
        return [self.lineage.job("page"), self.lineage.job("rows")]

    def _finished(self) -> pd.DataFrame:
        """Seconds of the finished trainings that ran on the device they would have here."""
        rows = []
        for job in with_all_before(self._last()):
            rule, point = job.identity["rule"], SimpleNamespace(**job.identity["wildcards"])
            if rule not in TRAININGS or not self._is_done(job):
                continue
            report = self.bench.path(paths.OUTPUTS[rule][-1], **vars(point))
            network = base_network(point.network)
            device = self.costs.devices[network]
            with contextlib.suppress(UserError, KeyError):  # a damaged report
                made = read_json(report)
                if made["environment"]["device_type"] == device:
                    took = made["times"]["total_s"] + SPEEDS[device].start_s
                    rows.append((rule, network, took, self.costs.of(rule, point).seconds))
        return pd.DataFrame(rows, columns=["rule", "network", "took", "estimated"])

    def makers(self, files: Iterable[str]) -> list[Job]:
        found = {file: self.lineage.maker(file) for file in files}
        for file, job in found.items():
            if job is None:
                raise UserError(f"No rule makes the file {file}. Name a file below the results.")
        return list(found.values())

    def frame(self, jobs: Iterable[Job]) -> pd.DataFrame:
        """A row for each job; a study's workers are one row."""
        rows = []
        for job in jobs:
            rule, point = job.identity["rule"], SimpleNamespace(**job.identity["wildcards"])
            count = self.bench.config["tuning"]["workers"] if rule == "tune" else 1
            cost = self.costs.of(rule, point)
            hours, memory = (cost.seconds / 3600, cost.mem_mb / 1000) if cost else (0.0, 0.0)
            if hasattr(point, "network"):
                hours *= self.factors.get((rule, base_network(point.network)), 1.0)
            gpu_hours = count * hours if cost and self.costs.gpus(rule, point) else 0.0
            rows.append((rule, count, gpu_hours, count * hours - gpu_hours, hours, memory))
        return pd.DataFrame(rows, columns=["rule", *COLUMNS])

    def hours_in_words(self, planned: Iterable[tuple[str, dict[str, str]]]) -> str:
        """What jobs take, given by rule and wildcards; rules of other workflows do not count."""
        jobs = [
            self.lineage.job(rule, **point)
            for rule, point in planned
            if rule in self.lineage.stages and point.get("worker", "0") == "0"
        ]
        sums = self.frame(jobs)[["GPU-hours", "CPU-hours"]].sum()
        hours = " and ".join(f"{max(n, 0.1):,.1f} {unit}" for unit, n in sums.items() if n)
        return f"Estimated time: {hours}." if hours else ""

    def by_table(self) -> pd.DataFrame:
        """Tables and figures that need runs, with everything they depend on."""
        tables = {name: self.lineage.job("table", table=name) for name in self.shown.tables}
        figures = {
            f"{name} (figure)" if name in tables else name: self.lineage.job("figure", figure=name)
            for name in self.shown.figures
        }
        sums = {}
        for name, job in (tables | figures).items():
            behind = self.jobs([job])
            if any("network" in j.identity["wildcards"] for j in behind):
                sums[name] = self.frame(behind).agg(HOW)
        return pd.DataFrame(sums.values(), index=list(sums), columns=list(COLUMNS))


def report(estimate: Estimate, files: Iterable[str] = ()) -> str:
    """The whole as text; with files, of what these need."""
    last = estimate.makers(files)
    jobs = estimate.frame(estimate.jobs(last) if last else estimate.everything())
    by_rule = jobs.groupby("rule").agg(HOW).rename_axis(None)
    by_rule.loc["total"] = jobs.agg(HOW).fillna(0)
    parts = {"per rule": by_rule}
    if not last:
        parts = {"per table and figure, with all it depends on": estimate.by_table()} | parts
    formats = {name: shown for name, (_, shown) in COLUMNS.items()}
    texts = [
        f"{title}\n{part.to_string(formatters=formats, col_space=10)}\n"
        for title, part in parts.items()
    ]
    if len(estimate.finished):
        factors = [f"{r} {n} × {f:.2f}" for (r, n), f in estimate.factors.items()]
        texts.append(
            f"Scaled by the measured time of {len(estimate.finished)} finished runs on the same "
            f"kind of device (measured over estimated: {', '.join(factors)})."
        )
    if by_rule.loc["total", "GPU-hours"]:
        rest = " of the other networks" if len(estimate.finished) else ""
        texts.append(f"The GPU-hours{rest} rest on an assumed speed: no GPU was measured.")
    else:
        threads = estimate.bench.config["train"]["threads"]
        texts.append(f"CPU-hours are for train.threads = {threads}. For a GPU add --device cuda.")
    return "\n".join(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="results to estimate (default: everything)")
    several = {"action": "extend", "nargs": "+", "default": []}  # as Snakemake takes them
    parser.add_argument("--configfile", **several, metavar="FILE", help="overlays")
    parser.add_argument("--config", **several, metavar="KEY=VALUE")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="instead of the config's device")
    parser.add_argument("--remaining", action="store_true", help="leave out what is finished")
    arguments = parser.parse_args()
    changes = [*arguments.config, *([f"device={arguments.device}"] if arguments.device else [])]
    try:
        config = merged_config(arguments.configfile, changes)
        bench = benchmark(config)
        print(report(Estimate(bench, arguments.remaining), arguments.files))
    except UserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
