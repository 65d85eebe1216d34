"""The workflow's plan without a process of its own: what `snakemake -n` would list, as objects."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]


class Plan:
    """The jobs that would run, by rule, and the workflow behind them."""

    def __init__(self, workflow: Any):
        dag = workflow.dag
        self.workflow = workflow
        self.jobs = [job for job in dag.jobs if dag.needrun(job)]
        self.counts = Counter(job.rule.name for job in self.jobs)
        self.counts["total"] = len(self.jobs)

    @property
    def outputs(self) -> set[str]:
        return {str(path) for job in self.jobs for path in job.output}

    def job(self, rule: str) -> Any:
        """The only job of a rule."""
        (found,) = [job for job in self.jobs if job.rule.name == rule]
        return found


def rerun_triggers() -> frozenset[Any]:
    """As the command finds them in profiles/default."""
    from snakemake.settings.enums import RerunTrigger

    profile = yaml.safe_load((ROOT / "profiles" / "default" / "config.yaml").read_text())
    return frozenset(map(RerunTrigger.parse_choice, profile["rerun-triggers"]))


def load(
    folder: Path,
    configfiles: tuple[str, ...] = (),
    config: dict[str, Any] = {},  # noqa: B006
    nodes: int | None = None,
) -> Any:
    """The workflow in that folder, parsed."""
    from snakemake.api import Workflow  # isort: skip  (first: the modules import each other in a circle)
    from snakemake.logging import LoggerManager, logger
    from snakemake.settings import types as settings
    from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

    with contextlib.chdir(folder):
        workflow = Workflow(
            config_settings=settings.ConfigSettings(
                configfiles=[(folder / path).resolve() for path in configfiles], config=config
            ),
            resource_settings=settings.ResourceSettings(cores=os.cpu_count(), nodes=nodes),
            workflow_settings=settings.WorkflowSettings(),
            logger_manager=LoggerManager(logger, settings.OutputSettings()),
            storage_settings=settings.StorageSettings(),
            dag_settings=settings.DAGSettings(rerun_triggers=rerun_triggers()),
            deployment_settings=settings.DeploymentSettings(),
            group_settings=settings.GroupSettings(),
            storage_provider_settings={},
        )
        logger.setLevel("ERROR")
        workflow._executor_plugin = ExecutorPluginRegistry().get_plugin("dryrun")
        workflow.include(str(ROOT / "Snakefile"), overwrite_default_target=True)
    return workflow


def plan(
    folder: Path,
    *targets: str,
    configfiles: tuple[str, ...] = (),
    config: dict[str, Any] = {},  # noqa: B006
) -> Plan:
    """What would run for these targets (files or rules; without one, everything)."""
    workflow = load(folder, configfiles, config)
    workflow.dag_settings.targets = set(targets)
    with contextlib.chdir(folder):
        workflow._prepare_dag(
            forceall=False, ignore_incomplete=True, lock_warn_only=True, nolock=True
        )
        workflow._build_dag()
    return Plan(workflow)
