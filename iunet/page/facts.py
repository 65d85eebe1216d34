"""Run facts from the outside world: git, the newest artifact, Snakemake's benchmark files."""

from __future__ import annotations

import datetime
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iunet.machine.job_times import job_times


@dataclass
class RunFacts:
    """What was run, where, and with which code."""

    config_name: str  # e.g. config/demo.yaml
    config: dict[str, Any]  # the whole config, shown as text and beside the decisions
    seeds: list[int] = field(default_factory=list)
    budgets: dict[str, str] = field(default_factory=dict)  # method → "40 trials per hyperparameter"
    machine: dict[str, str] = field(default_factory=dict)  # "CPU" → "2 cores, x86_64"
    versions: dict[str, str] = field(default_factory=dict)  # package → version
    commit: str | None = None
    dirty: bool | None = None  # files of the project differ from the commit
    newest_artifact: str | None = None  # ISO date: the page has no clock of its own
    jobs: dict[str, dict[str, float]] = field(default_factory=dict)  # rule → {"jobs", "seconds"}


def collect_facts(
    config_name: str,
    config: dict[str, Any],
    project: str | Path,
    artifacts: Iterable[str | Path],
    evaluations: Iterable[dict[str, Any]] = (),
    benchmarks: str | Path | None = None,
) -> RunFacts:
    """The facts of a run: `evaluations` are the contents of the runs' evaluation.json."""
    commit, dirty = git_state(project)
    machine, versions = environments(evaluations)
    return RunFacts(
        config_name=config_name,
        config=config,
        seeds=list(config.get("seeds", [])),
        budgets=budgets(config),
        machine=machine,
        versions=versions,
        commit=commit,
        dirty=dirty,
        newest_artifact=newest(artifacts),
        jobs=job_times(benchmarks) if benchmarks else {},
    )


def git_state(project: str | Path) -> tuple[str | None, bool | None]:
    """The commit, and whether files differ from it; both None outside of a git repository."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(project), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "HEAD"), bool(git("status", "--porcelain"))
    except (OSError, subprocess.CalledProcessError):
        return None, None


def newest(paths: Iterable[str | Path]) -> str | None:
    """The time of the newest file, in UTC to the minute."""
    times = [Path(path).stat().st_mtime for path in paths if Path(path).exists()]
    if not times:
        return None
    moment = datetime.datetime.fromtimestamp(max(times), tz=datetime.UTC)
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def environments(evaluations: Iterable[dict[str, Any]]) -> tuple[dict[str, str], dict[str, str]]:
    """Devices and versions over all runs; where they differ, each with the runs that it made."""
    machine: dict[str, Counter[str]] = {}
    versions: dict[str, Counter[str]] = {}
    for evaluation in evaluations:
        environment = evaluation.get("environment", {})
        for key in ("device", "device_type", "cpu", "threads", "platform"):
            if key in environment:
                machine.setdefault(key.replace("_", " "), Counter())[str(environment[key])] += 1
        for package, version in environment.get("versions", {}).items():
            versions.setdefault(package, Counter())[str(version)] += 1
    return tuple(
        {key: _with_runs(found) for key, found in sorted(facts.items())}
        for facts in (machine, versions)
    )


def _with_runs(found: Counter[str]) -> str:
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(
        f"{value} ({runs} run{'s' * (runs > 1)})" for value, runs in sorted(found.items())
    )


def budgets(config: dict[str, Any]) -> dict[str, str]:
    """The tuned baselines' budgets in words."""
    return {
        method: f"{budget['trials']} trials per {budget.get('per', 'study')}"
        for method, budget in config.get("tuning", {}).items()
        if isinstance(budget, dict) and "trials" in budget
    }
