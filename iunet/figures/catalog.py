"""The figures in the order of the page: for each its title and what it is made of.

Imported at every start of Snakemake: what draws is imported in the figure's own job.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

from iunet.results.request import Request, request_of
from iunet.runs import paths
from iunet.runs.entries import Benchmark, Declared, why_empty
from iunet.runs.settings import study_folder

TUNING = "tuning/"  # figures of the studies on one data set: tuning/<dataset>
FILES = {  # of a supernet, which these figures read themselves
    "figure3": {"arrays": paths.SUPERNET_HISTOGRAMS},
    "figure4": {"arrays": paths.SUPERNET_WEIGHTS, "report": paths.SUPERNET_REPORT},
}


@dataclass(frozen=True)
class FigureEntry:
    title: str
    request: Callable[[Benchmark, str], Request]  # what it is made of, by its name
    key: str = ""  # the config's entry that names its data sets
    kind: str | None = None  # of data, if it is for one kind only


def _every_method(bench: Benchmark, name: str) -> Request:
    return Request(bench.cells)


def _runs(bench: Benchmark, name: str) -> Request:
    return request_of(bench, figure_entry(bench, name).key)


def _histories(bench: Benchmark, name: str) -> Request:
    """The runs, and the reports of their trainings."""
    cells = bench.cells_of(figure_entry(bench, name).key)
    return Request(cells, times=cells)


def _arrays(bench: Benchmark, name: str) -> Request:
    paths_of = (path for s in trained_supernets(bench, name) for path in s["files"].values())
    return Request(artifacts=list(dict.fromkeys(paths_of)))


def _masks(bench: Benchmark, name: str) -> Request:
    """Masks of the table of laziness."""
    cells = [cell for cell in bench.cells_of("tables.laziness") if cell.method.cuts]
    return Request(cells, masks=cells)


def _ranking(bench: Benchmark, name: str) -> Request:
    return Request(artifacts=[bench.path(paths.TABLE_DOCUMENT, table="ranking")])


def _trials(bench: Benchmark, name: str) -> Request:
    studies = tuned_studies(bench, name)
    return Request(artifacts=[path for _, path, missing in studies if not missing])


FIGURES = {
    "overview": FigureEntry("IUNET against every other method", _every_method),
    "figure2": FigureEntry(
        "Figure 2: validation accuracy against compression", _runs, "figures.figure2", "vision"
    ),
    "figure3": FigureEntry(
        "Figure 3: magnitudes of weights during training", _arrays, "figures.figure3", "vision"
    ),
    "figure4": FigureEntry(
        "Figure 4: first-layer weights after training", _arrays, "figures.figure4"
    ),
    "curves": FigureEntry(
        "Validation accuracy during training", _histories, "figures.curves", "vision"
    ),
    "densities": FigureEntry("Densities of the layers of masks", _masks, "tables.laziness"),
    "critical_difference": FigureEntry(
        "Critical difference of the methods on tables", _ranking, "tables.table7"
    ),
}


def figure_entry(bench: Benchmark, name: str) -> FigureEntry:
    """A figure of the catalog, of an experiment of the config, or of the studies on a data set."""
    if name in bench.config["experiments"]:
        return FigureEntry(f"Experiment {name}: scores", _runs, f"experiments.{name}")
    if name.startswith(TUNING):
        return FigureEntry(f"Tuning on {name.removeprefix(TUNING)}", _trials)
    return FIGURES[name]


def figure_module(bench: Benchmark, name: str) -> str:
    """The module that draws a figure; one of the catalog has a module with its own name."""
    if name in bench.config["experiments"]:
        return "iunet.figures.scores"
    return "iunet.figures.tuning" if name.startswith(TUNING) else f"iunet.figures.{name}"


def declared_figures() -> dict[str, Declared]:
    """What the figures say of themselves, by their keys in the config."""
    return {f"figures.{name}": Declared(entry.kind) for name, entry in FIGURES.items()}


def figure_titles(bench: Benchmark) -> dict[str, str]:
    """Every figure of a config, with its title, in the order of the page."""
    tuned = dict.fromkeys(cell.dataset for cell in bench.cells if cell.method.tuned)
    names = [*FIGURES, *bench.config["experiments"], *(f"{TUNING}{dataset}" for dataset in tuned)]
    return {name: figure_entry(bench, name).title for name in names}


def figure_request(bench: Benchmark, name: str) -> Request:
    return Request() if why_nothing(bench, name) else figure_entry(bench, name).request(bench, name)


def why_nothing(bench: Benchmark, name: str) -> str | None:
    """Why a figure has nothing to show: the config names no data set for it."""
    key = figure_entry(bench, name).key
    return why_empty(bench.config, key) if key else None


# ---- artifacts that figures open themselves


def trained_supernets(bench: Benchmark, figure: str) -> list[dict[str, Any]]:
    """Every supernet and seed of a figure, with its files by what they are, and why one is missing.

    Figure 4 shows the first seed: what one network looks like. Of a table, the preprocessing says
    there which inputs belong to which feature.
    """
    found = []
    seeds = bench.seeds[:1] if figure == "figure4" else bench.seeds
    for cell in bench.cells_of(f"figures.{figure}"):
        kind = bench.registry[cell.dataset].kind
        templates = FILES[figure] | (
            {"preprocessing": paths.PREPROCESSING} if kind == "tabular" else {}
        )
        for supernet, seed in product(cell.method.supernets, seeds):
            run = {"dataset": cell.dataset, "supernet": supernet, "seed": seed}
            place = run | {"network": cell.method.network}
            files = {of: bench.path(template, **place) for of, template in templates.items()}
            missing = bench.missing(cell, files.values())
            run |= {"method": cell.method.name, "kind": kind, "missing": missing}
            found.append(run | {"files": {} if missing else files})
    return found


def tuned_studies(bench: Benchmark, name: str) -> list[tuple[str, str, str | None]]:
    """The method, the trials and the reason if they are missing, of each study on a data set.

    Where every seed has a study of its own, that of the first one.
    """
    dataset, study = name.removeprefix(TUNING), study_folder(bench.config, bench.seeds[0])
    found = {}
    for cell in bench.all_cells:
        if cell.dataset == dataset and cell.method.tuned:
            place = {"dataset": dataset, "learner": cell.method.network, "study": study}
            path = bench.path(paths.STUDY_TRIALS, **place)
            found[cell.method.name] = (cell.method.name, path, bench.missing(cell, [path]))
    return list(found.values())
