"""What tables and figures ask of the runs: which reports, and which result in them.

Made at every start of Snakemake, from the config alone, and handed to the jobs as plain values
(standard library only). Reading the reports is left to `iunet.tables` and `iunet.figures`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from iunet.runs.entries import Planned
from iunet.runs.names import TUNED

NOT_FINISHED = "not finished"


@dataclass(frozen=True)
class Results:
    """Where results lie, and which of them count as there."""

    root: str  # results/demo
    seeds: tuple[int, ...]
    unavailable: dict[str, str]  # data sets that cannot be had, with the reason
    exists: Callable[[str], bool] = lambda path: True  # with partial results: asks the disk

    def folder(self, run: Planned) -> str:
        return f"{self.root}/runs/{run.dataset}/{run.method.network}"

    def missing(self, run: Planned, paths: Iterable[str]) -> str | None:
        """Why a run cannot be shown, if it cannot."""
        if run.dataset in self.unavailable:
            return self.unavailable[run.dataset]
        return None if all(map(self.exists, paths)) else NOT_FINISHED


def kind_of(run: Planned) -> str:
    """Which result of an evaluation is the method's: a supernet's, a cut's, …"""
    if run.method.recipe in TUNED:
        return "tuned"
    if run.method.recipe == "dense":
        return "dense"
    return "cut" if run.method.cuts else "supernet"


def evaluations(run: Planned, seed: int, results: Results) -> dict[str, str]:
    """The evaluation of each supernet that a method may choose."""
    folder = results.folder(run)
    if run.method.recipe in TUNED:
        return {run.method.network: f"{folder}/seed{seed}/evaluation.json"}
    return {name: f"{folder}/{name}/seed{seed}/evaluation.json" for name in run.method.supernets}


def run_requests(
    runs: list[Planned], results: Results, choice_of: str | None = None, cut: str | None = None
) -> list[dict[str, Any]]:
    """A request for every run and seed (see `iunet.tables.frame.read_runs`).

    `choice_of` is the method whose chosen ratio all runs with the same cuts use (the ablations use
    IUNET's); the others, and all without it, use their own choice. `cut` is a cut for all, with no
    choice at all.
    """
    requests = []
    leaders = {
        (run.dataset, run.method.network, run.method.cuts): run.method.name
        for run in runs
        if run.method.name == choice_of
    }
    for run in runs:
        kind = kind_of(run)
        same = (run.dataset, run.method.network, run.method.cuts)
        chooser = leaders.get(same, run.method.name)
        chosen = kind == "cut" and cut is None
        selection = f"{results.folder(run)}/selection-{chooser}.json" if chosen else None
        for seed in results.seeds:
            files = evaluations(run, seed, results)
            missing = results.missing(run, [*files.values(), *([selection] if selection else [])])
            requests.append(
                {
                    "dataset": run.dataset,
                    "network": run.method.network,
                    "method": run.method.name,
                    "seed": seed,
                    "kind": kind,
                    "evaluations": {} if missing else files,
                    "selection": None if missing else selection,
                    "own_selection": chooser == run.method.name,
                    "cut": cut if kind == "cut" else None,
                    "missing": missing,
                }
            )
    return requests


def requests_at_each_cut(runs: list[Planned], results: Results) -> list[dict[str, Any]]:
    """A request for every cut of every run and seed, with no choice among them."""
    cuts = dict.fromkeys(cut for run in runs for cut in run.method.cuts)
    return [
        request
        for cut in cuts
        for request in run_requests([r for r in runs if cut in r.method.cuts], results, cut=cut)
    ]


def files_of(requests: list[dict[str, Any]]) -> list[str]:
    """Every file that requests name, once."""
    files: dict[str, None] = {}
    for request in requests:
        files |= dict.fromkeys(request.get("evaluations", {}).values())
        single = ("selection", "evaluation", "histograms", "weights", "report", "preprocessing")
        files |= dict.fromkeys(request[key] for key in (*single, "trials") if request.get(key))
        files |= dict.fromkeys(request.get("reports", []))
    return list(files)


def supernet_requests(
    runs: list[Planned], results: Results, files: dict[str, str], seeds: Iterable[int] | None = None
) -> list[dict[str, Any]]:
    """A request for each supernet and seed, naming files beside it by what they are (figures).

    `files` maps the name in the request to the file's: {"evaluation": "evaluation.json"}.
    """
    requests = []
    for run in runs:
        for supernet in run.method.supernets:
            for seed in seeds or results.seeds:
                folder = f"{results.folder(run)}/{supernet}/seed{seed}"
                paths = {name: f"{folder}/{file}" for name, file in files.items()}
                missing = results.missing(run, paths.values())
                requests.append(
                    {
                        "dataset": run.dataset,
                        "method": run.method.name,
                        "supernet": supernet,
                        "seed": seed,
                        **({} if missing else paths),
                        "missing": missing,
                    }
                )
    return requests


def trials_requests(runs: list[Planned], results: Results, study: str) -> list[dict[str, Any]]:
    """A request for the trials of every tuned method among the runs."""
    requests = []
    for run in runs:
        if run.method.recipe in TUNED:
            path = f"{results.folder(run)}/{study}/trials.csv"
            missing = results.missing(run, [path])
            content = {"missing": missing} if missing else {"trials": path, "missing": None}
            requests.append({"dataset": run.dataset, "method": run.method.name, **content})
    return requests


def cost_requests(
    runs: list[Planned], results: Results, studies: Callable[[int], str]
) -> list[dict[str, Any]]:
    """A request for the time of every run, and of every study (see `iunet.tables.cost`)."""
    requests: dict[tuple[str, ...], dict[str, Any]] = {}
    for run in runs:
        facts = {"dataset": run.dataset, "network": run.method.network, "method": run.method.name}
        folder = results.folder(run)
        for seed in results.seeds:
            reports = _training_reports(run, folder, seed)
            if run.method.recipe in TUNED:
                study = f"{folder}/{studies(seed)}/study.json"
                missing = results.missing(run, [study])
                content = {**facts, "seed": None, "missing": missing}
                requests[*facts.values(), study] = {
                    **content,
                    "reports": [] if missing else [study],
                }
            missing = results.missing(run, reports)
            content = {**facts, "seed": seed, "missing": missing}
            requests[*facts.values(), str(seed)] = {
                **content,
                "reports": [] if missing else reports,
            }
    return list(requests.values())


def _training_reports(run: Planned, folder: str, seed: int) -> list[str]:
    method = run.method
    if method.recipe in TUNED:
        return [f"{folder}/seed{seed}/refit.json"]
    if method.recipe == "dense":
        return [f"{folder}/{method.supernets[0]}/seed{seed}/finetune.json"]
    places = [f"{folder}/{supernet}/seed{seed}" for supernet in method.supernets]
    supernets = [f"{place}/supernet.json" for place in places]
    return supernets + [f"{place}/{cut}/finetune.json" for place in places for cut in method.cuts]
