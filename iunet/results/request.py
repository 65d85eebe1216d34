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
    supernets: list[Cell] = field(
        default_factory=list
    )  # of which the unpruned network is asked for
    masks: bool = False  # the layers of masks
    times: bool = False  # what training and tuning took
    trials: bool = False  # every trial of the studies
    datasets: list[str] = field(default_factory=list)  # beyond those of the cells
    artifacts: list[str] = field(default_factory=list)  # files that the reader opens itself

    def dataset_names(self) -> list[str]:
        return list(dict.fromkeys([*(cell.dataset for cell in self.cells), *self.datasets]))


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
    return Request(bench.cells, supernets, masks=True, times=True)


def asked_runs(bench: Benchmark, request: Request) -> list[AskedRun]:
    """Every network of every cell and seed: all candidates, chosen or not."""
    shown = set(request.supernets)
    found = []
    for cell in dict.fromkeys(request.cells):
        for seed in bench.seeds:
            evaluations = bench.evaluations(cell, seed)
            if cell in shown and cell.method.cuts:
                evaluations = _supernet_evaluations(bench, cell, seed) | evaluations
            for name, evaluation in evaluations.items():
                found.append(_asked_run(bench, cell, seed, name, evaluation, request))
    return found


def files(bench: Benchmark, request: Request) -> list[str]:
    """Every file that `iunet.results.collect` reads for a request, once."""
    found = dict.fromkeys(f for run in asked_runs(bench, request) for f in run.files.values())
    found |= dict.fromkeys(split_reports(bench, request.dataset_names()).values())
    if request.trials:
        found |= dict.fromkeys(f for *_, f, missing in studies(bench, request) if not missing)
    return [*found, *(path for path in request.artifacts if path not in found)]


def request_digest(bench: Benchmark, request: Request) -> str:
    """A fingerprint of what is asked for, and of what is missing."""
    runs = [[*run.key, run.missing] for run in asked_runs(bench, request)]
    extras = [request.masks, request.times, request.trials, request.artifacts]
    splits = split_reports(bench, request.dataset_names())
    return digest(runs, extras, [[n, n in splits] for n in request.dataset_names()])


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
    for cell in request.cells:
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
    bench: Benchmark, cell: Cell, seed: int, name: str, evaluation: str, request: Request
) -> AskedRun:
    method = cell.method
    supernet, _, cut = name.partition("/")
    unpruned = bool(method.cuts) and not cut
    missing = bench.impossible(cell) or (None if bench.exists(evaluation) else NOT_FINISHED)
    found = {"evaluation": evaluation}
    if cut:
        found["choice"] = bench.choice(cell)
    found |= _reports(bench, cell, seed, supernet, cut, request)
    return AskedRun(
        cell.dataset,
        method.network,
        method.name,
        seed,
        "supernet" if unpruned else method.stage,
        supernet,
        cut or None,
        study_folder(bench.config, seed) if method.tuned else None,
        {} if missing else {kind: path for kind, path in found.items() if bench.exists(path)},
        missing,
    )


def _reports(
    bench: Benchmark, cell: Cell, seed: int, supernet: str, cut: str, request: Request
) -> dict[str, str]:
    """The report of a mask, and those of what was trained, as far as the request wants them."""
    method = cell.method
    if method.tuned:
        learner = {"dataset": cell.dataset, "learner": method.network, "seed": seed}
        refit, study = bench.path(paths.TUNED_REPORT, **learner), bench.study(cell, seed)
        return {"refit": refit, "study": study} if request.times else {}
    place = {"dataset": cell.dataset, "network": method.network, "seed": seed}
    if method.stage == "dense":
        path = bench.path(paths.DENSE_REPORT, **place, dense=supernet)
        return {"finetune": path} if request.times else {}
    place["supernet"] = supernet
    found = {}
    if cut and request.masks:
        found["mask"] = bench.subnetwork(paths.MASK_REPORT, **place, cut=cut)
    if request.times:
        found["supernet"] = bench.path(paths.SUPERNET_REPORT, **place)
        if cut:
            found["finetune"] = bench.subnetwork(paths.SUBNETWORK_REPORT, **place, cut=cut)
        elif not trains_decoder(supernet):
            found["decoder"] = bench.path(paths.SUPERNET_DECODER_REPORT, **place)
    return found
