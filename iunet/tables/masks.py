"""Masks as tables and figures ask for them: which, and what their reports say.

A request is {"dataset", "network", "method", "seed", "stage": "subnetwork", "masks": {name of the
subnetwork: mask.json}, "inits": {supernet: initialisation}, "choice", "own_choice", "cut",
"missing"}, to be read as those of `iunet.tables.reports` are.
"""

from __future__ import annotations

from typing import Any

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.networks.expected import Layer, expected_densities, init_of
from iunet.runs import paths
from iunet.runs.entries import Benchmark, Cell
from iunet.runs.names import CutName, SupernetName, base_network
from iunet.runs.requests import Requests, choosers
from iunet.tables.reports import REDO, choose, describe, refuse_repeated


def chosen_masks(bench: Benchmark, cells: list[Cell], choice_of: str | None = None) -> Requests:
    """A request for the chosen mask of every cell and seed, by its own choice.

    With `choice_of` at the ratio that was chosen for that method, where both have the same ones.
    """
    requests = []
    for cell, chooser in choosers(pruned(cells), choice_of):
        requests += _requests(bench, cell, chooser)
    return requests


def masks_at_each_cut(bench: Benchmark, cells: list[Cell]) -> Requests:
    """A request for every cut; β-LASSO, which has one cut of several supernets, by its choice."""
    requests = []
    for cell in pruned(cells):
        if len(cell.method.supernets) > 1:
            requests += _requests(bench, cell, cell.method.name)
        else:
            for cut in cell.method.cuts:
                requests += _requests(bench, cell, cut=cut)
    return requests


def pruned(cells: list[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.method.cuts]


def _requests(
    bench: Benchmark, cell: Cell, chooser: str | None = None, cut: str | None = None
) -> Requests:
    method = cell.method
    choice = bench.choice(cell, chooser) if chooser else None
    inits = {name: _init(bench, method.network, name) for name in method.supernets}
    requests = []
    for seed in bench.seeds:
        place = {"dataset": cell.dataset, "network": method.network, "seed": seed}
        masks = {
            f"{supernet}/{name}": bench.subnetwork(
                paths.MASK_REPORT, **place, supernet=supernet, cut=name
            )
            for supernet, name in method.candidates()
            if cut in (None, name)
        }
        # Of partial results, masks whose networks are evaluated: those have a row in runs.csv.
        evaluated = [path for name, path in bench.evaluations(cell, seed).items() if name in masks]
        files = [*masks.values(), *evaluated, *([choice] if choice else [])]
        missing = bench.missing(cell, files)
        requests.append(
            {
                **place,
                "method": method.name,
                "stage": "subnetwork",
                "masks": {} if missing else masks,
                "inits": inits,
                "choice": None if missing else choice,
                "own_choice": chooser == method.name,
                "cut": cut,
                "missing": missing,
            }
        )
    return requests


def _init(bench: Benchmark, network: str, supernet: str) -> str:
    own = SupernetName.parse(supernet).init.removeprefix("-")
    return init_of(base_network(network), own or bench.config["init"])


def mask_files(requests: Requests) -> list[str]:
    """The files of requests: their choices, and the reports of their masks."""
    files: dict[str, None] = {}
    for request in requests:
        files |= dict.fromkeys(filter(None, [request["choice"], *request["masks"].values()]))
    return list(files)


# ---- reading


def read_mask_reports(requests: Requests) -> list[dict[str, Any]]:
    """One row per request: what the report of its mask says, or why there is none."""
    refuse_repeated([{**request, "evaluations": {}} for request in requests])
    return [_read(request) for request in requests]


def _read(request: dict[str, Any]) -> dict[str, Any]:
    keys = ("dataset", "network", "method", "seed", "cut", "missing")
    row = {key: request[key] for key in keys}
    row |= {"supernet": None, "failed": None, "report": None}
    if row["missing"]:
        return row
    choice = choose({**request, "evaluations": request["masks"]})
    row |= {"supernet": choice.supernet, "cut": choice.cut, "failed": choice.failed}
    if choice.failed:
        return row
    report = read_json(choice.path)
    for key in ("dataset", "seed"):
        if report.get(key) != request[key]:
            raise UserError(
                f"{choice.path} is the mask of {key} {report.get(key)!r}, but {request[key]!r} was "
                f"asked for ({describe(request)}). {REDO}"
            )
    if not report.get("layers"):
        raise UserError(f"{choice.path} has no layers ({describe(request)}). {REDO}")
    row |= {"failed": report.get("failed"), "report": report}
    row["init"] = request["inits"][choice.supernet]
    return row


def initial_densities(row: dict[str, Any]) -> list[float] | None:
    """The densities that the initial weights alone would give, of masks by a global ratio."""
    cut = CutName.parse(row["cut"])
    if cut.folder != str(CutName(cut.ratio)):
        return None  # of what survived, or of another score than the magnitude
    layers = [Layer.of_shape(layer["shape"]) for layer in row["report"]["layers"]]
    return expected_densities(layers, row["init"], row["report"]["ratio"])
