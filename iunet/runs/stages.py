"""The stages of a run, in the order of the data: settings, inputs and modules of every rule.

Input functions are here if they need more than the form of a path. The rules use them, and the
lineage finds by them the jobs before a job.
Read at every start of Snakemake, so it imports the standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from iunet.artifacts import sha256
from iunet.baselines.catalog import LEARNERS
from iunet.data.registry import check_own_file, mirror_index
from iunet.data.sources import effective_source
from iunet.errors import UserError
from iunet.method.catalog import SCORES, module_of
from iunet.networks.catalog import network_entry
from iunet.provenance import digest
from iunet.runs import paths, settings
from iunet.runs.entries import Benchmark
from iunet.runs.lineage import Files, Lineage, Point, Stage
from iunet.runs.names import CutName, DenseName, SupernetName, base_network
from iunet.runs.versions import code_lines
from iunet.training.schedule import schedule_entry

LARGE_FILE = 50_000_000  # bytes; the content of a larger file is known by its size and time


# ---- inputs: files of a job by the name of the input


def own_file(bench: Benchmark, point: Point) -> Files:
    """The user's file that a data set is made from."""
    dataset = bench.registry[point.dataset]
    if dataset.source != "file":
        return {}
    with dataset.named():
        check_own_file(dataset.location)
        if dataset.kind == "tabular":
            from iunet.data.sources.file import check_columns  # with pandas

            check_columns(dataset)
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
    if settings.finetune_settings(bench.config, point).get("reinit") != "trained":
        return {}
    return {"supernet": bench.path(paths.SUPERNET_WEIGHTS, **vars(point))}


def trained_decoder(bench: Benchmark, point: Point) -> Files:
    """The decoder of a supernet with an objective that trains no decoder."""
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
    """The first worker, for all of a study's: their number changes no trial."""
    return {"worker": bench.path(paths.STUDY_WORKER, **vars(point), worker=0)}


def study_of_seed(bench: Benchmark, point: Point) -> Files:
    """The study of a tuned learner: one for all seeds, or one for each."""
    if bench.registry[point.dataset].kind != "tabular":
        raise UserError(
            f"{point.learner} is for tables only, but '{point.dataset}' is an image set."
        )
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


def of_latency(bench: Benchmark, point: Point) -> Files:
    """The candidates of the first seed, and the dense network of the same initial weights."""
    seeds = bench.seeds[:1]
    supernet = SupernetName.parse(bench.method(point.method, point.network).supernets[0])
    place = vars(point) | {"seed": seeds[0], "dense": str(DenseName(supernet.init))}
    return {
        "weights": candidates(bench, point, paths.SUBNETWORK_WEIGHTS, seeds),
        "masks": candidates(bench, point, paths.MASK, seeds),
        "mask_reports": candidates(bench, point, paths.MASK_REPORT, seeds),
        "dense": bench.path(paths.DENSE_WEIGHTS, **place),
        "description": bench.path(paths.INITIAL_REPORT, **place, initial=supernet.initial),
    }


# ---- settings


def setting(function: Callable[[settings.Config, Any], Any], wildcard: str = "") -> Callable:
    """What a function of iunet/runs/settings.py gives for a job, or for one of its wildcards."""
    if wildcard:
        return lambda bench, point: function(bench.config, getattr(point, wildcard))
    return lambda bench, point: function(bench.config, point)


def registry_row(bench: Benchmark, point: Point) -> dict[str, Any]:
    """The registry row as plain values: a changed row is fetched again."""
    row = bench.registry[point.dataset].row()
    return {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}


def source(bench: Benchmark, point: Point) -> str:
    return effective_source(bench.registry[point.dataset], bench.config["data"]["mirror"])


def mirror_sha256(bench: Benchmark, point: Point) -> str | None:
    """The content of the mirror, not its place: a mirror may move without new downloads."""
    if source(bench, point) != "mirror":
        return None
    mirror = bench.config["data"]["mirror"]
    if point.dataset in bench.unavailable:
        raise UserError(
            f"Data set '{point.dataset}' is not in the mirror '{mirror}' (config key data.mirror). "
            "Add it there, or set data.mirror to null to download the data."
        )
    return mirror_index(mirror)[point.dataset]["sha256"]


def file_content(bench: Benchmark, point: Point) -> str | None:
    """The content of a user's own file, which `own_file` has checked."""
    dataset = bench.registry[point.dataset]
    if dataset.source != "file":
        return None
    facts = Path(dataset.location).stat()
    if facts.st_size > LARGE_FILE:
        return f"{facts.st_size} {facts.st_mtime_ns}"
    return sha256(dataset.location)[:12]


def candidate_names(bench: Benchmark, point: Point) -> list[list[str]]:
    """The names of the candidates, as [supernet, cut]."""
    return [list(pair) for pair in bench.method(point.method, point.network).candidates()]


def study_name(lineage: Lineage, point: Point) -> str:
    """What the trials of a study depend on; after a change of any of it, a new one begins.

    It is a name inside the journal, which is not an output: a larger budget, or a job that is
    repeated after an interruption, continues the study. Code around the trials does not count,
    since they stay valid when it changes.
    """
    bench = lineage.bench
    facts = digest(
        lineage.maker(bench.path(paths.SPLIT_REPORT, dataset=point.dataset)).state,
        settings.learner_settings(bench.config, point.learner),
        code_lines(LEARNERS[point.learner].module),
        settings.study_seed(bench.config, point.study),
    )
    return f"{point.dataset}-{point.learner}-{facts}"


# ---- the stages


def learner_module(bench: Benchmark, point: Point) -> str:
    return LEARNERS[point.learner].module


def schedule_module(bench: Benchmark, point: Point) -> str:
    return module_of(schedule_entry(settings.finetune_settings(bench.config, point)).make)


# The module is one that the script imports by name: a new network does not repeat the others.
DOWNLOAD = Stage(
    {"row": registry_row, "source": source, "mirror_sha256": mirror_sha256, "file": file_content},
    (own_file,),
    lambda bench, point: f"iunet.data.sources.{source(bench, point)}",
    script="download",
)
SPLIT = Stage(
    {"settings": lambda b, p: settings.split_settings(b.config, b.registry[p.dataset])},
    (paths.DATA_REPORT,),
    script="split",
)
RECIPE = {"settings": setting(settings.finetune_settings)}
AUGMENT = {"augment": setting(settings.augment_settings)}
LEARNER = {"settings": setting(settings.learner_settings, "learner")}
STUDY = LEARNER | {"budget": setting(settings.study_budget, "learner")}
STAGES: dict[str, Stage] = {
    "download_table": DOWNLOAD,
    "download_images": DOWNLOAD,
    "split_table": SPLIT,
    "split_images": SPLIT,
    "initialise": Stage(
        {
            "network": setting(settings.network_settings, "network"),
            "init": setting(settings.init_settings, "initial"),
        },
        (paths.SPLIT_REPORT,),
        lambda bench, point: network_entry(base_network(point.network)).module,
    ),
    "supernet": Stage(
        {
            "settings": setting(settings.supernet_settings),
            "augment": setting(settings.supernet_augment),
        },
        (initial_weights,),
        lambda bench, point: module_of(settings.objective_of(point.supernet).loss),
    ),
    "prune": Stage(
        {"cut": setting(settings.cut_settings)},
        (initial_weights, supernet_of_mask),
        lambda bench, point: module_of(SCORES[CutName.parse(point.cut).score].masks),
    ),
    "finetune": Stage(RECIPE, (initial_weights, paths.MASK, trained_supernet), schedule_module),
    "train_dense": Stage(RECIPE, (initial_weights,), schedule_module, script="finetune"),
    "decoder": Stage(RECIPE, (paths.SUPERNET_WEIGHTS,), schedule_module),
    "evaluate": Stage(AUGMENT, (paths.SUBNETWORK_WEIGHTS,)),
    "evaluate_supernet": Stage(AUGMENT, (paths.SUPERNET_WEIGHTS, trained_decoder)),
    "evaluate_dense": Stage(AUGMENT, (paths.DENSE_WEIGHTS,)),
    "choose": Stage(
        {
            "candidates": candidate_names,
            "seeds": lambda bench, point: bench.seeds,
            "metric": setting(settings.choice_metric),
        },
        (of_choice,),
    ),
    "latency": Stage(
        {"candidates": candidate_names, "seed": lambda bench, point: bench.seeds[0]},
        (of_latency, paths.CHOICE),
    ),
    "tune": Stage(
        STUDY | {"seed": setting(settings.study_seed, "study")},
        (paths.SPLIT_REPORT,),
        learner_module,
        {"study": study_name},
    ),
    "study": Stage(STUDY, (first_worker,), of_code={"study": study_name}),
    "refit": Stage(
        {"parts": lambda b, p: settings.refit_parts(b.config)} | LEARNER,
        (study_of_seed,),
        learner_module,
    ),
    "evaluate_tuned": Stage(LEARNER, (paths.TUNED_REPORT,), learner_module),
}
