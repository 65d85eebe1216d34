"""Facts of a run: its code, machine, newest artifact and times, and what its config scales down."""

from __future__ import annotations

import datetime
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iunet.labels import dataset_label
from iunet.machine.job_times import job_times
from iunet.results.scale import config_value, scaled_down
from iunet.runs.settings import Config

Facts = dict[str, Any]
LEARNING_RATE = ("train.supernet.optimiser.lr", 0.001)  # of supernets, in the paper
MACHINE = ("device", "device_type", "cpu", "threads", "platform")


def collect_facts(
    run: dict[str, Any],
    project: Path,
    artifacts: Iterable[str],
    evaluations: Iterable[dict[str, Any]],
) -> Facts:
    """What was run, where, and with which code.

    `evaluations` are the contents of the runs' evaluation.json. The page has no clock of its own:
    its date is that of the newest artifact.
    """
    commit, dirty = git_state(project)
    machine, versions = environments(evaluations)
    return {
        "config_name": run["config_name"],  # e.g. config/demo.yaml
        "config": run["config"],
        "budgets": budgets(run["config"]),
        "machine": machine,
        "versions": versions,
        "commit": commit,
        "dirty": dirty,
        "newest_artifact": newest(artifacts),
        "jobs": job_times(run["benchmarks"]),  # by rule: jobs and seconds
    }


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
    """Devices and versions over all runs."""
    found = [evaluation.get("environment", {}) for evaluation in evaluations]
    machines = [{key.replace("_", " "): e[key] for key in MACHINE if key in e} for e in found]
    return _counted(machines), _counted(e.get("versions", {}) for e in found)


def _counted(facts_of_runs: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Facts by name; where runs differ, each value with how many runs have it."""
    counts: dict[str, Counter[str]] = {}
    for facts in facts_of_runs:
        for name, value in facts.items():
            counts.setdefault(name, Counter())[str(value)] += 1
    texts = {}
    for name, values in sorted(counts.items()):
        each = [f"{value} ({n} run{'s' * (n > 1)})" for value, n in sorted(values.items())]
        texts[name] = "; ".join(each) if len(each) > 1 else next(iter(values))
    return texts


def budgets(config: dict[str, Any]) -> dict[str, str]:
    """The tuned baselines' budgets in words: "40 trials per hyperparameter"."""
    return {
        method: f"{budget['trials']} trials per {budget.get('per', 'study')}"
        for method, budget in config.get("tuning", {}).items()
        if isinstance(budget, dict) and "trials" in budget
    }


def heading(config: Config) -> tuple[str, str]:
    """The page's title and the line below it: what kind of run this is."""
    if own := config["own"]:
        title = f"Which method is best on {Path(own).name}?"
        return title, "The paper's methods and its rivals, trained and tested on your data."
    if notice(config):
        lead = "A part of the paper's benchmark, with smaller settings: a study of its claims, not"
        return "IUNET, scaled down", f"{lead} a reproduction of its tables."
    lead = "The paper's benchmark, run again: every table and figure, with the paper's own numbers."
    return "IUNET, regenerated", lead


def notice(config: Config) -> list[str]:
    """How a run differs from the paper's: first the fact, then what stands in, what is smaller."""
    pairs = [f"{ours} for {dataset_label(name)}" for name, ours in config["stand_ins"].items()]
    small = dict.fromkeys(text for texts in scaled_down(config).values() for text in texts)
    key, papers = LEARNING_RATE
    if (rate := config_value(config, key)) != papers:
        small[f"learning rate of supernets {rate} ({papers})"] = None
    texts = [f"Data sets that stand in for the paper's: {', '.join(pairs)}."] * bool(pairs)
    if small:
        texts.append(f"Different from the paper (its value in brackets): {'; '.join(small)}.")
    return ["This run is not at the paper's scale.", *texts] if texts else []
