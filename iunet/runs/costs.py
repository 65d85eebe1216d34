"""What each job of the workflow will need: the formulas of iunet/machine/resources.py, by stage."""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import dataclass
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
from iunet.runs.names import DENSE, CutName, base_network

SUPERVISED = OBJECTIVES["sup"]  # what fine-tunings minimise
# Of a network on a data set that no entry of the config has: a file that was asked for by its name.
EXAMPLES = (("kappa0.25-ilo", None), ("kappa0.25-ilo", "ratio8"), (DENSE, None))


@dataclass(frozen=True)
class Parcels:
    """How the jobs of a network, or learner, on a data set are sent to a scheduler."""

    groups: dict[str, str]  # of each rule
    minutes: dict[str, int]  # at first, of the jobs of a group that depend on each other, at most


class Costs:
    """Estimates for the jobs of a benchmark, each on the device that the config gives it."""

    def __init__(self, bench: Benchmark):
        self.bench, self.config = bench, bench.config
        names = {*self.config["networks"], *LEARNERS}
        self.devices = {name: device_of(self.config, name) for name in names}
        self.components: dict[str, int] = {}  # parcels that are sent as one (group-components)
        self._parcels: dict[tuple[str, str | None], Parcels] = {}
        self._limit = self.config["cluster"]["max_minutes"]

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

    def on_gpu(self, point: Any) -> bool:
        """Whether the job's network or learner computes on a GPU."""
        name = getattr(point, "learner", None) or base_network(point.network)
        return self.devices[name] == "cuda"

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

    def minutes(self, stage: str, point: Any, attempt: int) -> int:
        """That a job asks for: more with each attempt, but never more than a job may.

        A training or study by itself goes on where it was, so that its time need not grow. In a
        group it may have met the limit because of the others, which are made again.
        """
        asked = resources.asked_minutes(self.of(stage, point))
        if self.group(stage, point):
            growth = min(attempt, self._room(stage, point))
        else:
            growth = 1 if stage in resources.RESUMED else attempt
        return min(self._limit, math.floor(growth * asked))

    def group(self, stage: str, point: Any) -> str | None:
        """Which jobs a scheduler gets as one (docs/cluster.md); None for a job by itself."""
        group = self._parcels_of(point).groups.get(stage)
        return group if group and self._room(stage, point) >= 1 else None

    def _room(self, stage: str, point: Any) -> float:
        """How often the minutes of a submission, a group's parcels, fit into what a job may ask."""
        parcels = self._parcels_of(point)
        group = parcels.groups[stage]
        return self._limit / (self.components.get(group, 1) * parcels.minutes[group])

    def _parcels_of(self, point: Any) -> Parcels:
        name = getattr(point, "network", None) or getattr(point, "learner", None)
        key = (point.dataset, name)
        if key not in self._parcels:
            self._parcels[key] = self._new_parcels(point.dataset, name)
        return self._parcels[key]

    def _new_parcels(self, dataset: str, name: str | None) -> Parcels:
        if name is None:
            return Parcels(resources.SPLIT_GROUPS, {"splits": self._asked(dataset, "split")})
        if name in LEARNERS:
            minutes = self._asked(dataset, "refit", "evaluate_tuned", learner=name)
            return Parcels(resources.TUNED_GROUPS, {"tuned": minutes})
        minutes = self._network_minutes(dataset, name)
        return Parcels(resources.GROUPS[self._size_class(dataset, name, minutes)], minutes)

    def _asked(self, dataset: str, *stages: str, **more: str) -> int:
        """Minutes of some jobs, one after the other."""
        point = SimpleNamespace(dataset=dataset, seed=0, **more)
        return sum(resources.asked_minutes(self.of(stage, point)) for stage in stages)

    def _network_minutes(self, dataset: str, network: str) -> dict[str, int]:
        """Of each group's parcels: the longest among the config's, or one with its defaults."""
        asked = functools.partial(self._asked, dataset, network=network)
        initial = asked("initialise")
        dense = asked("train_dense", "evaluate_dense", dense=DENSE)
        cut_stages = ("prune", "finetune", "evaluate")
        masks = Counter(default=asked(*cut_stages, options=""))
        runs = [(run, cut) for *place, run, cut in self.bench.runs if place == [dataset, network]]
        seed = 0
        for run, cut in runs or EXAMPLES:
            if cut is not None:  # those with other options have the same mask
                name = CutName.parse(cut)
                masks[run, name.folder] += asked(*cut_stages, options=name.options)
            elif run.startswith(DENSE):
                minutes = asked("train_dense", "evaluate_dense", dense=run)
                seed, dense = seed + initial + minutes, max(dense, minutes)
            else:
                stages = ("supernet", "decoder", "evaluate_supernet")
                seed += initial + asked(*stages, supernet=run)
        # Masks of other seeds make one parcel of all seeds.
        linked = any(cut is not None and "other_seed" in cut for _, cut in runs)
        return {
            "small": (seed + masks.total()) * (len(self.bench.seeds) if linked else 1),
            "initials": initial,
            "dense": dense,
            "cuts": max(masks.values()),
            "cut": max(masks.values()),  # and less, without its evaluations
        }

    def _size_class(self, dataset: str, network: str, minutes: dict[str, int]) -> str:
        """small, medium or large: how the jobs of a network on a data set are submitted.

        Jobs of a group run one after the other, so many of them are no small parcel, however short
        each is.
        """
        data = self._data(dataset)
        size = self._network(network, data)
        finetune = settings.finetune_defaults(self.config, settings.network_kind(network))
        supernet = settings.supernet_defaults(self.config)
        of_supernet = Epochs(supernet["epochs"], supernet["batch_size"])
        device = self.devices[base_network(network)]
        fits = {
            size_class
            for size_class, group in (("small", "small"), ("medium", "cuts"))
            if self.components.get(group, 1) * minutes[group] <= self._limit
        }
        return resources.size_class(
            resources.supernet_cost(data, size, of_supernet, OBJECTIVES["ilo"], device),
            resources.finetune_cost(data, size, settings.epochs_of(finetune), SUPERVISED, device),
            fits,
        )
