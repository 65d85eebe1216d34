"""What each job of the workflow will need: the formulas of iunet/machine/resources.py, by stage."""

from __future__ import annotations

import math
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.data.sizes import data_size
from iunet.machine import resources
from iunet.machine.device import device_of
from iunet.machine.resources import Cost, Epochs
from iunet.method.catalog import OBJECTIVES, objective_entry
from iunet.networks.catalog import network_entry
from iunet.runs import settings
from iunet.runs.entries import Benchmark
from iunet.runs.names import base_network

SUPERVISED = OBJECTIVES["sup"]  # what fine-tunings minimise
TOGETHER = 2  # parcels of a group that a profile may send as one (group-components)
USES_DEVICE = (  # rules that compute on the config's device
    *("supernet", "finetune", "train_dense", "decoder", "tune", "refit"),
    *("evaluate", "evaluate_supernet", "evaluate_dense", "evaluate_tuned"),
)


class Costs:
    """Estimates for the jobs of a benchmark, each on the device that the config gives it."""

    def __init__(self, bench: Benchmark):
        self.bench, self.config = bench, bench.config
        names = {*self.config["networks"], *LEARNERS}
        self.devices = {name: device_of(self.config, name) for name in names}
        self._limit = self.config["cluster"]["max_minutes"]
        self._sizes: dict[tuple[str, str], tuple[str, float]] = {}

    def of(self, stage: str, point: Any) -> Cost | None:
        """Of a job, by its rule and wildcards; None for jobs that need next to nothing."""
        if not hasattr(point, "dataset"):
            return None
        data = self._data(point.dataset)
        if stage.startswith("download"):
            return resources.download_cost(data)
        if stage.startswith("split"):
            return resources.split_cost(data)
        if stage in ("choose", "study"):
            return resources.select_cost()
        if hasattr(point, "learner"):
            return self._learner(stage, point, data)
        size = self._network(point.network, data)
        device = self.devices[base_network(point.network)]
        if stage == "initialise":
            return resources.initial_cost(size)
        if stage == "supernet":
            chosen = settings.supernet_settings(self.config, point)
            epochs = Epochs(chosen["epochs"], chosen["batch_size"])
            objective = objective_entry(chosen["objective"])
            return resources.supernet_cost(data, size, epochs, objective, device)
        if stage == "prune":
            return resources.prune_cost(size)
        if stage in ("finetune", "train_dense"):
            epochs = settings.epochs_of(settings.finetune_settings(self.config, point))
            return resources.finetune_cost(data, size, epochs, SUPERVISED, device)
        if stage == "decoder":
            epochs = settings.epochs_of(settings.decoder_settings(self.config, point))
            return resources.decoder_cost(data, size, epochs, SUPERVISED, device)
        kind = settings.network_kind(point.network)
        epochs = settings.epochs_of(settings.finetune_defaults(self.config, kind))
        return resources.evaluate_cost(data, size, epochs.members, device)

    def gpus(self, stage: str, point: Any) -> int:
        """1 for a job whose network or learner computes on a GPU, else 0."""
        if stage not in USES_DEVICE:
            return 0
        name = getattr(point, "learner", None) or base_network(point.network)
        return int(self.devices[name] == "cuda")

    def _data(self, dataset: str) -> Any:
        config = self.config
        return data_size(self.bench.registry[dataset], config["results"], config["data"]["mirror"])

    def _network(self, network: str, data: Any) -> Any:
        options = settings.network_settings(self.config, network)["options"]
        return network_entry(base_network(network)).size(options, data)

    def _learner(self, stage: str, point: Any, data: Any) -> Cost:
        """A tuned learner: a trial, or a worker's share of all trials."""
        section = self.config["tuning"][point.learner]
        trial = LEARNERS[point.learner].trial_cost(section, data, self.devices[point.learner])
        if stage == "evaluate_tuned":
            return Cost(15, trial.mem_mb)
        if stage == "refit":
            return trial
        budget = settings.study_budget(self.config, point.learner)
        workers = self.config["tuning"]["workers"]
        return resources.tune_cost(budget["trials"], trial, budget["minutes"], workers)

    # ---- what a job asks of a scheduler

    def mem_mb(self, stage: str, point: Any, attempt: int) -> int:
        return resources.asked_mem_mb(self.of(stage, point), attempt)

    def minutes(self, stage: str, point: Any, attempt: int) -> int:
        """That a job asks for: more with each attempt, but never more than a job may.

        A training or study by itself goes on where it was, so that its time need not grow. In a
        group it may have met the limit because of the others, which are made again.
        """
        asked = resources.asked_minutes(self.of(stage, point))
        growth = float(attempt)
        if self.group(stage, point):
            growth = min(growth, self._room(point))
        elif stage in resources.RESUMED:
            growth = 1.0
        return min(self._limit, math.floor(growth * asked))

    def group(self, stage: str, point: Any) -> str | None:
        """Which jobs a scheduler gets as one (docs/cluster.md); None for a job by itself."""
        if not hasattr(point, "network"):
            return resources.OTHER_GROUPS.get(stage)
        return resources.GROUPS[self._size(point)[0]].get(stage)

    def _room(self, point: Any) -> float:
        """How often the minutes of a submission fit into what a job may ask for."""
        return self._size(point)[1] if hasattr(point, "network") else float(resources.MOST_MEMORY)

    def _size(self, point: Any) -> tuple[str, float]:
        key = (point.dataset, point.network)
        if key not in self._sizes:
            self._sizes[key] = self._size_class(*key)
        return self._sizes[key]

    def _size_class(self, dataset: str, network: str) -> tuple[str, float]:
        """small, medium or large: how the jobs of a network on a data set are submitted.

        Beside it stands how often the minutes of such a parcel fit into the limit. Jobs of a group
        run one after the other, so many of them are no small parcel, however short each is.
        """
        point = SimpleNamespace(dataset=dataset, network=network, seed=0)
        point.supernet, point.options = "kappa0.25-ilo", ""
        cut = sum(
            resources.asked_minutes(self.of(stage, point))
            for stage in ("prune", "finetune", "evaluate")
        )
        supernet, finetune = self.of("supernet", point), self.of("finetune", point)
        runs = self._runs.get((dataset, network), 1) * len(self.bench.seeds)
        whole = runs * (cut + resources.asked_minutes(supernet) + resources.MINUTES)
        short = supernet.seconds + finetune.seconds <= resources.SMALL_S
        if short and self._limit >= TOGETHER * whole:
            return "small", self._limit / (TOGETHER * whole)
        if finetune.seconds <= resources.LARGE_S and self._limit >= TOGETHER * cut:
            return "medium", self._limit / (TOGETHER * cut)
        return "large", max(1.0, self._limit / cut)

    @cached_property
    def _runs(self) -> dict[tuple[str, str], int]:
        """How many runs the config has of each network on each data set, for one seed."""
        found: dict[tuple[str, str], int] = {}
        for dataset, network, _, _ in self.bench.runs:
            found[dataset, network] = found.get((dataset, network), 0) + 1
        return found
