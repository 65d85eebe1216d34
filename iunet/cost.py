"""What a config costs, before anything runs: jobs and hours per table, figure and experiment.

    python -m iunet.cost [--configfile config/demo.yaml] [--remaining] [TARGET ...]
    make cost

Hours are the estimate by which jobs ask for time (iunet/machine/resources.py), without its margins.
The jobs are those of Snakemake's own plan, so the two cannot disagree; a job that several tables
share counts in each of them, and once in the total.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iunet.data.registry import read_registry
from iunet.machine.allocation import cores
from iunet.machine.speeds import speeds_file
from iunet.runs.costs import Costs
from iunet.runs.entries import Benchmark
from iunet.runs.validate import unavailable
from iunet.tables.catalog import fixed_pairs

ROOT = Path(__file__).resolve().parents[1]
SNAKEFILE, PROFILE = ROOT / "Snakefile", ROOT / "profiles" / "slurm" / "config.yaml"
HEADS = f"{'GPU-hours':>11}{'CPU-hours':>11}{'longest':>10}{'memory':>10}"
COLUMNS = f"{'':26}{'jobs':>8}{'submitted':>11}{HEADS}"


@dataclass
class Sum:
    """Of some jobs: how many, how long one after the other, and the largest among them."""

    jobs: int = 0
    submissions: set[Any] = field(default_factory=set)  # groups and single jobs
    seconds: float = 0.0
    longest_s: float = 0.0
    mem_mb: float = 0.0
    gpu_s: float = 0.0

    def add(self, cost: Any, submission: Any, on_gpu: bool) -> None:
        self.jobs += 1
        if submission is not None:
            self.submissions.add(submission)
        if cost is not None:
            self.seconds += cost.seconds
            self.longest_s = max(self.longest_s, cost.seconds)
            self.mem_mb = max(self.mem_mb, cost.mem_mb)
            self.gpu_s += cost.seconds if on_gpu else 0.0

    def row(self, name: str) -> str:
        hours = [seconds / 3600 for seconds in (self.gpu_s, self.seconds - self.gpu_s)]
        times = f"{hours[0]:11,.2f}{hours[1]:11,.2f}{self.longest_s / 3600:10.2f}"
        numbers = f"{self.jobs:8,}{len(self.submissions):11,}{times}"
        return f"{name:26}{numbers}{self.mem_mb / 1000:7.1f} GB"


def load_workflow(
    configfiles: list[Path], targets: list[str], forced: bool, changes: dict[str, Any]
) -> Any:
    """Snakemake's workflow with its graph of jobs, as `snakemake -n --profile profiles/slurm`.

    There is no public way to ask Snakemake for the graph: this is what its command does.
    """
    from snakemake.api import Workflow  # isort: skip  (first: the modules import each other in a circle)
    from snakemake.logging import LoggerManager, logger
    from snakemake.settings import types as settings
    from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

    workflow = Workflow(
        config_settings=settings.ConfigSettings(configfiles=configfiles, config=changes),
        resource_settings=settings.ResourceSettings(cores=cores(), nodes=1),
        workflow_settings=settings.WorkflowSettings(),
        logger_manager=LoggerManager(logger, settings.OutputSettings()),
        storage_settings=settings.StorageSettings(),
        dag_settings=settings.DAGSettings(targets=set(targets), forceall=forced),
        group_settings=settings.GroupSettings(group_components=group_components()),
        deployment_settings=settings.DeploymentSettings(),
        storage_provider_settings={},
    )
    logger.setLevel("ERROR")
    workflow._executor_plugin = ExecutorPluginRegistry().get_plugin("dryrun")  # else no groups
    workflow.include(str(SNAKEFILE), overwrite_default_target=True)
    workflow._prepare_dag(forceall=forced, ignore_incomplete=True, lock_warn_only=True, nolock=True)
    workflow._build_dag()
    workflow.execution_settings = settings.ExecutionSettings()
    workflow.dag.update_groups()
    return workflow


def group_components() -> dict[str, int]:
    """How many parcels of a group the slurm profile submits as one."""
    import yaml

    entries = yaml.safe_load(PROFILE.read_text(encoding="utf-8"))["group-components"]
    return {name: int(n) for name, n in (entry.split("=") for entry in entries)}


def ancestors(dag: Any, jobs: Iterable[Any]) -> set[Any]:
    """The jobs, and all that they depend on."""
    found, todo = set(), list(jobs)
    while todo:
        job = todo.pop()
        if job not in found:
            found.add(job)
            todo.extend(dag.dependencies[job])
    return found


def sums(workflow: Any, bench: Benchmark, costs: Costs) -> tuple[dict[str, Sum], ...]:
    """Per table, figure or experiment, per rule, and of everything (under `total`)."""
    dag = workflow.dag
    needed = [job for job in dag.jobs if dag.needrun(job) and not job.rule.norun]
    of_job = {job: costs.of(job.rule.name, job.wildcards) for job in needed}
    on_gpu = {job: "gpu" in job.rule.resources and costs.on_gpu(job.wildcards) for job in needed}
    here = workflow._localrules
    submissions = {
        job: None if job.rule.name in here else dag.get_job_group(job) or job for job in needed
    }
    total, per_rule = Sum(), {}
    for job in needed:
        for entry in (total, per_rule.setdefault(job.rule.name, Sum())):
            entry.add(of_job[job], submissions[job], on_gpu[job])
    makers = {str(file): job for job in dag.jobs for file in job.output}
    per_entry = {}
    for key in bench.entries():
        cells = [cell for cell in bench.cells_of(key) if cell.dataset not in bench.unavailable]
        files = dict.fromkeys(path for cell in cells for path in bench.results_of(cell))
        per_entry[key] = entry = Sum()
        for job in ancestors(dag, (makers[file] for file in files if file in makers)):
            if job in of_job:
                entry.add(of_job[job], submissions[job], on_gpu[job])
    return per_entry, per_rule, {"total": total}


def report(workflow: Any) -> str:
    config = workflow.globals["config"]  # Snakemake's own, as the Snakefile has checked it
    registry = read_registry(config["data"]["registry"])
    away = unavailable(registry, config["data"]["mirror"])
    bench = Benchmark(config, registry, away, fixed_pairs())
    costs = Costs(bench)
    per_entry, per_rule, whole = sums(workflow, bench, costs)
    total = whole["total"]
    lines = ["per table, figure or experiment, with all it depends on", COLUMNS]
    lines += [entry.row(name) for name, entry in per_entry.items()]
    lines += ["", "per rule", COLUMNS]
    lines += [entry.row(name) for name, entry in sorted(per_rule.items())]
    lines += ["", total.row("total")]
    measured = speeds_file()
    if measured is not None:
        lines.append(f"Speeds are those that `make calibrate` has measured ({measured}).")
    elif total.gpu_s:
        lines.append("The GPU's speed is assumed, not measured: `make calibrate` measures it.")
    if not total.gpu_s:
        threads = config["train"]["threads"]
        lines.append(f"CPU-hours with train.threads = {threads}; with a GPU: --device cuda.")
    lines.append("submitted: jobs for a scheduler, after grouping. Limits asked for are higher.")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", help="files or rules; without one, everything")
    parser.add_argument(
        "--configfile", action="append", default=[], help="overlay; may be repeated"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), help="other than the config says")
    parser.add_argument("--remaining", action="store_true", help="leave out what is there already")
    arguments = parser.parse_args()
    from snakemake.exceptions import MissingRuleException

    overlays = [Path(path).resolve() for path in arguments.configfile]
    for path in overlays:
        if not path.is_file():
            sys.exit(f"There is no config file {path}.")
    changes = {"device": arguments.device} if arguments.device else {}
    try:
        workflow = load_workflow(overlays, arguments.targets, not arguments.remaining, changes)
    except MissingRuleException as error:
        sys.exit(f"{error} To name a second overlay, repeat --configfile.")
    print(report(workflow))


if __name__ == "__main__":
    main()
