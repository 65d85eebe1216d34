"""Which files a job reads, where that depends on more than the form of its path.

Rules take them as inputs, and the lineage finds by them the jobs that a job stands on. Each
function takes the benchmark and the wildcards of a job. Standard library only.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace as Point

from iunet.data.registry import check_own_file
from iunet.errors import UserError
from iunet.runs import paths, settings
from iunet.runs.entries import Benchmark
from iunet.runs.names import DenseName, SupernetName

Files = dict[str, str | list[str]]  # by the name of the input


def own_file(bench: Benchmark, point: Point) -> Files:
    """The user's file that a data set is made from."""
    dataset = bench.registry[point.dataset]
    if dataset.source != "file":
        return {}
    check_own_file(dataset)
    return {"own": dataset.location}


def initial_weights(bench: Benchmark, point: Point) -> Files:
    """The initial weights of a supernet or dense network; its name says which."""
    supernet = getattr(point, "supernet", None)
    name = SupernetName.parse(supernet) if supernet else DenseName.parse(point.dense)
    place = {"dataset": point.dataset, "network": point.network, "seed": point.seed}
    return {
        "initial": bench.path(paths.INITIAL_WEIGHTS, **place, initial=name.initial),
        "description": bench.path(paths.INITIAL_REPORT, **place, initial=name.initial),
    }


def supernet_of_mask(bench: Benchmark, point: Point) -> Files:
    """The supernet that a mask comes from: of this seed, or of the next."""
    place = vars(point) | {"seed": settings.seed_of_mask(bench.config, point)}
    return {
        "supernet": bench.path(paths.SUPERNET_WEIGHTS, **place),
        "supernet_report": bench.path(paths.SUPERNET_REPORT, **place),
    }


def trained_supernet(bench: Benchmark, point: Point) -> Files:
    """The trained supernet, where a fine-tuning starts from it."""
    trained = settings.starts_trained(bench.config, point)
    return {"supernet": bench.path(paths.SUPERNET_WEIGHTS, **vars(point))} if trained else {}


def trained_decoder(bench: Benchmark, point: Point) -> Files:
    """The decoder that is trained after a supernet whose objective trains none."""
    if settings.trains_decoder(point.supernet):
        return {}
    return {"decoder": bench.path(paths.SUPERNET_DECODER, **vars(point))}


def study_workers(bench: Benchmark, point: Point) -> Files:
    """The shares of a study; a finished study keeps as many as it had."""
    workers = bench.config["tuning"]["workers"]
    finished = Path(bench.path(paths.STUDY_REPORT, **vars(point)))
    if finished.exists():
        workers = len([*finished.parent.glob("worker*.json")]) or workers
    template = paths.STUDY_WORKER
    return {"workers": [bench.path(template, **vars(point), worker=w) for w in range(workers)]}


def first_worker(bench: Benchmark, point: Point) -> Files:
    """It stands for all workers of a study in its lineage: their number changes no trial."""
    return {"worker": bench.path(paths.STUDY_WORKER, **vars(point), worker=0)}


def study_of_seed(bench: Benchmark, point: Point) -> Files:
    """The study of a tuned learner: one for all seeds, or one for each."""
    if bench.registry[point.dataset].kind != "tabular":
        raise UserError(f"{point.learner} is for tables, but '{point.dataset}' is none.")
    study = settings.study_folder(bench.config, point.seed)
    return {"study": bench.path(paths.STUDY_REPORT, **vars(point), study=study)}


def candidates(bench: Benchmark, point: Point, template: str, seeds: list[int]) -> list[str]:
    """A file of each of a method's candidates, seeds within candidates."""
    place = {"dataset": point.dataset, "network": point.network}
    return [
        bench.subnetwork(template, **place, supernet=supernet, cut=cut, seed=seed)
        for supernet, cut in bench.method(point.method, point.network).candidates()
        for seed in seeds
    ]


def of_choice(bench: Benchmark, point: Point) -> Files:
    """What every candidate of a method predicts for validation data."""
    return {
        "reports": candidates(bench, point, paths.SUBNETWORK_REPORT, bench.seeds),
        "predictions": candidates(bench, point, paths.SUBNETWORK_PREDICTIONS, bench.seeds),
    }


def timed_networks(bench: Benchmark, point: Point) -> Files:
    """The candidates of the first seed, and the dense network of the same initial weights."""
    seeds = bench.seeds[:1]
    supernet = SupernetName.parse(bench.method(point.method, point.network).supernets[0])
    dense = {"dense": str(DenseName(supernet.init)), "seed": seeds[0]}
    return {
        "weights": candidates(bench, point, paths.SUBNETWORK_WEIGHTS, seeds),
        "dense": bench.path(paths.DENSE_WEIGHTS, **vars(point), **dense),
    }


def timed_masks(bench: Benchmark, point: Point) -> Files:
    """The masks of these candidates, and the description of their network."""
    seeds = bench.seeds[:1]
    supernet = SupernetName.parse(bench.method(point.method, point.network).supernets[0])
    initial = {"initial": supernet.initial, "seed": seeds[0]}
    return {
        "masks": candidates(bench, point, paths.MASK, seeds),
        "mask_reports": candidates(bench, point, paths.MASK_REPORT, seeds),
        "description": bench.path(paths.INITIAL_REPORT, **vars(point), **initial),
    }
