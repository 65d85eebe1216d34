"""The figures, in the order of the page: for each its title, its file, and what it asks for.

Imported at every start of Snakemake: what draws is imported in the figure's own job.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from iunet.provenance import digest
from iunet.runs import paths
from iunet.runs.entries import Benchmark, Declared, why_empty
from iunet.runs.requests import (
    Requests,
    files_of,
    run_requests,
    supernet_requests,
    trials_requests,
)
from iunet.tables.masks import chosen_masks, mask_files

TUNING = "tuning/"  # figures of the studies on one data set: tuning/<dataset>


@dataclass
class FigureAsk:
    """What a figure is made of; made from the config alone, without reading a file."""

    module: str  # draws it: its function `make` gets this and the output's paths
    requests: Requests = field(default_factory=list)
    files: list[str] = field(default_factory=list)  # other artifacts that it reads

    def inputs(self) -> list[str]:
        return list(dict.fromkeys([*files_of(self.requests), *self.files]))

    def plain(self) -> dict[str, Any]:
        """For the job, as plain values."""
        return {"module": self.module, "requests": self.requests, "files": self.files}

    def digest(self) -> str:
        return digest(self.plain())


def _figure2(bench: Benchmark) -> FigureAsk:
    cells = bench.cells_of("figures.figure2")
    files = {"evaluation": paths.SUPERNET_EVALUATION}
    requests = supernet_requests(bench, cells, files, cuts=True)
    return FigureAsk("iunet.figures.figure2", requests)


def _figure3(bench: Benchmark) -> FigureAsk:
    files = {"histograms": paths.SUPERNET_HISTOGRAMS, "report": paths.SUPERNET_REPORT}
    requests = supernet_requests(bench, bench.cells_of("figures.figure3"), files)
    return FigureAsk("iunet.figures.figure3", requests)


def _figure4(bench: Benchmark) -> FigureAsk:
    """Of the first seed: what one network looks like."""
    files = {"weights": paths.SUPERNET_WEIGHTS, "report": paths.SUPERNET_REPORT}
    cells = bench.cells_of("figures.figure4")
    requests = supernet_requests(bench, cells, files, bench.seeds[:1])
    for request in requests:
        request["kind"] = bench.registry[request["dataset"]].kind
        path = bench.path(paths.PREPROCESSING, dataset=request["dataset"])
        if request["kind"] == "tabular" and not request["missing"] and bench.exists(path):
            request["preprocessing"] = path
    return FigureAsk("iunet.figures.figure4", requests)


def _densities(bench: Benchmark) -> FigureAsk:
    """Of the masks of the table of laziness, all at the ratio that was chosen for IUNET."""
    requests = chosen_masks(bench, bench.cells_of("tables.laziness"), choice_of="iunet")
    return FigureAsk("iunet.figures.densities", requests, mask_files(requests))


def _critical_difference(bench: Benchmark) -> FigureAsk:
    ranking = bench.path(paths.TABLE_DOCUMENT, table="ranking")
    return FigureAsk("iunet.figures.critical_difference", files=[ranking])


FIGURES: dict[str, tuple[str, Callable[[Benchmark], FigureAsk]]] = {
    "figure2": ("Figure 2: validation accuracy against compression", _figure2),
    "figure3": ("Figure 3: magnitudes of weights during training", _figure3),
    "figure4": ("Figure 4: first-layer weights after training", _figure4),
    "densities": ("Densities of the layers of masks", _densities),
    "critical_difference": ("Critical difference of the methods on tables", _critical_difference),
}


KINDS = {"figures.figure2": "vision", "figures.figure3": "vision"}  # for one kind of data only


def declared_figures() -> dict[str, Declared]:
    """What the figures say of themselves, by their keys in the config."""
    return {key: Declared(KINDS.get(key)) for key in (f"figures.{name}" for name in FIGURES)}


def figure_titles(bench: Benchmark) -> dict[str, str]:
    """Every figure of a config, with its title, in the order of the page."""
    tuned = dict.fromkeys(cell.dataset for cell in bench.cells if cell.method.tuned)
    titles = {name: title for name, (title, _) in FIGURES.items()}
    own = {name: f"Experiment {name}: scores" for name in bench.config["experiments"]}
    return {**titles, **own, **{f"{TUNING}{name}": f"Tuning on {name}" for name in tuned}}


# The entries of the config whose data sets figures show, where they have not their own name.
ENTRIES = {"densities": "tables.laziness", "critical_difference": "tables.table7"}


def figure_ask(bench: Benchmark, name: str) -> FigureAsk:
    own = name in bench.config["experiments"]
    entry = f"experiments.{name}" if own else ENTRIES.get(name, f"figures.{name}")
    if why := why_empty(bench.config, entry):
        return FigureAsk("iunet.figures.empty", [{"figure": name, "missing": why}])
    if name.startswith(TUNING):
        requests = trials_requests(bench, name.removeprefix(TUNING))
        return FigureAsk("iunet.figures.tuning_history", requests)
    if own:
        requests = run_requests(bench, bench.cells_of(entry))
        return FigureAsk("iunet.figures.scores", requests)
    return FIGURES[name][1](bench)
