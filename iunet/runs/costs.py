"""What each job of the workflow will need: the formulas of iunet/machine/resources.py, by stage."""

from __future__ import annotations

from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.data.sizes import data_size
from iunet.machine import resources
from iunet.machine.device import device_of
from iunet.machine.resources import Cost
from iunet.networks.catalog import network_entry
from iunet.runs import settings
from iunet.runs.entries import Benchmark
from iunet.runs.names import base_network


class Costs:
    """Estimates for the jobs of a benchmark, each on the device that the config gives it."""

    def __init__(self, bench: Benchmark):
        self.bench, self.config = bench, bench.config
        names = {*self.config["networks"], *LEARNERS}
        self.devices = {name: device_of(self.config, name) for name in names}
        self._sizes: dict[tuple[str, str], str] = {}
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
            return resources.supernet_cost(data, size, chosen, device)
        if stage == "prune":
            return resources.prune_cost(size)
        if stage in ("finetune", "train_dense"):
            chosen = settings.finetune_settings(self.config, point)
            return resources.finetune_cost(data, size, chosen, device)
        if stage == "decoder":
            chosen = settings.decoder_settings(self.config, point)
            return resources.decoder_cost(data, size, chosen, device)
        kind = settings.network_kind(point.network)
        defaults = settings.finetune_defaults(self.config, kind)
        _, members = resources.epochs_and_members(defaults)
        return resources.evaluate_cost(data, size, members, device)

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
        """That a job asks for. A fine-tuning leaves time for the mask that is made in its job."""
        cost, limit = self.of(stage, point), self._limit
        if stage == "finetune":
            prune = self.of("prune", point)
            limit = max(limit // 2, limit - resources.asked_minutes(prune, 1))
        again = 1 if stage in resources.RESUMED else attempt
        return resources.asked_minutes(cost, again, limit)

    def group(self, stage: str, point: Any) -> str | None:
        """Which jobs a scheduler gets as one (docs/cluster.md)."""
        if stage in resources.TUNED_GROUPS:
            return resources.TUNED_GROUPS[stage]
        key = (point.dataset, point.network)
        if key not in self._sizes:
            self._sizes[key] = self._size_class(*key)
        return resources.GROUPS[self._sizes[key]].get(stage)

    def _size_class(self, dataset: str, network: str) -> str:
        """small, medium or large: how the jobs of a network on a data set are submitted.

        Jobs of a group run one after the other, so many of them are no small parcel, however short
        each is. (Masks of other seeds make one parcel of all seeds.)
        """
        data = self._data(dataset)
        size = self._network(network, data)
        finetune = settings.finetune_defaults(self.config, settings.network_kind(network))
        supernet = settings.supernet_defaults(self.config) | {"objective": "ilo"}
        device = self.devices[base_network(network)]
        costs = (
            resources.supernet_cost(data, size, supernet, device),
            resources.finetune_cost(data, size, finetune, device),
        )
        runs = [run for *place, _, run in self.bench.runs if place == [dataset, network]]
        cuts = [run for run in runs if run is not None]
        linked = any("other_seed" in cut for cut in cuts)
        supernet_min, finetune_min = (resources.asked_minutes(cost, 1) for cost in costs)
        cut_min = finetune_min + 2 * resources.asked_minutes(Cost(60, 0), 1)  # mask, evaluation
        a_seed = (len(runs) - len(cuts)) * supernet_min + len(cuts) * cut_min
        parcels = {"small": a_seed * (len(self.bench.seeds) if linked else 1), "medium": cut_min}
        fits = resources.fits_a_job(parcels, self._limit)
        return resources.size_class(*costs, fits)
