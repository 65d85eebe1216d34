"""Which methods run on which data: the tables, figures and experiments of the config.

Imported at every start of Snakemake: standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from iunet.data.registry import Dataset
from iunet.errors import UserError, nearest
from iunet.runs.names import (
    NETWORK_KIND,
    TUNED,
    Method,
    method_parameters,
    ratio_of,
    resolve_method,
)

# What the paper fixes of its tables: for them, a config names data sets only.
FIXED = {
    "tables.table3": (("mlp_vis", "iunet"), ("mlp_tab", "iunet")),
    "tables.table5": (("mlp_vis", "iunet"),),
    "tables.table6": (
        ("mlp_vis", "dense"),
        ("mlp_vis", "iunet"),
        ("cnn", "dense"),
        ("resnet18", "iunet"),
    ),
}
DEFAULT_NETWORKS = ("mlp_vis", "mlp_tab")


@dataclass(frozen=True)
class Planned:
    """A method on a data set."""

    dataset: str
    method: Method


def datasets_named(config: dict, asked: str | list[str], key: str) -> list[str]:
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


def entries(config: dict) -> dict[str, dict[str, Any]]:
    """Every table, figure and experiment that has runs, by its key in the config."""
    found = {}
    for section in ("tables", "figures", "experiments"):
        for name, entry in config[section].items():
            key = f"{section}.{name}"
            if "methods" in entry or key in FIXED:
                found[key] = entry
    return found


def plan(config: dict, registry: dict[str, Dataset]) -> list[Planned]:
    """Every method of every table, figure and experiment on every data set, each once."""
    planned: dict[Planned, None] = {}
    for key in entries(config):
        planned |= dict.fromkeys(plan_entry(config, registry, key))
    _refuse_ambiguous(config, {entry.method for entry in planned})
    return list(planned)


def plan_entry(config: dict, registry: dict[str, Dataset], key: str) -> list[Planned]:
    """The runs of one table, figure or experiment, such as `tables.table1`.

    Each data set runs on those of the entry's networks that are for its kind.
    """
    section, _, name = key.partition(".")
    entry = config[section][name]
    datasets = datasets_named(config, entry["datasets"], f"{key}.datasets")
    networks = entry.get("networks", DEFAULT_NETWORKS)
    pairs = FIXED.get(key) or [(n, m) for n in networks for m in entry["methods"]]
    _check_pairs(config, registry, key, datasets, pairs)
    kinds = {registry[dataset].kind for dataset in datasets}
    planned: dict[Planned, None] = {}
    for network, method_name in pairs:
        if NETWORK_KIND[network] not in kinds:
            continue  # a row may change keys that only networks of the other kind have
        method = resolve_method(config, method_name, network)
        for dataset in datasets:
            if registry[dataset].kind == NETWORK_KIND[network]:
                planned[Planned(dataset, method)] = None
    return list(planned)


def _check_pairs(
    config: dict,
    registry: dict[str, Dataset],
    key: str,
    datasets: list[str],
    pairs: Iterable[tuple[str, str]],
) -> None:
    """Every method exists, and every data set has a network for its kind."""
    for _, method in pairs:
        if method not in config["methods"]:
            raise UserError(
                f"The config key '{key}.methods' names '{method}', which is not a method."
                f"{nearest(method, config['methods'])}"
            )
    kinds = {NETWORK_KIND[network] for network, _ in pairs}
    tuned = [m for _, m in pairs if config["methods"][m].get("recipe") in TUNED]
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


def _refuse_ambiguous(config: dict, methods: set[Method]) -> None:
    """Two rows that differ, but would write to one path, are an error."""
    seen: dict[tuple[str, ...], tuple[str, dict[str, Any]]] = {}
    for method in sorted(methods, key=lambda method: (method.name, method.network)):
        parameters = method_parameters(config, method)
        for supernet in method.supernets:
            path = (method.network, supernet, method.tuning())
            other, theirs = seen.setdefault(path, (method.name, parameters))
            different = [key for key in parameters if parameters[key] != theirs[key]]
            if different:
                raise UserError(
                    f"The methods '{other}' and '{method.name}' differ in {', '.join(different)}, "
                    f"but both would write to runs/<dataset>/{method.network}/{supernet}/. Make "
                    "them equal, or remove one of the two."
                )


def cuts_by_supernet(planned: list[Planned]) -> dict[tuple[str, str, str], list[str]]:
    """By (data set, network, supernet): all cuts that some method wants of it, in ascending order.

    A supernet that no method has is not there; one that is not pruned has an empty list.
    """
    found: dict[tuple[str, str, str], set[str]] = {}
    for run in planned:
        for supernet in run.method.supernets:
            point = (run.dataset, run.method.network, supernet)
            found.setdefault(point, set()).update(run.method.cuts)
    return {
        point: sorted(cuts, key=lambda cut: (ratio_of(cut) or 0, cut))
        for point, cuts in found.items()
    }
