"""The stages of a run: the settings of every rule, and the jobs that its jobs stand on.

A job stands on one job of the stage before it, but for a few exceptions: a mask of another seed, a
decoder, a choice. Standard library only: this is read at every start of Snakemake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from iunet.artifacts import sha256
from iunet.baselines.catalog import LEARNERS
from iunet.data.registry import check_own_file
from iunet.data.sources import effective_source
from iunet.errors import UserError
from iunet.method.catalog import SCORES, module_of, objective_entry
from iunet.networks.catalog import network_entry
from iunet.provenance import digest
from iunet.runs import paths, settings
from iunet.runs.lineage import Job, Jobs, Lineage, Point, Setting, Stage
from iunet.runs.names import CutName, DenseName, SupernetName, base_network
from iunet.runs.versions import code_lines
from iunet.training.schedule import schedule_entry

LARGE_FILE = 50_000_000  # bytes; the content of a larger file is known by its size and time


# ---- the jobs before a job


def point_of(point: Point, *names: str, **others: str) -> dict[str, str]:
    return {name: getattr(point, name) for name in names} | others


def download(lineage: Lineage, point: Point) -> Job:
    kind = lineage.bench.registry[point.dataset].kind
    return lineage.job(f"download_{paths.KIND_NAMES[kind]}", dataset=point.dataset)


def split(lineage: Lineage, point: Point) -> Job:
    kind = lineage.bench.registry[point.dataset].kind
    return lineage.job(f"split_{paths.KIND_NAMES[kind]}", dataset=point.dataset)


def initial(lineage: Lineage, point: Point) -> Job:
    """The initial weights of a supernet or dense network; its name says which."""
    name = SupernetName.parse(point.supernet) if hasattr(point, "supernet") else None
    name = name or DenseName.parse(point.dense)
    place = point_of(point, "dataset", "network", "seed", initial=name.initial)
    return lineage.job("initialise", **place)


def supernet(lineage: Lineage, point: Point, seed: str | None = None) -> Job:
    place = point_of(point, "dataset", "network", "supernet", seed=seed or point.seed)
    return lineage.job("supernet", **place)


def of_prune(lineage: Lineage, point: Point) -> list[Job]:
    """A mask may come from the supernet of another seed."""
    seed = str(settings.seed_of_mask(lineage.config, point))
    return [initial(lineage, point), supernet(lineage, point, seed)]


def of_finetune(lineage: Lineage, point: Point) -> list[Job]:
    """A fine-tuning may start from the trained supernet."""
    mask = lineage.job("prune", **point_of(point, "dataset", "network", "supernet", "seed", "cut"))
    trained = settings.starts_trained(lineage.config, point)
    return [initial(lineage, point), mask, *([supernet(lineage, point)] if trained else [])]


def of_evaluate_supernet(lineage: Lineage, point: Point) -> list[Job]:
    """An objective that trains no decoder gets one that is trained afterwards."""
    place = point_of(point, "dataset", "network", "supernet", "seed")
    trained = settings.trains_decoder(point.supernet)
    decoder = [] if trained else [lineage.job("decoder", **place)]
    return [lineage.job("supernet", **place), *decoder]


def candidates(lineage: Lineage, point: Point, seeds: Iterable[int]) -> list[Job]:
    """The fine-tunings among which a method's ratio or l1 is chosen."""
    method = lineage.bench.method(point.method, point.network)
    found = []
    for supernet_name, cut in method.candidates():
        name = CutName.parse(cut)
        place = {"supernet": supernet_name, "cut": name.folder, "options": name.options}
        for seed in seeds:
            coordinates = point_of(point, "dataset", "network", seed=str(seed), **place)
            found.append(lineage.job("finetune", **coordinates))
    return found


def of_choose(lineage: Lineage, point: Point) -> list[Job]:
    return candidates(lineage, point, lineage.bench.seeds)


def of_latency(lineage: Lineage, point: Point) -> list[Job]:
    """The candidates of the first seed, the choice, and the dense network beside them."""
    seed = lineage.bench.seeds[0]
    method = lineage.bench.method(point.method, point.network)
    dense = str(DenseName(SupernetName.parse(method.supernets[0]).init))
    place = point_of(point, "dataset", "network")
    return [
        *candidates(lineage, point, [seed]),
        lineage.job("choose", **place, method=point.method),
        lineage.job("train_dense", **place, dense=dense, seed=str(seed)),
    ]


def of_study(lineage: Lineage, point: Point) -> list[Job]:
    """Its first worker stands for all of them: their number changes no trial."""
    place = point_of(point, "dataset", "learner", "study")
    return [lineage.job("tune", **place, worker="0")]


def of_refit(lineage: Lineage, point: Point) -> list[Job]:
    study = settings.study_folder(lineage.config, point.seed)
    return [lineage.job("study", **point_of(point, "dataset", "learner", study=study))]


def the_job(rule: str, *wildcards: str) -> Jobs:
    """The one job of a rule, with some wildcards of the job that stands on it."""
    return lambda lineage, point: [lineage.job(rule, **point_of(point, *wildcards))]


# ---- settings


def setting(function: Callable[[settings.Config, Point], Any]) -> Setting:
    """What a function of iunet/runs/settings.py gives for the job."""
    return lambda lineage, point: function(lineage.config, point)


def setting_by(wildcard: str, function: Callable[[settings.Config, str], Any]) -> Setting:
    """What a function of the config and one wildcard gives."""
    return lambda lineage, point: function(lineage.config, getattr(point, wildcard))


def registry_row(lineage: Lineage, point: Point) -> dict[str, Any]:
    """The registry row as plain values: another row is another data set, and is fetched anew."""
    row = lineage.bench.registry[point.dataset].row()
    return {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}


def source(lineage: Lineage, point: Point) -> str:
    return effective_source(lineage.bench.registry[point.dataset], lineage.config["data"]["mirror"])


def mirror_sha256(lineage: Lineage, point: Point) -> str | None:
    """What the mirror holds, and not where it is: a mirror may move without making data anew."""
    if source(lineage, point) != "mirror":
        return None
    mirror = lineage.config["data"]["mirror"]
    if point.dataset in lineage.bench.unavailable:
        raise UserError(
            f"Data set '{point.dataset}' is not in the mirror '{mirror}' (config key data.mirror). "
            "Add it there, or set data.mirror to null to use the network."
        )
    return lineage.mirror[point.dataset]["sha256"]


def file_content(lineage: Lineage, point: Point) -> str | None:
    """The content of a user's own file."""
    dataset = lineage.bench.registry[point.dataset]
    if dataset.source != "file":
        return None
    check_own_file(dataset)
    facts = Path(dataset.location).stat()
    if facts.st_size > LARGE_FILE:
        return f"{facts.st_size} {facts.st_mtime_ns}"
    return sha256(dataset.location)[:12]


def split_settings(lineage: Lineage, point: Point) -> dict[str, Any]:
    return settings.split_settings(lineage.config, lineage.bench.registry[point.dataset])


def candidate_names(lineage: Lineage, point: Point) -> list[list[str]]:
    """The names of the candidates, as [supernet, cut]."""
    method = lineage.bench.method(point.method, point.network)
    return [list(candidate) for candidate in method.candidates()]


def study_name(lineage: Lineage, point: Point) -> str:
    """What the trials of a study depend on; after a change of any of it, a new one begins.

    It is a name inside the journal, and the journal is no output: raising a budget, or repeating a
    job that was cut off, continues the study. Code around the trials is left out: they stay true
    when it changes.
    """
    facts = digest(
        split(lineage, point).state,
        settings.learner_settings(lineage.config, point.learner),
        code_lines(LEARNERS[point.learner].module),
        settings.study_seed(point.study),
    )
    return f"{point.dataset}-{point.learner}-{facts}"


# ---- modules that a script imports by name


def source_module(lineage: Lineage, point: Point) -> str:
    return f"iunet.data.sources.{source(lineage, point)}"


def network_module(lineage: Lineage, point: Point) -> str:
    """The file that builds the network: a new network is no reason to train the others again."""
    return network_entry(base_network(point.network)).module


def learner_module(lineage: Lineage, point: Point) -> str:
    return LEARNERS[point.learner].module


def objective_module(lineage: Lineage, point: Point) -> str:
    return module_of(objective_entry(SupernetName.parse(point.supernet).objective).loss)


def score_module(lineage: Lineage, point: Point) -> str:
    return module_of(SCORES[CutName.parse(point.cut).score].masks)


def schedule_module(lineage: Lineage, point: Point) -> str:
    return module_of(schedule_entry(settings.finetune_settings(lineage.config, point)).make)


# ---- the stages, in the order of the data


DOWNLOAD = Stage(
    {"row": registry_row, "source": source, "mirror_sha256": mirror_sha256, "file": file_content},
    lambda lineage, point: [],
    source_module,
)
SPLIT = Stage({"settings": split_settings}, lambda lineage, point: [download(lineage, point)])
RECIPE = {"settings": setting(settings.finetune_settings)}
AUGMENT = {"augment": setting(settings.augment_settings)}
LEARNER = {"settings": setting_by("learner", settings.learner_settings)}
STUDY = LEARNER | {"budget": setting_by("learner", settings.study_budget)}
SUPERNET = ("dataset", "network", "supernet", "seed")
STAGES: dict[str, Stage] = {
    "download_table": DOWNLOAD,
    "download_images": DOWNLOAD,
    "split_table": SPLIT,
    "split_images": SPLIT,
    "initialise": Stage(
        {
            "network": setting_by("network", settings.network_settings),
            "init": setting_by("initial", settings.init_settings),
        },
        lambda lineage, point: [split(lineage, point)],
        network_module,
    ),
    "supernet": Stage(
        {
            "settings": setting(settings.supernet_settings),
            "augment": setting(settings.supernet_augment),
        },
        lambda lineage, point: [initial(lineage, point)],
        objective_module,
    ),
    "prune": Stage({"cut": setting(settings.cut_settings)}, of_prune, score_module),
    "finetune": Stage(RECIPE, of_finetune, schedule_module),
    "train_dense": Stage(RECIPE, lambda lineage, point: [initial(lineage, point)], schedule_module),
    "decoder": Stage(RECIPE, the_job("supernet", *SUPERNET), schedule_module),
    "evaluate": Stage(AUGMENT, the_job("finetune", *SUPERNET, "cut", "options")),
    "evaluate_supernet": Stage(AUGMENT, of_evaluate_supernet),
    "evaluate_dense": Stage(AUGMENT, the_job("train_dense", "dataset", "network", "dense", "seed")),
    "choose": Stage(
        {
            "candidates": candidate_names,
            "seeds": lambda lineage, point: lineage.bench.seeds,
            "metric": setting(settings.choice_metric),
        },
        of_choose,
    ),
    "latency": Stage(
        {"candidates": candidate_names, "seed": lambda lineage, point: lineage.bench.seeds[0]},
        of_latency,
    ),
    "tune": Stage(
        STUDY | {"seed": setting_by("study", lambda config, study: settings.study_seed(study))},
        lambda lineage, point: [split(lineage, point)],
        learner_module,
        {"study": study_name},
    ),
    "study": Stage(STUDY, of_study, of_code={"study": study_name}),
    "refit": Stage(
        {"parts": setting_by("learner", settings.refit_parts)} | LEARNER, of_refit, learner_module
    ),
    "evaluate_tuned": Stage(
        LEARNER, the_job("refit", "dataset", "learner", "seed"), learner_module
    ),
}
