"""What a config asks for: its tables, figures and experiments as cells, and the result files.

An entry is a table, figure or experiment of the config, named by its key (`tables.table1`). A cell
is a method on a data set; with a seed it is a run.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from iunet.baselines.catalog import LEARNERS
from iunet.data.registry import Dataset
from iunet.errors import UserError, nearest
from iunet.runs import paths
from iunet.runs.methods import Method, resolve_method
from iunet.runs.names import CutName, base_network
from iunet.runs.settings import Config, network_kind, study_folder, trains_decoder

DEFAULT_NETWORKS = ("mlp_vis", "mlp_tab")
Pair = tuple[str, str]  # a network and a method
Pairs = tuple[Pair, ...]
NOT_FINISHED = "not finished"
REPORTS = {  # the files that describe a network, by the kind of network
    "tuned": {
        "evaluation": paths.TUNED_EVALUATION,
        "refit": paths.TUNED_REPORT,
        "study": paths.STUDY_REPORT,
    },
    "dense": {"evaluation": paths.DENSE_EVALUATION, "finetune": paths.DENSE_REPORT},
    "supernet": {
        "evaluation": paths.SUPERNET_EVALUATION,
        "supernet": paths.SUPERNET_REPORT,
        "decoder": paths.SUPERNET_DECODER_REPORT,
    },
    "subnetwork": {
        "evaluation": paths.SUBNETWORK_EVALUATION,
        "choice": paths.CHOICE,
        "mask": paths.MASK_REPORT,
        "supernet": paths.SUPERNET_REPORT,
        "finetune": paths.SUBNETWORK_REPORT,
    },
}


@dataclass(frozen=True)
class Declared:
    """What a table or figure fixes by itself, for every config."""

    kind: str | None = None  # of data, if it takes only one kind
    pairs: Pairs = ()  # networks and methods, if the config cannot choose them


@dataclass(frozen=True)
class Cell:
    """A method on a data set."""

    dataset: str
    method: Method


def datasets_named(config: Config, asked: str | list[str], key: str) -> list[str]:
    """Data sets by name, or by the name of their group; a list may have both."""
    names: dict[str, None] = {}
    for entry in [asked] if isinstance(asked, str) else asked:
        if isinstance(asked, str) and entry not in config["datasets"]:
            raise UserError(
                f"The config key '{key}' is '{entry}', which is not a group of data sets. Name a "
                f"group ({', '.join(config['datasets'])}) or give a list of data sets."
            )
        names |= dict.fromkeys(config["datasets"].get(entry, [entry]))
    return list(names)


def why_empty(config: Config, key: str) -> str | None:
    """Why an entry, such as `tables.table1`, has no data set to show; None if it has one."""
    section, _, name = key.partition(".")
    asked = config[section].get(name, {}).get("datasets")
    if asked is None or datasets_named(config, asked, f"{key}.datasets"):
        return None
    groups = [asked] if isinstance(asked, str) else asked
    empty = f": the group {' and the group '.join(groups)} is empty" if groups else ""
    return f"There is nothing to show: the config key '{key}.datasets' names no data set{empty}."


class Benchmark:
    """A checked config with its data sets: its cells, and the files of their results."""

    def __init__(
        self,
        config: Config,
        registry: dict[str, Dataset],
        declared: dict[str, Declared],
        unavailable: dict[str, str] | None = None,
    ):
        self.config, self.registry = config, registry
        # Networks and methods of entries that a config cannot choose.
        self.fixed = {key: entry.pairs for key, entry in declared.items() if entry.pairs}
        self.unavailable = unavailable or {}  # data sets, each with the reason
        self.root: str = config["results"]
        self.seeds: list[int] = config["seeds"]
        self._cells = {key: self._cells_of(key) for key in self.entries()}
        self.all_cells = list(dict.fromkeys(c for cells in self._cells.values() for c in cells))
        self.cells = [cell for cell in self.all_cells if not self.impossible(cell)]

    # ---- entries, cells and methods

    def entries(self) -> list[str]:
        """The keys of all tables, figures and experiments that have runs."""
        sections = ("tables", "figures", "experiments")
        keys = {f"{s}.{name}": entry for s in sections for name, entry in self.config[s].items()}
        return [key for key, entry in keys.items() if "methods" in entry or key in self.fixed]

    def cells_of(self, key: str) -> list[Cell]:
        """The cells of an entry, with those on unavailable data sets."""
        return self._cells[key]

    def _cells_of(self, key: str) -> list[Cell]:
        """Each data set runs on those of the entry's networks that are for its kind."""
        section, _, name = key.partition(".")
        entry = self.config[section][name]
        datasets = datasets_named(self.config, entry["datasets"], f"{key}.datasets")
        networks = entry.get("networks", DEFAULT_NETWORKS)
        pairs = self.fixed.get(key) or [(n, m) for n in networks for m in entry["methods"]]
        self._check_pairs(key, datasets, pairs)
        cells: dict[Cell, None] = {}
        for network, method in pairs:
            fitting = [d for d in datasets if self.registry[d].kind == network_kind(network)]
            if fitting:  # else a row may change keys that only other networks have
                resolved = resolve_method(self.config, method, network)
                cells |= dict.fromkeys(Cell(dataset, resolved) for dataset in fitting)
        return list(cells)

    def _check_pairs(self, key: str, datasets: list[str], pairs: Iterable[Pair]) -> None:
        """Every network and method exists, and every data set has a network for its kind."""
        for pair in pairs:
            for what, name in zip(("network", "method"), pair, strict=True):
                if name not in (known := self.config[f"{what}s"]):
                    raise UserError(
                        f"The config key '{key}.{what}s' names '{name}', which is not a {what}."
                        f"{nearest(name, known)}"
                    )
        methods, networks = self.config["methods"], dict.fromkeys(network for network, _ in pairs)
        tuned = [method for _, method in pairs if methods[method].get("recipe") in LEARNERS]
        for dataset in datasets:
            kind = self.registry[dataset].kind
            if kind not in map(network_kind, networks):
                raise UserError(
                    f"The config key '{key}' has no network for '{dataset}', a {kind} data set: "
                    f"it runs {', '.join(networks)}."
                )
            if tuned and kind != "tabular":
                raise UserError(
                    f"The config key '{key}' runs {tuned[0]} on '{dataset}', but {tuned[0]} is for "
                    "tables only."
                )

    def method(self, name: str, network: str) -> Method:
        """A method on a network as a path names it; it must have something to choose there."""
        if name not in self.config["methods"]:
            raise UserError(f"There is no method '{name}'.{nearest(name, self.config['methods'])}")
        method = resolve_method(self.config, name, base_network(network))
        if method.network != network or not method.cuts:
            raise UserError(
                f"Method '{name}' has no candidates to choose from on {network}: it has "
                f"{len(method.cuts)} cuts of {method.network}."
            )
        return method

    @functools.cached_property
    def runs(self) -> set[tuple[str, str, str, str | None]]:
        """(data set, network, supernet or dense, cut) of every cell; a cut also without options."""
        found: set[tuple[str, str, str, str | None]] = set()
        for cell in self.all_cells:
            cuts = {None, *cell.method.cuts, *(CutName.parse(c).folder for c in cell.method.cuts)}
            for run in cell.method.supernets:
                found |= {(cell.dataset, cell.method.network, run, cut) for cut in cuts}
        return found

    # ---- data sets

    def datasets_of_table(self, table: str) -> list[str]:
        key = f"tables.{table}.datasets"
        return datasets_named(self.config, self.config["tables"][table]["datasets"], key)

    @functools.cached_property
    def used_datasets(self) -> list[str]:
        """Every available data set that the config names, in the config's order."""
        tables = (self.datasets_of_table(table) for table in ("table8", "table9"))
        groups = [*self.config["datasets"].values(), *tables]
        names = [name for group in groups for name in group]
        names += [cell.dataset for cell in self.cells]
        return [name for name in dict.fromkeys(names) if name not in self.unavailable]

    def unavailable_and_used(self) -> dict[str, str]:
        """Data sets that the entries name but that are unavailable, with the reason."""
        named = [cell.dataset for cell in self.all_cells]
        named += [n for table in ("table8", "table9") for n in self.datasets_of_table(table)]
        return {n: self.unavailable[n] for n in dict.fromkeys(named) if n in self.unavailable}

    # ---- results

    def path(self, template: str, **values: object) -> str:
        return paths.fill(template, self.root, **values)

    def exists(self, path: str) -> bool:
        """With `partial`, only files that are there count; otherwise missing ones are made."""
        return not self.config["partial"] or Path(path).exists()

    def impossible(self, cell: Cell) -> str | None:
        """Why a cell cannot be run with this config, if it cannot."""
        if cell.method.needs_another_seed and len(self.seeds) < 2:
            return "needs a second seed"
        return self.unavailable.get(cell.dataset)

    def missing(self, cell: Cell, files: Iterable[str]) -> str | None:
        """Why a run cannot be shown, if it cannot."""
        if reason := self.impossible(cell):
            return reason
        return None if all(map(self.exists, files)) else NOT_FINISHED

    def reports(
        self, cell: Cell, seed: int, name: str, kinds: Iterable[str] = ("evaluation", "choice")
    ) -> dict[str, str]:
        """The files that describe a network of a cell (one of `Method.results`), by their kind."""
        method, (supernet, _, cut) = cell.method, name.partition("/")
        place = {
            "dataset": cell.dataset,
            **dict.fromkeys(("network", "learner"), method.network),
            "method": method.name,
            "seed": seed,
            **dict.fromkeys(("supernet", "dense"), supernet),
            "study": study_folder(self.config, seed),
        }
        if cut:
            place |= {"cut": CutName.parse(cut).folder, "options": CutName.parse(cut).options}
        return {
            kind: self.path(template, **place)
            for kind, template in REPORTS[method.stage_of(name)].items()
            if kind in kinds and not (kind == "decoder" and trains_decoder(supernet))
        }

    def subnetwork(self, template: str, cut: str, **values: object) -> str:
        """A file of a subnetwork, given its cut with the finetune options in its name."""
        name = CutName.parse(cut)
        return self.path(template, cut=name.folder, options=name.options, **values)

    def results_of(self, cell: Cell) -> list[str]:
        """The evaluations of a cell, and the choice among its candidates."""
        found = (self.reports(cell, s, name) for s in self.seeds for name in cell.method.results)
        return list(dict.fromkeys(path for reports in found for path in reports.values()))
