"""The benchmark of a checked config, as the Snakefile and the jobs make it."""

from __future__ import annotations

from iunet.data.registry import read_registry
from iunet.runs.config import unavailable
from iunet.runs.entries import Benchmark, Pairs
from iunet.runs.own import own_dataset, with_own_data
from iunet.runs.settings import Config


def benchmark_of(config: Config, fixed: Pairs | None = None) -> Benchmark:
    """With the registry's data sets and the user's own; `fixed` as `Benchmark` takes it."""
    registry = read_registry(config["data"]["registry"])
    if own := own_dataset(config, taken=[*registry, *config["datasets"]]):
        registry[own.name] = own
        config = with_own_data(config, own)
    return Benchmark(config, registry, unavailable(registry, config["data"]["mirror"]), fixed)
