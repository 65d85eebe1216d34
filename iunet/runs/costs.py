"""What each job of the workflow will need: the formulas of iunet/machine/resources.py, by rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.data.sizes import Data, data_size
from iunet.machine import resources
from iunet.machine.device import device_of
from iunet.machine.resources import Cost, Epochs
from iunet.method.catalog import FINETUNING, IN_HALF_PRECISION, OBJECTIVES, objective_entry
from iunet.networks.catalog import network_entry
from iunet.runs import settings
from iunet.runs.entries import Benchmark
from iunet.runs.names import base_network

USES_DEVICE = (  # rules that compute on the config's device
    *("supernet", "finetune", "train_dense", "decoder", "tune", "refit"),
    *("evaluate", "evaluate_supernet", "evaluate_dense", "evaluate_tuned"),
)
# Rules that save what they have before their time is up and go on in the next job
# (iunet/machine/time_limit.py). Their time need not grow with the attempt.
RESUMED = ("supernet", "finetune", "train_dense", "tune")


@dataclass(frozen=True)
class Group:
    """Rules: those of their jobs that depend on each other are one submission."""

    name: str
    rules: tuple[str, ...]
    together: int  # how many of these a profile puts into one submission (group-components)
    # A group that is cut off starts again from its beginning, so only short trainings are grouped:
    # these rules together take at most `within_s`.
    trainings: tuple[str, ...] = ()
    within_s: float = math.inf


CUT = ("prune", "finetune", "evaluate")
DENSE = ("train_dense", "evaluate_dense")
SMALL = ("initialise", "supernet", "decoder", "evaluate_supernet", *CUT, *DENSE)
GROUPS = (  # a job is in the first that has its rule and fits (docs/cluster.md)
    Group("splits", ("split_table", "split_images"), 20),
    Group("small", SMALL, 2, ("supernet", "finetune"), 5 * 60),
    Group("initials", ("initialise",), 20),
    Group("cuts", CUT, 2, ("finetune",), 60 * 60),
    Group("cut", ("prune", "finetune"), 1),
    Group("dense", DENSE, 4, ("train_dense",), 60 * 60),
    Group("tuned", ("refit", "evaluate_tuned"), 10),  # a study is a job by itself
)


class Costs:
    """Estimates for the jobs of a benchmark, each on the device that the config gives it."""

    def __init__(self, bench: Benchmark):
        self.bench, self.config = bench, bench.config
        names = {*self.config["networks"], *LEARNERS}
        self.devices = {name: device_of(self.config, name) for name in names}
        self._limit = self.config["cluster"]["max_minutes"]
        self.by_gres = self.config["cluster"]["gres"] or ""
        self._rooms: dict[tuple[Group, str, str | None], float] = {}

    def of(self, rule: str, point: Any) -> Cost | None:
        """Of a job, by its rule and wildcards; None for jobs that need next to nothing."""
        if not hasattr(point, "dataset"):
            return None
        registered, config = self.bench.registry[point.dataset], self.config
        data = data_size(registered, config["results"], config["data"]["mirror"])
        if rule in ("download_table", "download_images"):
            return resources.download_cost(data)
        if rule in ("split_table", "split_images"):
            return resources.split_cost(data)
        if rule in ("choose", "study"):
            return Cost(1, 150)
        if hasattr(point, "learner"):
            return self._of_learner(rule, point, data)
        return self._of_network(rule, point, data)

    def _of_network(self, rule: str, point: Any, data: Data) -> Cost:
        config, name = self.config, base_network(point.network)
        options = settings.network_settings(config, point.network)["options"]
        size, device = network_entry(name).size(options, data), self.devices[name]
        if rule == "initialise":
            return resources.initial_cost(size)
        if rule == "prune":
            return resources.prune_cost(size)
        if rule == "supernet":
            chosen = settings.supernet_settings(config, point)
            epochs = Epochs(chosen["epochs"], chosen["batch_size"])
            objective = objective_entry(chosen["objective"])
            return resources.training_cost(data, size, epochs, objective, device)
        if rule in ("finetune", "train_dense", "decoder"):
            recipe = settings.finetune_settings(config, point)
            half = recipe.get("half_precision") and device == "cuda"
            step = IN_HALF_PRECISION if half else FINETUNING
            if "augment" in recipe:
                step = OBJECTIVES["ilo"]  # at most as dear
            cost = resources.decoder_cost if rule == "decoder" else resources.training_cost
            return cost(data, size, settings.epochs_of(recipe), step, device)
        recipe = settings.finetune_defaults(config, network_entry(name).kind)
        return resources.evaluate_cost(data, size, settings.epochs_of(recipe).members, device)

    def _of_learner(self, rule: str, point: Any, data: Data) -> Cost:
        """A tuned learner: a trial, or a worker's share of all trials."""
        section = self.config["tuning"][point.learner]
        trial = LEARNERS[point.learner].trial_cost(section, data, self.devices[point.learner])
        if rule == "evaluate_tuned":
            return Cost(15, trial.mem_mb)
        if rule == "refit":
            return trial
        budget = settings.study_budget(self.config, point.learner)
        workers = self.config["tuning"]["workers"]
        return resources.tune_cost(budget["trials"], trial, budget["minutes"], workers)

    # ---- what a job asks of a scheduler

    def gpus(self, rule: str, point: Any) -> int:
        """1 for a job whose network or learner computes on a GPU, unless it asks by `gres`."""
        return int(self._computes_on_gpu(rule, point) and not self.by_gres)

    def gpu_mb(self, rule: str, point: Any) -> int:
        """GPU memory that a job takes, for its errors and for `--resources gpu_mb=…`."""
        return math.ceil(self.of(rule, point).gpu_mb) if self._computes_on_gpu(rule, point) else 0

    def largest_on_gpu(self) -> int:
        """The GPU memory of the largest training that is planned."""
        typical = [_typical(*place) for place in {run[:2] for run in self.bench.runs}]
        rules = ("supernet", "finetune")
        return max((self.gpu_mb(rule, point) for point in typical for rule in rules), default=0)

    def _computes_on_gpu(self, rule: str, point: Any) -> bool:
        if rule not in USES_DEVICE:
            return False
        name = getattr(point, "learner", None) or base_network(point.network)
        return self.devices[name] == "cuda"

    def mem_mb(self, rule: str, point: Any, attempt: int) -> int:
        return self.of(rule, point).asked_mem_mb(attempt)

    def minutes(self, rule: str, point: Any, attempt: int) -> int:
        """What a job asks for: more with each attempt, up to the limit of a job.

        A training or study outside a group continues where it was, so its time need not grow. In a
        group it may have met the limit because of the other jobs, which are made again.
        """
        growth = float(attempt)
        if group := self._group(rule, point):
            growth = min(growth, self._room(group, point))
        elif rule in RESUMED:
            growth = 1.0
        return min(self._limit, math.floor(growth * self.of(rule, point).asked_minutes()))

    def group(self, rule: str, point: Any) -> str | None:
        """Which jobs a scheduler gets as one submission; None for a job by itself.

        Jobs of a group must all ask for the same `gres`, so those without form a separate group.
        """
        group = self._group(rule, point)
        if group is None:
            return None
        without = (
            self.by_gres and set(group.rules) & set(USES_DEVICE) and not self.gres(rule, point)
        )
        return f"{group.name}_cpu" if without else group.name

    def gres(self, rule: str, point: Any) -> str:
        """The `gres` of a job, or of its group, if GPUs are not asked for by gpu=1.

        All jobs of a group must have the same text, also those that use no GPU.
        """
        group = self._group(rule, point)
        rules = group.rules if group else [rule]
        return self.by_gres if any(self._computes_on_gpu(r, point) for r in rules) else ""

    def _group(self, rule: str, point: Any) -> Group | None:
        groups = (group for group in GROUPS if rule in group.rules)
        return next((group for group in groups if self._room(group, point) >= 1), None)

    def _room(self, group: Group, point: Any) -> float:
        """How often a submission fits into the limit of a job; 0 if its trainings are too long.

        Computed for a typical run of the job's network or learner on its data set.
        """
        name = getattr(point, "network", None) or getattr(point, "learner", None)
        key = (group, point.dataset, name)
        if key not in self._rooms:
            typical = _typical(point.dataset, name)
            training_s = sum(self.of(rule, typical).seconds for rule in group.trainings)
            minutes = group.together * self._submission(group, typical)
            self._rooms[key] = self._limit / minutes if training_s <= group.within_s else 0.0
        return self._rooms[key]

    def _submission(self, group: Group, point: Any) -> int:
        """Minutes that the jobs of a submission take, one after the other.

        A small group has all runs of a seed, or of all seeds if masks come from other seeds.
        """

        def minutes(*rules: str) -> int:
            return sum(self.of(rule, point).asked_minutes() for rule in rules)

        if group.rules != SMALL:
            return minutes(*group.rules)
        place = [point.dataset, point.network]
        cuts = [name for *run, _, name in self.bench.runs if run == place] or [None, "ratio8"]
        supernet, cut = minutes("supernet"), minutes(*CUT)
        of_a_seed = sum(cut if name else supernet for name in cuts)
        linked = any(name and "other_seed" in name for name in cuts)
        return of_a_seed * (len(self.bench.seeds) if linked else 1)


def _typical(dataset: str, name: str) -> SimpleNamespace:
    """A typical run of a network or learner on a data set."""
    kind = "learner" if name in LEARNERS else "network"
    return SimpleNamespace(
        dataset=dataset, supernet="kappa0.25-ilo", seed=0, options="", **{kind: name}
    )
