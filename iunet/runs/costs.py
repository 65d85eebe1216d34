"""What each job of the workflow will need: the formulas of iunet/machine/resources.py, by stage."""

from __future__ import annotations

from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.data.sizes import data_size
from iunet.machine import resources
from iunet.machine.resources import Cost
from iunet.networks.catalog import network_entry
from iunet.runs import settings
from iunet.runs.entries import Benchmark
from iunet.runs.names import base_network


class Costs:
    """Estimates for the jobs of a benchmark on a device (cpu or cuda)."""

    def __init__(self, bench: Benchmark, device: str):
        self.bench, self.config, self.device = bench, bench.config, device
        self._sizes: dict[tuple[str, str], str] = {}

    def of(self, stage: str, point: Any) -> Cost | None:
        """Of a job, by its rule and wildcards; None for jobs that need next to nothing."""
        if not hasattr(point, "dataset"):
            return None
        data = data_size(self.bench.registry[point.dataset], self.config["results"])
        if stage.startswith("download"):
            return resources.download_cost(data)
        if stage.startswith("split"):
            return resources.split_cost(data)
        if stage in ("choose", "study"):
            return resources.select_cost()
        if hasattr(point, "learner"):
            return self._learner(stage, point, data)
        size = self._network(point.network, data)
        if stage == "initialise":
            return resources.initial_cost(size)
        if stage == "supernet":
            chosen = settings.supernet_settings(self.config, point)
            return resources.supernet_cost(data, size, chosen, self.device)
        if stage == "prune":
            return resources.prune_cost(size)
        if stage in ("finetune", "train_dense"):
            chosen = settings.finetune_settings(self.config, point)
            return resources.finetune_cost(data, size, chosen, self.device)
        if stage == "decoder":
            chosen = settings.decoder_settings(self.config, point)
            return resources.decoder_cost(data, size, chosen, self.device)
        kind = settings.network_kind(point.network)
        defaults = settings.finetune_defaults(self.config, kind)
        _, members = resources.epochs_and_members(defaults)
        return resources.evaluate_cost(data, size, members, self.device)

    def _network(self, network: str, data: Any) -> Any:
        options = settings.network_settings(self.config, network)["options"]
        return network_entry(base_network(network)).size(options, data)

    def _learner(self, stage: str, point: Any, data: Any) -> Cost:
        """A tuned learner: a trial, or a worker's share of all trials."""
        section = self.config["tuning"][point.learner]
        trial = LEARNERS[point.learner].trial_cost(section, data, self.device)
        if stage == "evaluate_tuned":
            return Cost(15, trial.mem_mb)
        if stage == "refit":
            return trial
        budget = settings.study_budget(self.config, point.learner)
        workers = self.config["tuning"]["workers"]
        return resources.tune_cost(budget["trials"], trial, budget["minutes"], workers)

    def group(self, stage: str, point: Any) -> str | None:
        """Which jobs a scheduler gets as one (docs/cluster.md)."""
        if stage in resources.TUNED_GROUPS:
            return resources.TUNED_GROUPS[stage]
        key = (point.dataset, point.network)
        if key not in self._sizes:
            self._sizes[key] = self._size_class(*key)
        return resources.GROUPS[self._sizes[key]].get(stage)

    def _size_class(self, dataset: str, network: str) -> str:
        """small, medium or large: how the jobs of a network on a data set are submitted."""
        data = data_size(self.bench.registry[dataset], self.config["results"])
        size = self._network(network, data)
        finetune = settings.finetune_defaults(self.config, settings.network_kind(network))
        supernet = settings.supernet_defaults(self.config) | {"objective": "ilo"}
        return resources.size_class(
            resources.supernet_cost(data, size, supernet, self.device),
            resources.finetune_cost(data, size, finetune, self.device),
        )
