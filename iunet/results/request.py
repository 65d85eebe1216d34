"""Which runs are asked for, and the files that tell of them.

Made from the config alone, at every start of Snakemake: standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from iunet.provenance import digest
from iunet.runs import paths
from iunet.runs.entries import NOT_FINISHED, Benchmark, Cell
from iunet.runs.settings import study_folder, trains_decoder

SECONDS = ("supernet", "finetune", "decoder", "refit", "study")  # stages that take time
# Entries that show the supernets of their methods beside what is cut from them.
WITH_SUPERNETS = ("tables.table3", "tables.table5", "figures.figure2")


@dataclass(frozen=True)
class Request:
    """What a table, a figure or runs.csv is made of."""

    cells: list[Cell] = field(default_factory=list)
    # Those of the cells that more is asked for than scores and choices:
    supernets: list[Cell] = field(default_factory=list)  # the unpruned networks, too
    masks: list[Cell] = field(default_factory=list)  # the layers of the masks
    times: list[Cell] = field(default_factory=list)  # what training and tuning took
    trials: list[Cell] = field(default_factory=list)  # every trial of the studies
    datasets: list[str] = field(default_factory=list)  # beyond those of the cells
    artifacts: list[str] = field(default_factory=list)  # files that the reader opens itself

    def dataset_names(self) -> list[str]:
        cells = [*self.cells, *self.trials]
        return list(dict.fromkeys([*(cell.dataset for cell in cells), *self.datasets]))


@dataclass(frozen=True)
class AskedRun:
    """One evaluated network; `files` are the reports that tell of it, by what they are."""

    dataset: str
    network: str
    method: str
    seed: int
    stage: str  # supernet, dense, tuned or subnetwork
    supernet: str  # or dense, or the learner
    cut: str | None
    study: str | None  # of a tuned method: the folder of its study
    files: dict[str, str]
    missing: str | None  # why it is not there

    @property
    def key(self) -> tuple:
        return (self.dataset, self.network, self.method, self.seed, self.supernet, self.cut)

    def __str__(self) -> str:
        return f"{self.dataset}, {self.network}, {self.method}, seed {self.seed}"


def every_run(bench: Benchmark) -> Request:
    """All that runs.csv tells."""
    shown = [key for key in WITH_SUPERNETS if key in bench.entries()]
    supernets = list(dict.fromkeys(cell for key in shown for cell in bench.cells_of(key)))
    return Request(bench.cells, supernets, masks=bench.cells, times=bench.cells)


def asked_runs(bench: Benchmark, request: Request) -> list[AskedRun]:
    """Every network of every cell and seed: all candidates, chosen or not."""
    supernets, masks, times = set(request.supernets), set(request.masks), set(request.times)
    found = []
    for cell in dict.fromkeys(request.cells):
        impossible = bench.impossible(cell)
        for seed in bench.seeds:
            evaluations = bench.evaluations(cell, seed)
            if cell in supernets and cell.method.cuts:
                evaluations = _supernet_evaluations(bench, cell, seed) | evaluations
            for name, evaluation in evaluations.items():
                files = {"evaluation": evaluation, **_choice(bench, cell, name)}
                files |= _mask(bench, cell, seed, name) if cell in masks else {}
                files |= _trained(bench, cell, seed, name) if cell in times else {}
                found.append(_asked_run(bench, cell, seed, name, files, impossible))
    return found


def files(bench: Benchmark, request: Request) -> list[str]:
    """Every file that `iunet.results.collect` reads for a request, once."""
    found = dict.fromkeys(f for run in asked_runs(bench, request) for f in run.files.values())
    found |= dict.fromkeys(split_reports(bench, request.dataset_names()).values())
    found |= dict.fromkeys(f for *_, f, missing in studies(bench, request) if not missing)
    return [*found, *(path for path in request.artifacts if path not in found)]


def request_digest(bench: Benchmark, request: Request) -> str:
    """A fingerprint of what is asked for, and of what is missing."""
    cells = [[*_plain(cell), bench.impossible(cell)] for cell in request.cells]
    parts = (request.supernets, request.masks, request.times, request.trials)
    extras = [[_plain(cell)[:3] for cell in part] for part in parts]
    gone = asked_runs(bench, request) if bench.config["partial"] else []
    splits = split_reports(bench, request.dataset_names())
    return digest(
        [bench.seeds, cells, extras, request.artifacts],
        [[*run.key] for run in gone if run.missing],
        [[name, name in splits] for name in request.dataset_names()],
    )


def _plain(cell: Cell) -> list:
    method = cell.method
    return [cell.dataset, method.network, method.name, [*method.supernets], [*method.cuts]]


def split_reports(bench: Benchmark, datasets: list[str]) -> dict[str, str]:
    """The reports of the splits that are there, or will be made."""
    found = {
        name: bench.path(paths.SPLIT_REPORT, dataset=name)
        for name in datasets
        if name not in bench.unavailable
    }
    return {name: path for name, path in found.items() if bench.exists(path)}


def studies(bench: Benchmark, request: Request) -> list[tuple[Cell, str, str, str | None]]:
    """Of every study: its cell, its name, the file of its trials, and why it is missing."""
    found = {}
    for cell in request.trials:
        for seed in bench.seeds if cell.method.tuned else ():
            path = bench.study(cell, seed, paths.STUDY_TRIALS)
            name = study_folder(bench.config, seed)
            found[path] = (cell, name, path, bench.missing(cell, [path]))
    return list(found.values())


def _supernet_evaluations(bench: Benchmark, cell: Cell, seed: int) -> dict[str, str]:
    place = {"dataset": cell.dataset, "network": cell.method.network, "seed": seed}
    return {
        name: bench.path(paths.SUPERNET_EVALUATION, **place, supernet=name)
        for name in cell.method.supernets
    }


def _asked_run(
    bench: Benchmark,
    cell: Cell,
    seed: int,
    name: str,
    files: dict[str, str],
    impossible: str | None,
) -> AskedRun:
    method = cell.method
    supernet, _, cut = name.partition("/")
    unpruned = bool(method.cuts) and not cut
    there = {kind: path for kind, path in files.items() if bench.exists(path)}
    missing = impossible or (None if "evaluation" in there else NOT_FINISHED)
    return AskedRun(
        cell.dataset,
        method.network,
        method.name,
        seed,
        "supernet" if unpruned else method.stage,
        supernet,
        cut or None,
        study_folder(bench.config, seed) if method.tuned else None,
        {} if missing else there,
        missing,
    )


def _choice(bench: Benchmark, cell: Cell, name: str) -> dict[str, str]:
    return {"choice": bench.choice(cell)} if "/" in name else {}


def _mask(bench: Benchmark, cell: Cell, seed: int, name: str) -> dict[str, str]:
    supernet, _, cut = name.partition("/")
    place = {"dataset": cell.dataset, "network": cell.method.network, "seed": seed}
    template = paths.MASK_REPORT
    return {"mask": bench.subnetwork(template, **place, supernet=supernet, cut=cut)} if cut else {}


def _trained(bench: Benchmark, cell: Cell, seed: int, name: str) -> dict[str, str]:
    """The reports of all that was trained for a network."""
    method = cell.method
    if method.tuned:
        learner = {"dataset": cell.dataset, "learner": method.network, "seed": seed}
        return {
            "refit": bench.path(paths.TUNED_REPORT, **learner),
            "study": bench.study(cell, seed),
        }
    supernet, _, cut = name.partition("/")
    place = {"dataset": cell.dataset, "network": method.network, "seed": seed}
    if method.stage == "dense":
        return {"finetune": bench.path(paths.DENSE_REPORT, **place, dense=supernet)}
    place["supernet"] = supernet
    found = {"supernet": bench.path(paths.SUPERNET_REPORT, **place)}
    if cut:
        found["finetune"] = bench.subnetwork(paths.SUBNETWORK_REPORT, **place, cut=cut)
    elif not trains_decoder(supernet):
        found["decoder"] = bench.path(paths.SUPERNET_DECODER_REPORT, **place)
    return found
