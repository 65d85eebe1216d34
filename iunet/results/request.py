"""Which runs are asked for, and the files that describe them.

Made from the config alone, at every start of Snakemake: standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from iunet.provenance import digest
from iunet.runs import paths
from iunet.runs.entries import NOT_FINISHED, Benchmark, Cell
from iunet.runs.settings import study_folder

SECONDS = ("supernet", "finetune", "decoder", "refit", "study")  # stages that take time
# Entries that also show the supernets from which their methods cut subnetworks.
WITH_SUPERNETS = ("tables.table3", "tables.table5", "figures.figure2")


@dataclass(frozen=True)
class Request:
    """The runs and files that a table, a figure or runs.csv is made of."""

    cells: list[Cell] = field(default_factory=list)
    # The cells for which more is needed than scores and choices:
    supernets: list[Cell] = field(default_factory=list)  # the unpruned networks, too
    masks: list[Cell] = field(default_factory=list)  # the layers of the masks
    times: list[Cell] = field(default_factory=list)  # what training and tuning took
    datasets: list[str] = field(default_factory=list)  # beyond those of the cells
    artifacts: list[str] = field(default_factory=list)  # files that the reader opens itself

    def dataset_names(self) -> list[str]:
        return list(dict.fromkeys([*(cell.dataset for cell in self.cells), *self.datasets]))


@dataclass(frozen=True)
class AskedRun:
    """One evaluated network; `files` are its reports, by their kind."""

    dataset: str
    network: str
    method: str
    seed: int
    stage: str  # supernet, dense, tuned or subnetwork
    supernet: str  # or dense, or the learner
    cut: str | None
    study: str | None  # of a tuned method: the folder of its study
    missing: str | None  # why it is not there
    files: dict[str, str]


def request_of(bench: Benchmark, key: str) -> Request:
    """The runs of an entry of the config; for an entry without methods, its data sets alone."""
    if key not in bench.entries():
        return Request(datasets=bench.datasets_of_table(key.removeprefix("tables.")))
    cells = bench.cells_of(key)
    return Request(cells, supernets=cells if key in WITH_SUPERNETS else [])


def every_run(bench: Benchmark) -> Request:
    """Everything that runs.csv has."""
    shown = [key for key in WITH_SUPERNETS if key in bench.entries()]
    supernets = list(dict.fromkeys(cell for key in shown for cell in bench.cells_of(key)))
    return Request(bench.cells, supernets, masks=bench.cells, times=bench.cells)


def asked_runs(bench: Benchmark, request: Request) -> list[AskedRun]:
    """Every network of every cell and seed: all candidates, chosen or not."""
    supernets, masks, times = set(request.supernets), set(request.masks), set(request.times)
    found = []
    for cell in dict.fromkeys(request.cells):
        kinds = {"evaluation", "choice", "study"}  # a study's failed trials are in every table
        kinds |= {"mask"} if cell in masks else set()
        kinds |= set(SECONDS) if cell in times else set()
        impossible = bench.impossible(cell)
        unpruned = cell.method.supernets if cell in supernets and cell.method.cuts else ()
        for seed in bench.seeds:
            for name in dict.fromkeys([*unpruned, *cell.method.results]):
                found.append(_asked_run(bench, cell, seed, name, kinds, impossible))
    return found


def _asked_run(
    bench: Benchmark, cell: Cell, seed: int, name: str, kinds: set[str], impossible: str | None
) -> AskedRun:
    method = cell.method
    supernet, _, cut = name.partition("/")
    study = study_folder(bench.config, seed) if method.tuned else None
    stage = method.stage_of(name)
    head = (cell.dataset, method.network, method.name, seed, stage, supernet, cut or None, study)
    if impossible:
        return AskedRun(*head, impossible, {})
    files = bench.reports(cell, seed, name, kinds)
    there = {kind: path for kind, path in files.items() if bench.exists(path)}
    return AskedRun(*head, *((None, there) if "evaluation" in there else (NOT_FINISHED, {})))


def files(bench: Benchmark, request: Request) -> list[str]:
    """Every file that `iunet.results.collect` reads for a request, once."""
    found = dict.fromkeys(f for run in asked_runs(bench, request) for f in run.files.values())
    found |= dict.fromkeys(split_reports(bench, request.dataset_names()).values())
    return list(found | dict.fromkeys(request.artifacts))


def request_digest(bench: Benchmark, request: Request) -> str:
    """A fingerprint of what is asked for, and of what is missing."""
    cells = [[*_plain(cell), bench.impossible(cell)] for cell in request.cells]
    parts = (request.supernets, request.masks, request.times)
    extras = [[_plain(cell)[:3] for cell in part] for part in parts]
    asked = asked_runs(bench, request) if bench.config["partial"] else []
    gone = [[r.dataset, r.network, r.method, r.seed, r.supernet, r.cut] for r in asked if r.missing]
    splits = split_reports(bench, request.dataset_names())
    return digest(
        [bench.seeds, cells, extras, request.artifacts],
        gone,
        [[name, name in splits] for name in request.dataset_names()],
    )


def _plain(cell: Cell) -> list:
    method = cell.method
    return [cell.dataset, method.network, method.name, [*method.supernets], [*method.cuts]]


def split_reports(bench: Benchmark, datasets: list[str]) -> dict[str, str]:
    """The reports of the splits that exist or will be made."""
    found = {
        name: bench.path(paths.SPLIT_REPORT, dataset=name)
        for name in datasets
        if name not in bench.unavailable
    }
    return {name: path for name, path in found.items() if bench.exists(path)}
