"""What this machine cannot do, said when a run is planned and not by its first training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from iunet.errors import UserError
from iunet.runs.costs import Costs
from iunet.runs.settings import Config, learner_threads

TIMES = 2  # the memory there is; an estimate below may be wrong, one above is not
LONG_S = 7 * 24 * 3600  # of one job


def check_threads(config: Config, cores: int, learners: Iterable[str], trains: bool) -> None:
    """A job gets no more threads than there are cores; with fewer, its sums would be others."""
    asked = {"train.threads": config["train"]["threads"]} if trains else {}
    asked |= {f"tuning.{name}.threads": learner_threads(config, name) for name in learners}
    for key, threads in asked.items():
        if threads > cores:
            raise UserError(
                f"The config key '{key}' is {threads}, but there are {cores} cores: start "
                f"snakemake with --cores {threads} or more, on a machine that has them, or lower "
                "the key."
            )


def check_sizes(jobs: Iterable[tuple[str, Any]], costs: Costs, memory: float) -> list[str]:
    """Refuse a job that cannot fit into the memory; sentences on those that take very long.

    `jobs` are rules and wildcards; each is looked at once for a data set and a network.
    """
    told, seen = [], set()
    for rule, point in jobs:
        network = getattr(point, "network", None) or getattr(point, "learner", None)
        if network is None or not hasattr(point, "dataset"):
            continue
        if (rule, point.dataset, network) in seen:
            continue
        seen.add((rule, point.dataset, network))
        cost = costs.of(rule, point)
        what = f"The job {rule} of {network} on '{point.dataset}'"
        if cost and cost.mem_mb > TIMES * memory:
            raise UserError(
                f"{what} needs about {cost.mem_mb / 1024:.0f} GiB of memory, but there are "
                f"{memory / 1024:.0f} GiB here. Make the network smaller (the config key "
                f"'networks.{network.partition('-')[0]}'), or run it elsewhere."
            )
        if cost and cost.seconds > LONG_S:
            told.append(f"{what} will take about {cost.seconds / 86400:.0f} days here.")
    return told
