"""Lineage: everything that a job depends on, from its rule and wildcards alone.

A path's prefix is its lineage: data set, network, supernet, seed, cut and options name everything
that a job depends on, except the content of the data, which enters at the download.
iunet/runs/stages.py lists the settings and the input files of every rule, and the path of a file
tells which job makes it. Two digests follow:

    id        a digest of the settings of a job and of all jobs before it; its artifacts carry it,
              and their readers expect it (iunet/provenance.py)
    upstream  a digest of the settings and the code of all jobs before it; a parameter of the job,
              so that Snakemake repeats it when anything before it changed

Standard library only: this is read at every start of Snakemake.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace as Point  # the wildcards of a job as attributes
from typing import Any

from iunet.provenance import Identity, digest, identity
from iunet.runs import paths
from iunet.runs.entries import Benchmark
from iunet.runs.versions import code_lines, script_code

SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"
Files = dict[str, str | list[str]]  # by the name of the input
Reads = str | Callable[[Benchmark, Point], Files]  # the form of a path, or what gives the files


@dataclass(frozen=True, eq=False)
class Job:
    """A job of the workflow, with all that its result depends on."""

    identity: Identity  # rule, wildcards, settings, id
    parameters: dict[str, Any]  # settings, and what follows from code
    code: list[str]  # versions of the modules that it runs
    upstream: str
    state: str  # a digest of all of it, of which `upstream` of the next job is made
    before: tuple[Job, ...] = field(repr=False)

    @property
    def id(self) -> str:
        return self.identity["id"]


def with_all_before(jobs: Iterable[Job]) -> list[Job]:
    """These jobs and all jobs before them, each once."""
    found: dict[Job, None] = {}
    todo = list(jobs)
    while todo:
        job = todo.pop()
        if job not in found:
            found[job] = None
            todo.extend(job.before)
    return list(found)


@dataclass(frozen=True)
class Stage:
    """A rule, as far as its jobs depend on the config.

    `reads` may leave out files that those it names were made from, too: the split behind weights.
    """

    settings: dict[str, Callable[[Benchmark, Point], Any]]  # parameters of the job, by name
    reads: tuple[Reads, ...] = ()  # the files that it is made from
    module: Callable[[Benchmark, Point], str] | None = None  # imported by name in the script
    of_code: dict[str, Callable[[Lineage, Point], Any]] = field(default_factory=dict)
    script: str = ""  # if it is not named as the rule


class Lineage:
    """The jobs of a benchmark, each described once."""

    def __init__(self, bench: Benchmark, stages: dict[str, Stage]):
        self.bench = bench
        self.stages = stages  # by rule
        self._jobs: dict[tuple, Job] = {}
        self.code = functools.cache(self._code)
        self.maker = functools.cache(self._maker)

    def job(self, rule: str, **wildcards: str) -> Job:
        """The job of a rule with these wildcards."""
        key = (rule, *sorted(wildcards.items()))
        if key not in self._jobs:
            self._jobs[key] = self._describe(rule, wildcards)
        return self._jobs[key]

    def _describe(self, rule: str, wildcards: dict[str, str]) -> Job:
        stage, point = self.stages[rule], Point(**wildcards)
        before = tuple(self.makers(self._files(stage, point)))
        own = {name: function(self.bench, point) for name, function in stage.settings.items()}
        code = self.code(rule, stage.module and stage.module(self.bench, point))
        more = {name: function(self, point) for name, function in stage.of_code.items()}
        who = identity(rule, wildcards, own, sorted({job.id for job in before}))
        upstream = digest(sorted({job.state for job in before}))
        state = digest(who["id"], code, more, upstream)
        return Job(who, own | more, code, upstream, state, before)

    def _files(self, stage: Stage, point: Point) -> Iterator[str]:
        for reads in stage.reads:
            if isinstance(reads, str):
                yield self.bench.path(reads, **vars(point))
            else:
                for files in reads(self.bench, point).values():
                    yield from [files] if isinstance(files, str) else files

    def _code(self, rule: str, module: str | None = None) -> list[str]:
        """The versions of a rule's script and of all science that it imports.

        With a module that the script imports by a name of the job's.
        """
        own = script_code(SCRIPTS / f"{self.stages[rule].script or rule}.py")
        more = code_lines(module) if module else []
        return own + [line for line in more if line not in own]

    # ---- which job makes a file

    def _maker(self, path: str) -> Job | None:
        """The job that makes a file in any folder of results; None if no job does."""
        if (found := paths.rule_of(path)) is None:
            return None
        rule, wildcards = found
        if rule in ("download", "split"):  # tables and images have rules of their own
            if (dataset := self.bench.registry.get(wildcards["dataset"])) is None:
                return None
            rule = f"{rule}_{paths.KIND_NAMES[dataset.kind]}"
        return self.job(rule, **wildcards)

    def makers(self, files: Iterable[str]) -> list[Job]:
        return list(dict.fromkeys(filter(None, map(self.maker, files))))

    def identities(self, files: Iterable[str]) -> dict[str, Identity]:
        """The job that each of these files must come from."""
        return {path: made.identity for path in files if (made := self.maker(path))}
