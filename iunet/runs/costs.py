"""What each job of the workflow will need: the formulas of iunet/machine/resources.py, by stage."""

from __future__ import annotations

import math
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
        self._groupings: dict[tuple[str, str | None], tuple[dict[str, str], float]] = {}

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
            epochs = settings.epochs_of(settings.finetune_settings(self.config, point))
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
        groups, room = self._grouping(point)
        return groups.get(stage) if room >= 1 else None

    def _room(self, point: Any) -> float:
        """How often the minutes of a submission fit into what a job may ask for."""
        return self._grouping(point)[1]

    def _grouping(self, point: Any) -> tuple[dict[str, str], float]:
        """The groups of rules for a network or learner on a data set, and the room they leave."""
        name = getattr(point, "network", None) or getattr(point, "learner", None)
        key = (point.dataset, name)
        if key not in self._groupings:
            find = self._group_learner if name in LEARNERS else self._group_network
            self._groupings[key] = find(*key) if name else (resources.SPLIT_GROUPS, 4.0)
        return self._groupings[key]

    def _minutes(self, point: Any, *stages: str) -> int:
        """Of some jobs, one after the other."""
        return sum(resources.asked_minutes(self.of(stage, point)) for stage in stages)

    def _group_learner(self, dataset: str, learner: str) -> tuple[dict[str, str], float]:
        point = SimpleNamespace(dataset=dataset, learner=learner, seed=0)
        minutes = self._minutes(point, *resources.TUNED_GROUPS)
        return resources.TUNED_GROUPS, self._limit / (TOGETHER * minutes)

    def _group_network(self, dataset: str, network: str) -> tuple[dict[str, str], float]:
        """By size: jobs of a group run one after the other, so many of them are no small parcel,
        however short each is."""
        point = SimpleNamespace(dataset=dataset, network=network, seed=0)
        point.supernet, point.options = "kappa0.25-ilo", ""
        cut = self._minutes(point, "prune", "finetune", "evaluate")
        whole = self._whole(dataset, network, self._minutes(point, "supernet"), cut)
        supernet_s, finetune_s = (self.of(s, point).seconds for s in ("supernet", "finetune"))
        short = supernet_s + finetune_s <= resources.SMALL_S
        if short and self._limit >= TOGETHER * whole:
            return resources.GROUPS["small"], self._limit / (TOGETHER * whole)
        if finetune_s <= resources.LARGE_S and self._limit >= TOGETHER * cut:
            return resources.GROUPS["medium"], self._limit / (TOGETHER * cut)
        return resources.GROUPS["large"], self._limit / cut

    def _whole(self, dataset: str, network: str, supernet: int, cut: int) -> int:
        """Minutes of all runs of a network on a data set that hang together.

        These are the runs of a seed, or of all seeds if masks come from other seeds.
        """
        cuts = [name for *place, _, name in self.bench.runs if place == [dataset, network]]
        linked = any(name and "other_seed" in name for name in cuts)
        minutes = sum(cut if name else supernet for name in cuts or [None, "ratio8"])
        return minutes * (len(self.bench.seeds) if linked else 1)
