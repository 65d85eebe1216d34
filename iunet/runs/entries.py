"""What a config asks for: its tables, figures and experiments as cells, and where results lie.

An entry is a table, figure or experiment of the config, named by its key (`tables.table1`). A cell
is a method on a data set; with a seed it is a run.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.data.registry import Dataset
from iunet.errors import UserError, nearest
from iunet.networks.catalog import NETWORKS
from iunet.runs import paths
from iunet.runs.methods import Method, method_parameters, resolve_method
from iunet.runs.names import CutName, base_network
from iunet.runs.settings import Config, network_kind, study_folder

DEFAULT_NETWORKS = ("mlp_vis", "mlp_tab")
# Networks and methods that an entry fixes, so that a config names its data sets only.
Pairs = dict[str, tuple[tuple[str, str], ...]]
NOT_FINISHED = "not finished"


@dataclass(frozen=True)
class Declared:
    """What a table or figure says of itself, whatever the config is."""

    kind: str | None = None  # of data, if it is for one kind only
    pairs: tuple[tuple[str, str], ...] = ()  # networks and methods, if a config cannot choose them


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
                f"The config key '{key}' is '{entry}', which is not a group of data sets. Groups "
                f"are: {', '.join(config['datasets'])}; a list of names is fine too."
            )
        names |= dict.fromkeys(config["datasets"].get(entry, [entry]))
    return list(names)


def entries(config: Config, fixed: Pairs | None = None) -> dict[str, dict[str, Any]]:
    """Every table, figure and experiment that has runs, by its key in the config."""
    found = {}
    for section in ("tables", "figures", "experiments"):
        for name, entry in config[section].items():
            key = f"{section}.{name}"
            if "methods" in entry or key in (fixed or {}):
                found[key] = entry
    return found


def why_empty(config: Config, key: str) -> str | None:
    """Why an entry, such as `tables.table1`, has no data set to show; None if it has one."""
    section, _, name = key.partition(".")
    asked = config[section].get(name, {}).get("datasets")
    if asked is None or datasets_named(config, asked, f"{key}.datasets"):
        return None
    groups = [asked] if isinstance(asked, str) else asked
    empty = f", since the group {' and the group '.join(groups)} is empty" if groups else ""
    return f"There is nothing to show: the config key '{key}.datasets' names no data set{empty}."


def all_cells(
    config: Config, registry: dict[str, Dataset], fixed: Pairs | None = None
) -> list[Cell]:
    """Every method of every table, figure and experiment on every data set, each once."""
    cells: dict[Cell, None] = {}
    for key in entries(config, fixed):
        cells |= dict.fromkeys(cells_of(config, registry, key, fixed))
    _refuse_ambiguous(config, {cell.method for cell in cells})
    return list(cells)


def cells_of(
    config: Config, registry: dict[str, Dataset], key: str, fixed: Pairs | None = None
) -> list[Cell]:
    """The cells of one table, figure or experiment, such as `tables.table1`.

    Each data set runs on those of the entry's networks that are for its kind.
    """
    section, _, name = key.partition(".")
    entry = config[section][name]
    datasets = datasets_named(config, entry["datasets"], f"{key}.datasets")
    networks = entry.get("networks", DEFAULT_NETWORKS)
    pairs = (fixed or {}).get(key) or [(n, m) for n in networks for m in entry["methods"]]
    _check_pairs(config, registry, key, datasets, pairs)
    kinds = {registry[dataset].kind for dataset in datasets}
    cells: dict[Cell, None] = {}
    for network, method_name in pairs:
        if network_kind(network) not in kinds:
            continue  # a row may change keys that only networks of the other kind have
        method = resolve_method(config, method_name, network)
        for dataset in datasets:
            if registry[dataset].kind == network_kind(network):
                cells[Cell(dataset, method)] = None
    return list(cells)


def _check_pairs(
    config: Config,
    registry: dict[str, Dataset],
    key: str,
    datasets: list[str],
    pairs: Iterable[tuple[str, str]],
) -> None:
    """Every network and method exists, and every data set has a network for its kind."""
    for network, method in pairs:
        if method not in config["methods"]:
            raise UserError(
                f"The config key '{key}.methods' names '{method}', which is not a method."
                f"{nearest(method, config['methods'])}"
            )
        if network not in NETWORKS or network not in config["networks"]:
            raise UserError(
                f"The config key '{key}.networks' names '{network}', which is not a network."
                f"{nearest(network, NETWORKS)}"
            )
    kinds = {network_kind(network) for network, _ in pairs}
    tuned = [m for _, m in pairs if config["methods"][m].get("recipe") in LEARNERS]
    for dataset in datasets:
        kind = registry[dataset].kind
        if kind not in kinds:
            networks = ", ".join(dict.fromkeys(network for network, _ in pairs))
            raise UserError(
                f"The config key '{key}' runs {networks} on '{dataset}', which is a {kind} data "
                "set."
            )
        if tuned and kind != "tabular":
            raise UserError(
                f"The config key '{key}' runs {tuned[0]} on '{dataset}', which is no table: it is "
                "for tables only."
            )


def _refuse_ambiguous(config: Config, methods: set[Method]) -> None:
    """Two rows that differ, but would write to one path, are an error."""
    seen: dict[tuple[str, ...], tuple[str, dict[str, Any]]] = {}
    for method in sorted(methods, key=lambda method: (method.name, method.network)):
        parameters = method_parameters(config, method)
        options = CutName.parse(method.cuts[0]).options if method.cuts else ""
        for supernet in method.supernets:
            path = (method.network, supernet, options)
            other, theirs = seen.setdefault(path, (method.name, parameters))
            different = [key for key in parameters if parameters[key] != theirs[key]]
            if different:
                raise UserError(
                    f"The methods '{other}' and '{method.name}' differ in {', '.join(different)}, "
                    f"but both would write to runs/<dataset>/{method.network}/{supernet}/. Make "
                    "them equal, or remove one of the two."
                )


class Benchmark:
    """A checked config with its data sets: which cells it has, and where their results lie."""

    def __init__(
        self,
        config: Config,
        registry: dict[str, Dataset],
        unavailable: dict[str, str] | None = None,
        fixed: Pairs | None = None,
    ):
        self.config, self.registry, self.fixed = config, registry, fixed or {}
        self.unavailable = unavailable or {}  # data sets that cannot be had, with the reason
        self.root: str = config["results"]
        self.mirror: str | None = config["data"]["mirror"]
        self.seeds: list[int] = config["seeds"]
        self.all_cells = all_cells(config, registry, self.fixed)
        self.cells = [cell for cell in self.all_cells if not self.impossible(cell)]
        self._of_entry: dict[str, list[Cell]] = {}

    def entries(self) -> list[str]:
        """The keys of all entries that have runs."""
        return list(entries(self.config, self.fixed))

    def cells_of(self, key: str) -> list[Cell]:
        """The cells of an entry, also those on data sets that cannot be had."""
        if key not in self._of_entry:
            self._of_entry[key] = cells_of(self.config, self.registry, key, self.fixed)
        return self._of_entry[key]

    def method(self, name: str, network: str) -> Method:
        """A method on a network as a path names it; it must have something to choose there."""
        if name not in self.config["methods"]:
            raise UserError(f"There is no method '{name}'.{nearest(name, self.config['methods'])}")
        method = resolve_method(self.config, name, base_network(network))
        if method.network != network or not method.cuts:
            raise UserError(
                f"There is nothing to choose for method '{name}' on {network}: it has "
                f"{len(method.cuts)} cuts of {method.network}."
            )
        return method

    @functools.cached_property
    def runs(self) -> set[tuple[str, str, str, str | None]]:
        """(data set, network, supernet or dense, cut) of all cells, with the masks of the cuts."""
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
        """Every data set that the config names and that can be had, in the config's order."""
        tables = (self.datasets_of_table(table) for table in ("table8", "table9"))
        groups = [*self.config["datasets"].values(), *tables]
        names = [name for group in groups for name in group]
        names += [cell.dataset for cell in self.cells]
        return [name for name in dict.fromkeys(names) if name not in self.unavailable]

    def unavailable_and_used(self) -> dict[str, str]:
        """Data sets that the entries name and that cannot be had, with the reason."""
        named = [cell.dataset for cell in self.all_cells]
        named += [n for table in ("table8", "table9") for n in self.datasets_of_table(table)]
        return {n: self.unavailable[n] for n in dict.fromkeys(named) if n in self.unavailable}

    # ---- results

    def path(self, template: str, **values: object) -> str:
        return paths.fill(template, self.root, **values)

    def exists(self, path: str) -> bool:
        """With partial results, what is not finished is left out; else it is made."""
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

    def evaluations(self, cell: Cell, seed: int) -> dict[str, str]:
        """The evaluations among which a method's result is, by the name of the network.

        A subnetwork is named `kappa0.25-ilo/ratio8`, others by their supernet, `dense`, or learner.
        """
        method = cell.method
        place = {"dataset": cell.dataset, "network": method.network, "seed": seed}
        if method.tuned:
            path = self.path(
                paths.TUNED_EVALUATION, dataset=cell.dataset, learner=method.network, seed=seed
            )
            return {method.network: path}
        if method.stage == "dense":
            name = method.supernets[0]
            return {name: self.path(paths.DENSE_EVALUATION, **place, dense=name)}
        if method.stage == "supernet":
            return {
                name: self.path(paths.SUPERNET_EVALUATION, **place, supernet=name)
                for name in method.supernets
            }
        return {
            f"{supernet}/{cut}": self.subnetwork(
                paths.SUBNETWORK_EVALUATION, **place, supernet=supernet, cut=cut
            )
            for supernet, cut in method.candidates()
        }

    def subnetwork(self, template: str, cut: str, **values: object) -> str:
        """A file of a subnetwork, given its cut with the finetune options in its name."""
        name = CutName.parse(cut)
        return self.path(template, cut=name.folder, options=name.options, **values)

    def choice(self, cell: Cell, method: str | None = None) -> str:
        """The choice among the candidates of a cell, or of another method on its network."""
        return self.path(
            paths.CHOICE,
            dataset=cell.dataset,
            network=cell.method.network,
            method=method or cell.method.name,
        )

    def results_of(self, cell: Cell) -> list[str]:
        """The evaluations of a cell, and the choice among its candidates."""
        evaluations = [p for seed in self.seeds for p in self.evaluations(cell, seed).values()]
        return evaluations + ([self.choice(cell)] if cell.method.cuts else [])

    def study(self, cell: Cell, seed: int, template: str = paths.STUDY_REPORT) -> str:
        """A file of the study of a tuned method."""
        study = study_folder(self.config, seed)
        return self.path(template, dataset=cell.dataset, learner=cell.method.network, study=study)
