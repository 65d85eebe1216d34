"""The figures in the order of the page: for each its title, its module, and what it is made of.

Imported at every start of Snakemake: what draws is imported in the figure's own job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from iunet.results.request import Request
from iunet.runs import paths
from iunet.runs.entries import Benchmark, Declared, why_empty

TUNING = "tuning/"  # figures of the studies on one data set: tuning/<dataset>
KINDS = {"figures.figure2": "vision", "figures.figure3": "vision"}  # for one kind of data only


@dataclass(frozen=True)
class FigureEntry:
    title: str
    request: Callable[[Benchmark, str], Request]  # what it is made of, by its name
    key: str = ""  # the config's entry that names its data sets


def _figure2(bench: Benchmark, name: str) -> Request:
    cells = bench.cells_of("figures.figure2")
    return Request(cells, supernets=cells)


def _figure3(bench: Benchmark, name: str) -> Request:
    return _artifacts(trained_supernets(bench, name, HISTOGRAMS))


def _figure4(bench: Benchmark, name: str) -> Request:
    return _artifacts(trained_supernets(bench, name, WEIGHTS, bench.seeds[:1]))


def _densities(bench: Benchmark, name: str) -> Request:
    """Masks of the table of laziness."""
    cells = [cell for cell in bench.cells_of("tables.laziness") if cell.method.cuts]
    return Request(cells, masks=cells)


def _critical_difference(bench: Benchmark, name: str) -> Request:
    return Request(artifacts=[bench.path(paths.TABLE_DOCUMENT, table="ranking")])


def _experiment(bench: Benchmark, name: str) -> Request:
    return Request(bench.cells_of(f"experiments.{name}"))


def _tuning(bench: Benchmark, name: str) -> Request:
    return Request(
        artifacts=[path for _, path, missing in tuned_studies(bench, name) if not missing]
    )


FIGURES = {
    "figure2": FigureEntry(
        "Figure 2: validation accuracy against compression", _figure2, "figures.figure2"
    ),
    "figure3": FigureEntry(
        "Figure 3: magnitudes of weights during training", _figure3, "figures.figure3"
    ),
    "figure4": FigureEntry(
        "Figure 4: first-layer weights after training", _figure4, "figures.figure4"
    ),
    "densities": FigureEntry("Densities of the layers of masks", _densities, "tables.laziness"),
    "critical_difference": FigureEntry(
        "Critical difference of the methods on tables", _critical_difference, "tables.table7"
    ),
}


def figure_entry(bench: Benchmark, name: str) -> FigureEntry:
    """A figure of the catalog, of an experiment of the config, or of the studies on a data set."""
    if name in bench.config["experiments"]:
        return FigureEntry(f"Experiment {name}: scores", _experiment, f"experiments.{name}")
    if name.startswith(TUNING):
        return FigureEntry(f"Tuning on {name.removeprefix(TUNING)}", _tuning)
    return FIGURES[name]


def figure_module(name: str) -> str:
    """The module that draws a figure: its own, that of experiments, or that of studies."""
    if name.startswith(TUNING):
        return "iunet.figures.tuning"
    return f"iunet.figures.{name if name in FIGURES else 'scores'}"


def declared_figures() -> dict[str, Declared]:
    """What the figures say of themselves, by their keys in the config."""
    return {key: Declared(KINDS.get(key)) for key in (f"figures.{name}" for name in FIGURES)}


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

HISTOGRAMS = {"histograms": paths.SUPERNET_HISTOGRAMS, "report": paths.SUPERNET_REPORT}
WEIGHTS = {"weights": paths.SUPERNET_WEIGHTS, "report": paths.SUPERNET_REPORT}


def trained_supernets(
    bench: Benchmark, figure: str, files: dict[str, str], seeds: Iterable[int] | None = None
) -> list[dict[str, Any]]:
    """Every supernet and seed of a figure, with its files by what they are, and why one is missing.

    Of a table, the preprocessing says which inputs belong to which feature.
    """
    found = []
    for cell in bench.cells_of(f"figures.{figure}"):
        place = {"dataset": cell.dataset, "network": cell.method.network}
        kind = bench.registry[cell.dataset].kind
        for supernet in cell.method.supernets:
            for seed in seeds or bench.seeds:
                run = {**place, "supernet": supernet, "seed": seed}
                named = {of: bench.path(template, **run) for of, template in files.items()}
                if kind == "tabular" and "weights" in files:
                    named["preprocessing"] = bench.path(paths.PREPROCESSING, dataset=cell.dataset)
                missing = bench.missing(cell, named.values())
                head = {**run, "method": cell.method.name, "kind": kind, "missing": missing}
                found.append(head | {"files": {} if missing else named})
    return found


def _artifacts(supernets: list[dict[str, Any]]) -> Request:
    paths_of = dict.fromkeys(path for s in supernets for path in s["files"].values())
    return Request(artifacts=list(paths_of))


def tuned_studies(bench: Benchmark, name: str) -> list[tuple[str, str, str | None]]:
    """The method, the trials and the reason if they are missing, of each study on a data set.

    Where every seed has a study of its own, that of the first one.
    """
    dataset = name.removeprefix(TUNING)
    cells = [c for c in bench.all_cells if c.dataset == dataset and c.method.tuned]
    found = {}
    for cell in cells:
        path = bench.study(cell, bench.seeds[0], paths.STUDY_TRIALS)
        found.setdefault(cell.method.name, (cell.method.name, path, bench.missing(cell, [path])))
    return list(found.values())
