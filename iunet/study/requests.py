"""Which files the rows of runs.csv are read from (standard library only: read at every start)."""

from __future__ import annotations

from typing import Any

from iunet.runs import paths
from iunet.runs.entries import Benchmark, Cell
from iunet.runs.requests import Requests, supernet_files
from iunet.runs.settings import trains_decoder

# The files of a row, by what they are in its request.
FILES = (
    "evaluation",
    "mask",
    "choice",
    "supernet",
    "finetune",
    "decoder",
    "refit",
    "study",
    "split",
)
# Entries that show the supernets of their methods beside what is cut from them.
WITH_SUPERNETS = ("tables.table3", "tables.table5", "figures.figure2")
KEY = ("dataset", "network", "method", "seed", "supernet", "cut")


def row_requests(bench: Benchmark) -> Requests:
    """A request for every network of every cell and seed: all candidates, chosen or not.

    `files` has what is there of it, by the names of FILES; without an evaluation there is no row.
    """
    shown = {cell for key in WITH_SUPERNETS for cell in _cells(bench, key)}
    requests = []
    for cell in bench.cells:
        for seed in bench.seeds:
            evaluations = bench.evaluations(cell, seed)
            if cell in shown and cell.method.cuts:
                evaluations = supernet_files(bench, cell, seed) | evaluations
            for name, evaluation in evaluations.items():
                if bench.exists(evaluation):
                    requests.append(_request(bench, cell, seed, name, evaluation))
    return requests


def _cells(bench: Benchmark, key: str) -> list[Cell]:
    return bench.cells_of(key) if key in bench.entries() else []


def _request(bench: Benchmark, cell: Cell, seed: int, name: str, evaluation: str) -> dict[str, Any]:
    method = cell.method
    supernet, _, cut = name.partition("/")
    unpruned = bool(method.cuts) and not cut
    files = {
        "evaluation": evaluation,
        "split": bench.path(paths.SPLIT_REPORT, dataset=cell.dataset),
    }
    files |= _reports(bench, cell, seed, supernet, cut)
    return {
        "dataset": cell.dataset,
        "network": method.network,
        "method": method.name,
        "seed": seed,
        "stage": "supernet" if unpruned else method.stage,
        "supernet": supernet,
        "cut": cut or None,
        "files": {key: path for key, path in files.items() if bench.exists(path)},
    }


def _reports(bench: Benchmark, cell: Cell, seed: int, supernet: str, cut: str) -> dict[str, str]:
    """The reports of what was trained for a network, of its mask, and of the choice."""
    method = cell.method
    if method.tuned:
        learner = {"dataset": cell.dataset, "learner": method.network, "seed": seed}
        return {
            "refit": bench.path(paths.TUNED_REPORT, **learner),
            "study": bench.study(cell, seed),
        }
    place = {"dataset": cell.dataset, "network": method.network, "seed": seed}
    if method.stage == "dense":
        return {"finetune": bench.path(paths.DENSE_REPORT, **place, dense=supernet)}
    place["supernet"] = supernet
    files = {"supernet": bench.path(paths.SUPERNET_REPORT, **place)}
    if not cut:
        if not trains_decoder(supernet):
            files["decoder"] = bench.path(paths.SUPERNET_DECODER_REPORT, **place)
        return files
    return files | {
        "mask": bench.subnetwork(paths.MASK_REPORT, **place, cut=cut),
        "finetune": bench.subnetwork(paths.SUBNETWORK_REPORT, **place, cut=cut),
        "choice": bench.choice(cell),
    }


def files_of_rows(requests: Requests) -> list[str]:
    """Every file that rows are read from, once."""
    return list(dict.fromkeys(path for request in requests for path in request["files"].values()))
