"""Lineage: what a job stands on, from its rule and wildcards alone.

A path's prefix is its lineage: data set, network, supernet, seed, cut and options name everything
that a job stands on, except the content of the data, which enters at the download. `STAGES` has
every rule that makes part of a run, with its settings and the jobs before it. From these follow

    id        a digest of the settings of a job and of all jobs before it; its artifacts carry it,
              and their readers expect it (iunet/provenance.py)
    upstream  a digest of the settings and the code of all jobs before it; a parameter of the job,
              so that Snakemake repeats it when anything before it changed

Standard library only: this is read at every start of Snakemake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from iunet.artifacts import sha256
from iunet.baselines.catalog import LEARNERS
from iunet.data.registry import check_own_file, mirror_index
from iunet.data.sources import effective_source
from iunet.errors import UserError
from iunet.method.catalog import SCORES, module_of, objective_entry
from iunet.networks.catalog import network_entry
from iunet.provenance import Identity, digest, identity
from iunet.runs import paths, settings
from iunet.runs.entries import Benchmark
from iunet.runs.names import CutName, DenseName, SupernetName, base_network
from iunet.runs.versions import code_lines, script_code
from iunet.training.schedule import schedule_entry

Point = Any  # the wildcards of a job as attributes
LARGE_FILE = 50_000_000  # bytes; the content of a larger file is known by its size and time


@dataclass(frozen=True, eq=False)
class Job:
    """A job of the workflow, with all that its result depends on."""

    identity: Identity  # rule, wildcards, settings, id
    parameters: dict[str, Any]  # settings, and what follows from code
    code: tuple[str, ...]  # versions of the modules that it runs
    upstream: str
    state: str  # a digest of all of it, of which `upstream` of the next job is made
    before: tuple[Job, ...] = field(repr=False)

    @property
    def id(self) -> str:
        return self.identity["id"]


Setting = Callable[["Lineage", Point], Any]
Jobs = Callable[["Lineage", Point], list[Job]]


@dataclass(frozen=True)
class Stage:
    """A rule, as far as its jobs depend on the config."""

    settings: dict[str, Setting]  # parameters of the job, by name
    before: Jobs  # the jobs that it stands on
    module: Callable[[Lineage, Point], str] | None = None  # that its script imports by name
    of_code: dict[str, Setting] = field(default_factory=dict)  # parameters that follow from code


def made_from(
    files: Callable[[Point], Iterable[str]],
    settings: dict[str, Callable[[Point], Any]],
    module: Callable[[Point], str] | None = None,
) -> Stage:
    """A rule that stands on the jobs behind the files that it reads: a table, the page."""
    return Stage(
        {name: lambda lineage, point, f=f: f(point) for name, f in settings.items()},
        lambda lineage, point: lineage.makers(files(point)),
        module and (lambda lineage, point: module(point)),
    )


class Lineage:
    """The jobs of a benchmark, each described once."""

    def __init__(self, bench: Benchmark, scripts: Path, more: dict[str, Stage] | None = None):
        self.bench, self.config = bench, bench.config
        self.scripts = scripts  # the folder of the rules' scripts
        self.stages = STAGES | (more or {})  # with the rules of tables and figures
        self._jobs: dict[tuple, Job] = {}
        self._makers: dict[str, Job | None] = {}
        self._code: dict[str, tuple[str, ...]] = {}

    def job(self, rule: str, **wildcards: str) -> Job:
        """The job of a rule with these wildcards."""
        key = (rule, *sorted(wildcards.items()))
        if key not in self._jobs:
            self._jobs[key] = self._describe(rule, wildcards)
        return self._jobs[key]

    def _describe(self, rule: str, wildcards: dict[str, str]) -> Job:
        stage, point = self.stages[rule], SimpleNamespace(**wildcards)
        before = tuple(stage.before(self, point))
        own = {name: function(self, point) for name, function in stage.settings.items()}
        code = self._code_of(rule, point)
        more = {name: function(self, point) for name, function in stage.of_code.items()}
        who = identity(rule, wildcards, own, sorted({job.id for job in before}))
        upstream = digest(sorted({job.state for job in before}))
        state = digest(who["id"], code, more, upstream)
        return Job(who, own | more, code, upstream, state, before)

    def code_of_script(self, rule: str) -> tuple[str, ...]:
        """The versions of a rule's script and of all science that it imports."""
        if rule not in self._code:
            self._code[rule] = tuple(script_code(self.scripts / f"{rule}.py"))
        return self._code[rule]

    def _code_of(self, rule: str, point: Point) -> tuple[str, ...]:
        """With a module that the script imports by a name of the job's."""
        own, module = self.code_of_script(rule), self.stages[rule].module
        if module is None:
            return own
        return own + tuple(line for line in code_lines(module(self, point)) if line not in own)

    @cached_property
    def mirror(self) -> dict[str, dict[str, str]]:
        """What the mirror holds, by data set."""
        return mirror_index(self.config["data"]["mirror"])

    # ---- which job makes a file

    def maker(self, path: str) -> Job | None:
        """The job that makes a file, wherever the folder of results lies; None if none does."""
        if path not in self._makers:
            self._makers[path] = self._find_maker(path)
        return self._makers[path]

    def makers(self, files: Iterable[str]) -> list[Job]:
        return list(dict.fromkeys(filter(None, map(self.maker, files))))

    def identities(self, files: Iterable[str]) -> dict[str, Identity]:
        """Of files that a job reads: which job each must come from."""
        return {path: made.identity for path in files if (made := self.maker(path))}

    def _find_maker(self, path: str) -> Job | None:
        name = path.rpartition("/")[2]
        for rule, pattern in (*self._patterns.get(name, ()), *self._patterns[""]):
            if (found := pattern.search(path)) and (rule := self._rule(rule, found)):
                return self.job(rule, **found.groupdict())
        return None

    def _rule(self, rule: str, found: re.Match[str]) -> str | None:
        """Tables and images are downloaded and split by rules of their own."""
        if rule not in ("download", "split"):
            return rule
        dataset = self.bench.registry.get(found["dataset"])
        return f"{rule}_{paths.KIND_NAMES[dataset.kind]}" if dataset else None

    @cached_property
    def _patterns(self) -> dict[str, list[tuple[str, re.Pattern[str]]]]:
        """Rules and patterns by the file's name; those with wildcards in it under ''."""
        found: dict[str, list[tuple[str, re.Pattern[str]]]] = {"": []}
        for rule, templates in paths.OUTPUTS.items():
            for template in templates:
                name = template.rpartition("/")[2]
                key = "" if "{" in name else name
                found.setdefault(key, []).append((rule, paths.pattern(template)))
        return found


# ---- the jobs before a job: one stage before it, but for a few exceptions


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
