"""Which files a job reads, where that depends on more than its wildcards.

Each function takes the benchmark and the wildcards of a job. Standard library only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iunet.data.registry import check_own_file
from iunet.errors import UserError
from iunet.runs import paths, settings
from iunet.runs.entries import Benchmark
from iunet.runs.names import DenseName, SupernetName

Files = dict[str, Any]  # by the name of the input


def initial_weights(bench: Benchmark, point: Any) -> Files:
    """The initial weights of a supernet or dense network; its name says which."""
    if hasattr(point, "supernet"):
        name = SupernetName.parse(point.supernet)
    else:
        name = DenseName.parse(point.dense)
    place = {"dataset": point.dataset, "network": point.network, "seed": point.seed}
    return {
        "initial": bench.path(paths.INITIAL_WEIGHTS, **place, initial=name.initial),
        "description": bench.path(paths.INITIAL_REPORT, **place, initial=name.initial),
    }


def supernet_of_mask(bench: Benchmark, point: Any) -> Files:
    """The supernet that a mask comes from: of this seed, or of the next."""
    place = dict(point.items()) | {"seed": settings.seed_of_mask(bench.config, point)}
    return {
        "supernet": bench.path(paths.SUPERNET_WEIGHTS, **place),
        "supernet_report": bench.path(paths.SUPERNET_REPORT, **place),
    }


def trained_supernet(bench: Benchmark, point: Any) -> Files:
    """The trained supernet, where a fine-tuning starts from it."""
    trained = settings.starts_trained(bench.config, point)
    return {"supernet": bench.path(paths.SUPERNET_WEIGHTS, **point)} if trained else {}


def trained_decoder(bench: Benchmark, point: Any) -> Files:
    """The decoder that is trained after a supernet whose objective trains none."""
    if settings.trains_decoder(point.supernet):
        return {}
    return {"decoder": bench.path(paths.SUPERNET_DECODER, **point)}


def own_file(bench: Benchmark, point: Any) -> list[str]:
    """The user's file that a data set is made from."""
    dataset = bench.registry[point.dataset]
    if dataset.source != "file":
        return []
    check_own_file(dataset)
    return [dataset.location]


def study_workers(bench: Benchmark, point: Any) -> list[str]:
    """The shares of a study; a finished study keeps as many as it had."""
    workers = bench.config["tuning"]["workers"]
    finished = Path(bench.path(paths.STUDY_REPORT, **point))
    if finished.exists():
        workers = len([*finished.parent.glob("worker*.json")]) or workers
    return [bench.path(paths.STUDY_WORKER, **point, worker=worker) for worker in range(workers)]


def study_of_seed(bench: Benchmark, point: Any) -> str:
    """The study of a tuned learner: one for all seeds, or one for each."""
    if bench.registry[point.dataset].kind != "tabular":
        raise UserError(f"{point.learner} is for tables, but '{point.dataset}' is none.")
    study = settings.study_folder(bench.config, point.seed)
    place = {"dataset": point.dataset, "learner": point.learner, "study": study}
    return bench.path(paths.STUDY_REPORT, **place)


def candidates(bench: Benchmark, point: Any, template: str, seeds: list[int]) -> list[str]:
    """A file of each of a method's candidates, seeds within candidates."""
    place = {"dataset": point.dataset, "network": point.network}
    return [
        bench.subnetwork(template, **place, supernet=supernet, cut=cut, seed=seed)
        for supernet, cut in bench.method(point.method, point.network).candidates()
        for seed in seeds
    ]


def of_choice(bench: Benchmark, point: Any) -> Files:
    """What every candidate of a method predicts for validation data."""
    return {
        "reports": candidates(bench, point, paths.SUBNETWORK_REPORT, bench.seeds),
        "predictions": candidates(bench, point, paths.SUBNETWORK_PREDICTIONS, bench.seeds),
    }


def of_latency(bench: Benchmark, point: Any) -> Files:
    """The candidates of the first seed, and the dense network of the same initial weights."""
    seeds = bench.seeds[:1]
    place = {"dataset": point.dataset, "network": point.network, "seed": seeds[0]}
    supernet = SupernetName.parse(bench.method(point.method, point.network).supernets[0])
    return {
        "weights": candidates(bench, point, paths.SUBNETWORK_WEIGHTS, seeds),
        "masks": candidates(bench, point, paths.MASK, seeds),
        "mask_reports": candidates(bench, point, paths.MASK_REPORT, seeds),
        "dense": bench.path(paths.DENSE_WEIGHTS, **place, dense=str(DenseName(supernet.init))),
        "description": bench.path(paths.INITIAL_REPORT, **place, initial=supernet.initial),
    }
