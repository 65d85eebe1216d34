"""The stages of a run, in the order of the data: settings, inputs and modules of every rule.

Standard library only: this is read at every start of Snakemake.
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
from iunet.method.catalog import SCORES, module_of, objective_entry
from iunet.networks.catalog import network_entry
from iunet.provenance import digest
from iunet.runs import inputs, paths, settings
from iunet.runs.entries import Benchmark
from iunet.runs.lineage import Lineage, Point, Stage
from iunet.runs.names import CutName, SupernetName, base_network
from iunet.runs.versions import code_lines
from iunet.training.schedule import schedule_entry

LARGE_FILE = 50_000_000  # bytes; the content of a larger file is known by its size and time


# ---- settings


def setting(function: Callable[[settings.Config, Any], Any], wildcard: str = "") -> Callable:
    """What a function of iunet/runs/settings.py gives for a job, or for one of its wildcards."""
    if wildcard:
        return lambda bench, point: function(bench.config, getattr(point, wildcard))
    return lambda bench, point: function(bench.config, point)


def registry_row(bench: Benchmark, point: Point) -> dict[str, Any]:
    """The registry row as plain values: another row is another data set, and is fetched anew."""
    row = bench.registry[point.dataset].row()
    return {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}


def source(bench: Benchmark, point: Point) -> str:
    return effective_source(bench.registry[point.dataset], bench.config["data"]["mirror"])


def mirror_sha256(bench: Benchmark, point: Point) -> str | None:
    """What the mirror holds, and not where it is: a mirror may move without making data anew."""
    if source(bench, point) != "mirror":
        return None
    mirror = bench.config["data"]["mirror"]
    if point.dataset in bench.unavailable:
        raise UserError(
            f"Data set '{point.dataset}' is not in the mirror '{mirror}' (config key data.mirror). "
            "Add it there, or set data.mirror to null to use the network."
        )
    return mirror_index(mirror)[point.dataset]["sha256"]


def file_content(bench: Benchmark, point: Point) -> str | None:
    """The content of a user's own file."""
    dataset = bench.registry[point.dataset]
    if dataset.source != "file":
        return None
    check_own_file(dataset)
    facts = Path(dataset.location).stat()
    if facts.st_size > LARGE_FILE:
        return f"{facts.st_size} {facts.st_mtime_ns}"
    return sha256(dataset.location)[:12]


def split_settings(bench: Benchmark, point: Point) -> dict[str, Any]:
    return settings.split_settings(bench.config, bench.registry[point.dataset])


def candidate_names(bench: Benchmark, point: Point) -> list[list[str]]:
    """The names of the candidates, as [supernet, cut]."""
    return [list(pair) for pair in bench.method(point.method, point.network).candidates()]


def study_name(lineage: Lineage, point: Point) -> str:
    """What the trials of a study depend on; after a change of any of it, a new one begins.

    It is a name inside the journal, and the journal is no output: raising a budget, or repeating a
    job that was cut off, continues the study. Code around the trials is left out: they stay true
    when it changes.
    """
    bench = lineage.bench
    facts = digest(
        lineage.maker(bench.path(paths.SPLIT_REPORT, dataset=point.dataset)).state,
        settings.learner_settings(bench.config, point.learner),
        code_lines(LEARNERS[point.learner].module),
        settings.study_seed(bench.config, point.study),
    )
    return f"{point.dataset}-{point.learner}-{facts}"


# ---- modules that a script imports by name


def source_module(bench: Benchmark, point: Point) -> str:
    return f"iunet.data.sources.{source(bench, point)}"


def network_module(bench: Benchmark, point: Point) -> str:
    """The file that builds the network: a new network is no reason to train the others again."""
    return network_entry(base_network(point.network)).module


def learner_module(bench: Benchmark, point: Point) -> str:
    return LEARNERS[point.learner].module


def objective_module(bench: Benchmark, point: Point) -> str:
    return module_of(objective_entry(SupernetName.parse(point.supernet).objective).loss)


def score_module(bench: Benchmark, point: Point) -> str:
    return module_of(SCORES[CutName.parse(point.cut).score].masks)


def schedule_module(bench: Benchmark, point: Point) -> str:
    return module_of(schedule_entry(settings.finetune_settings(bench.config, point)).make)


# ---- the stages


DOWNLOAD = Stage(
    {"row": registry_row, "source": source, "mirror_sha256": mirror_sha256, "file": file_content},
    (inputs.own_file,),
    source_module,
)
SPLIT = Stage({"settings": split_settings}, (paths.DATA_REPORT,))
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
        network_module,
    ),
    "supernet": Stage(
        {
            "settings": setting(settings.supernet_settings),
            "augment": setting(settings.supernet_augment),
        },
        (inputs.initial_weights,),
        objective_module,
    ),
    "prune": Stage(
        {"cut": setting(settings.cut_settings)},
        (inputs.initial_weights, inputs.supernet_of_mask),
        score_module,
    ),
    "finetune": Stage(
        RECIPE, (inputs.initial_weights, paths.MASK, inputs.trained_supernet), schedule_module
    ),
    "train_dense": Stage(RECIPE, (inputs.initial_weights,), schedule_module),
    "decoder": Stage(RECIPE, (paths.SUPERNET_WEIGHTS,), schedule_module),
    "evaluate": Stage(AUGMENT, (paths.SUBNETWORK_WEIGHTS,)),
    "evaluate_supernet": Stage(AUGMENT, (paths.SUPERNET_WEIGHTS, inputs.trained_decoder)),
    "evaluate_dense": Stage(AUGMENT, (paths.DENSE_WEIGHTS,)),
    "choose": Stage(
        {
            "candidates": candidate_names,
            "seeds": lambda bench, point: bench.seeds,
            "metric": setting(settings.choice_metric),
        },
        (inputs.of_choice,),
    ),
    "latency": Stage(
        {"candidates": candidate_names, "seed": lambda bench, point: bench.seeds[0]},
        (inputs.timed_networks, paths.CHOICE),
    ),
    "tune": Stage(
        STUDY | {"seed": setting(settings.study_seed, "study")},
        (paths.SPLIT_REPORT,),
        learner_module,
        {"study": study_name},
    ),
    "study": Stage(STUDY, (inputs.first_worker,), of_code={"study": study_name}),
    "refit": Stage(
        {"parts": setting(settings.refit_parts, "learner")} | LEARNER,
        (inputs.study_of_seed,),
        learner_module,
    ),
    "evaluate_tuned": Stage(LEARNER, (paths.TUNED_REPORT,), learner_module),
}
