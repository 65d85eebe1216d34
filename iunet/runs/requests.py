"""What tables and figures ask of the runs: which reports, and which result in them.

Made at every start of Snakemake, from the config alone, and handed to the jobs as plain values.
Reading the reports is left to `iunet.tables` and `iunet.figures`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from iunet.runs import paths
from iunet.runs.entries import Benchmark, Cell
from iunet.runs.names import CutName
from iunet.runs.settings import trains_decoder

Requests = list[dict[str, Any]]


def run_requests(
    bench: Benchmark,
    cells: list[Cell],
    choice_of: str | None = None,
    cut: str | None = None,
    supernets: bool = False,
    supernet: str | None = None,
) -> Requests:
    """A request for every cell and seed (see `iunet.tables.reports`).

    `choice_of` is the method whose chosen ratio all cells with the same ratios use (ablations and
    controls use IUNET's); the others, and all without it, use their own choice. `cut` is a cut for
    all, with no choice at all, and `supernet` its supernet, where a method has several. With
    `supernets` the evaluation of the supernet of each cut is asked for too.
    """
    requests = []
    for cell, chooser in choosers(cells, choice_of):
        method = cell.method
        chosen = method.stage == "subnetwork" and cut is None
        choice = bench.choice(cell, chooser) if chosen else None
        for seed in bench.seeds:
            files = bench.evaluations(cell, seed)
            if cut is not None and method.cuts:
                wanted = f"{supernet or ''}/{cut}"
                files = {name: path for name, path in files.items() if name.endswith(wanted)}
            beside = supernet_files(bench, cell, seed) if supernets and method.cuts else {}
            missing = bench.missing(
                cell, [*files.values(), *beside.values(), *([choice] if choice else [])]
            )
            requests.append(
                {
                    "dataset": cell.dataset,
                    "network": method.network,
                    "method": method.name,
                    "seed": seed,
                    "stage": method.stage,
                    "evaluations": {} if missing else files,
                    "supernets": {} if missing else beside,
                    "choice": None if missing else choice,
                    "own_choice": chooser == method.name,
                    "supernet": supernet,
                    "cut": cut,
                    "missing": missing,
                }
            )
    return requests


def choosers(cells: list[Cell], choice_of: str | None) -> list[tuple[Cell, str]]:
    """Every cell with the method whose choice it uses: `choice_of`, or itself.

    Masks that differ in their score, structure or positions are compared at one ratio: a shuffled
    mask at another one would not have the densities of the mask that it is a control of.
    """
    leaders = {_ratios(cell) for cell in cells if cell.method.name == choice_of}
    return [
        (cell, choice_of if choice_of and _ratios(cell) in leaders else cell.method.name)
        for cell in cells
    ]


def _ratios(cell: Cell) -> tuple[Any, ...]:
    """Where and among which ratios a cell chooses."""
    ratios = frozenset(CutName.parse(cut).ratio for cut in cell.method.cuts)
    return (cell.dataset, cell.method.network, ratios)


def supernet_files(bench: Benchmark, cell: Cell, seed: int) -> dict[str, str]:
    """The evaluations of the supernets of a cell, by name."""
    place = {"dataset": cell.dataset, "network": cell.method.network, "seed": seed}
    return {
        name: bench.path(paths.SUPERNET_EVALUATION, **place, supernet=name)
        for name in cell.method.supernets
    }


def requests_at_each_cut(bench: Benchmark, cells: list[Cell]) -> Requests:
    """A request for every candidate of every cell and seed, with no choice among them.

    Candidates are the ratios of a method, or the l1 of β-LASSO: what survives in each supernet.
    """
    cuts = dict.fromkeys(cut for cell in cells for cut in cell.method.cuts)
    return [
        request
        for cut in cuts
        for cell in cells
        for supernet in (cell.method.supernets if cut in cell.method.cuts else ())
        for request in run_requests(bench, [cell], cut=cut, supernet=supernet)
    ]


def files_of(requests: Requests) -> list[str]:
    """Every file that requests name, once."""
    files: dict[str, None] = {}
    for request in requests:
        for key in ("evaluations", "supernets", "cuts"):
            files |= dict.fromkeys(request.get(key, {}).values())
        single = ("choice", "evaluation", "histograms", "weights", "report", "preprocessing")
        single = (*single, "study", "trials")
        files |= dict.fromkeys(request[key] for key in single if request.get(key))
        files |= dict.fromkeys(request.get("reports", []))
    return list(files)


def supernet_requests(
    bench: Benchmark,
    cells: list[Cell],
    files: dict[str, str],
    seeds: Iterable[int] | None = None,
    cuts: bool = False,
) -> Requests:
    """A request for each supernet and seed, naming its files by what they are (figures).

    `files` maps the name in the request to the path's template. With `cuts` the evaluation of
    every cut of the method is asked for too.
    """
    requests = []
    for cell in cells:
        for supernet in cell.method.supernets:
            for seed in seeds or bench.seeds:
                place = {"dataset": cell.dataset, "network": cell.method.network, "seed": seed}
                named = {k: bench.path(t, **place, supernet=supernet) for k, t in files.items()}
                of_cuts = {
                    cut: bench.subnetwork(
                        paths.SUBNETWORK_EVALUATION, **place, supernet=supernet, cut=cut
                    )
                    for cut in (cell.method.cuts if cuts else ())
                }
                missing = bench.missing(cell, [*named.values(), *of_cuts.values()])
                requests.append(
                    {
                        "dataset": cell.dataset,
                        "method": cell.method.name,
                        "supernet": supernet,
                        "seed": seed,
                        **({} if missing else named),
                        **({"cuts": {} if missing else of_cuts} if cuts else {}),
                        "missing": missing,
                    }
                )
    return requests


def trials_requests(bench: Benchmark, dataset: str) -> Requests:
    """A request for the trials of every tuned method on a data set."""
    requests = []
    for cell in bench.all_cells:
        if cell.dataset == dataset and cell.method.tuned:
            files = {
                "trials": bench.study(cell, bench.seeds[0], paths.STUDY_TRIALS),
                "study": bench.study(cell, bench.seeds[0]),
            }
            missing = bench.missing(cell, files.values())
            content = {"missing": missing} if missing else {**files, "missing": None}
            requests.append({"dataset": cell.dataset, "method": cell.method.name, **content})
    return requests


def cost_requests(bench: Benchmark) -> Requests:
    """A request for the time of every run, and of every study (see `iunet.tables.cost`)."""
    requests: dict[tuple[str, ...], dict[str, Any]] = {}
    for cell in bench.all_cells:
        method = cell.method
        facts = {"dataset": cell.dataset, "network": method.network, "method": method.name}
        for seed in bench.seeds:
            asked = {str(seed): (seed, _training_reports(bench, cell, seed))}
            if method.tuned:
                study = bench.study(cell, seed)
                asked[study] = (None, [study])
            for name, (of_seed, reports) in asked.items():
                # Of partial results, what is evaluated: only that has a row in runs.csv.
                missing = bench.missing(cell, [*reports, *bench.evaluations(cell, seed).values()])
                requests[*facts.values(), name] = {
                    **facts,
                    "seed": of_seed,
                    "missing": missing,
                    "reports": [] if missing else reports,
                }
    return list(requests.values())


def _training_reports(bench: Benchmark, cell: Cell, seed: int) -> list[str]:
    """Of everything that was trained for a run, with all candidates."""
    method = cell.method
    place = {"dataset": cell.dataset, "network": method.network, "seed": seed}
    if method.tuned:
        learner = {"dataset": cell.dataset, "learner": method.network, "seed": seed}
        return [bench.path(paths.TUNED_REPORT, **learner)]
    if method.stage == "dense":
        return [bench.path(paths.DENSE_REPORT, **place, dense=method.supernets[0])]
    supernets = [
        bench.path(paths.SUPERNET_REPORT, **place, supernet=name) for name in method.supernets
    ]
    if method.stage == "supernet":  # the result: it needs a decoder
        supernets += [
            bench.path(paths.SUPERNET_DECODER_REPORT, **place, supernet=name)
            for name in method.supernets
            if not trains_decoder(name)
        ]
    return supernets + [
        bench.subnetwork(paths.SUBNETWORK_REPORT, **place, supernet=supernet, cut=cut)
        for supernet, cut in method.candidates()
    ]
