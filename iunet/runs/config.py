"""What the workflow asks of its config beyond the JSON schema (imported at every start: light)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iunet.data.registry import ONLINE, Dataset, find, mirror_index
from iunet.errors import UserError, nearest
from iunet.paper import paper_table
from iunet.runs.entries import Benchmark, datasets_named
from iunet.runs.methods import config_with_row, resolve_row, row_of_path
from iunet.runs.names import SupernetName, base_network
from iunet.runs.schema import check_schema
from iunet.runs.settings import Config, network_kind

DEFAULT_CONFIG = "config/config.yaml"


def restore_numbers(value: Any) -> Any:
    """Numbers, true, false and null where `--config` left them as text.

    Snakemake reads `--config 'seeds=[0]'` as a list of strings, which no schema can accept.
    """
    if isinstance(value, dict):
        return {key: restore_numbers(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [restore_numbers(entry) for entry in value]
    if isinstance(value, str):
        try:
            literal = json.loads(value)
        except ValueError:
            return value
        return value if isinstance(literal, (dict, list, str)) else literal
    return value


def check_rows(config: Config, pairs: set[tuple[str, str]], schema: str) -> None:
    """What rows of `methods` change is checked as their defaults are; pairs: (method, network)."""
    for method, network in sorted(pairs):
        row = config["methods"][method]
        if {"network", "supernet", "finetune"} & set(row):
            where = f"With the changes of 'methods.{method}': "
            check_schema(config_with_row(config, row, network), schema, where)


def check_run_path(
    bench: Benchmark, dataset: str, network: str, seed: str, run: str, cut: str | None, schema: str
) -> None:
    """Refuse the path of a run that a row of the config could not have.

    `run` is the name of a supernet or dense network. Each run has one path, so a value that is
    written otherwise is refused too.
    """
    if int(seed) in bench.seeds and (dataset, network, run, cut) in bench.runs:
        return
    _check_path(bench.config, bench.registry[dataset], network, seed, run, cut, schema)


def _check_path(
    config: Config,
    dataset: Dataset,
    network: str,
    seed: str,
    run: str,
    cut: str | None,
    schema: str,
) -> None:
    parts = (dataset.name, network, run, f"seed{seed}", cut)
    path = f"The path runs/{'/'.join(part for part in parts if part)}"
    kind = network_kind(network)
    if kind != dataset.kind:
        raise UserError(
            f"{path}: {network} is for {kind} data, but '{dataset.name}' is a {dataset.kind} data "
            "set."
        )
    check_seed(config, seed, path, schema)
    try:
        row = row_of_path(config, network, run, cut)
        changed = {**config, "methods": {**config["methods"], "path": row}}
        if row.get("recipe") == "beta_lasso":
            l1 = SupernetName.parse(run).l1
            changed["beta_lasso"] = {**config["beta_lasso"], "l1": [l1]}
        method = resolve_row(changed, "path", row, base_network(network))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    where = f"{path} asks for what the config could not have. "
    check_schema(changed, schema, where)
    check_schema(config_with_row(changed, row, base_network(network)), schema, where)
    expected = (method.network, method.supernets[0], *(method.cuts if cut else ()))
    if expected != (network, run, *((cut,) if cut else ())):
        raise UserError(
            f"{path} is not how that run is written: each run has one path, and this one's is "
            f"runs/{dataset.name}/{expected[0]}/{expected[1]}/seed{int(seed)}"
            f"{'/' + expected[2] if cut else ''}."
        )


def check_seed(config: Config, seed: str, path: str, schema: str) -> None:
    if seed in map(str, config["seeds"]):
        return
    check_schema({**config, "seeds": [int(seed)]}, schema, f"{path}: ")
    if str(int(seed)) != seed:
        raise UserError(f"{path}: the seed is written seed{int(seed)}, without zeros before it.")


def check_default_config(config: Config, required: Iterable[str]) -> None:
    """With an overlay Snakemake does not complain if config/config.yaml is not there."""
    lacking = [key for key in required if key not in config]
    if lacking and not Path(DEFAULT_CONFIG).is_file():
        raise UserError(
            f"There is no {DEFAULT_CONFIG} in {Path.cwd()}, and so no key '{lacking[0]}'. Start "
            "Snakemake in the project's folder, or name it with -d; to work in a folder of your "
            "own, copy the project's config/ into it."
        )


def results_folder(folder: Any) -> Any:
    """`results` without a slash at its end, which would be doubled in every path."""
    return os.path.normpath(folder) if isinstance(folder, str) and folder else folder


def check_results_folder(folder: str) -> None:
    """The root of all results may be made, or is a folder already."""
    for place in (Path(folder), *Path(folder).parents):
        if place.exists() and not place.is_dir():
            raise UserError(
                f"The config key 'results' is '{folder}', but {place} is a file. Name a folder."
            )


def check_stand_ins(config: Config) -> None:
    """Its keys are data sets of the paper."""
    papers = [row["dataset"] for number in (8, 9) for row in paper_table(number)]
    for name in config["stand_ins"]:
        if name not in papers:
            raise UserError(
                f"The config key 'stand_ins' has the entry {name!r}, which is no data set of the "
                f"paper.{nearest(name, papers)} Its entries are: the paper's data set: ours."
            )


def check_ranges(config: dict) -> None:
    """A range goes from the smaller to the larger value."""
    for name, (low, high) in config["augment"]["vision"]["resize"].items():
        if low > high:
            raise UserError(
                f"The config key 'augment.vision.resize.{name}' is [{low}, {high}], but a range "
                "starts with its smaller value."
            )


def check_tables(config: Config, tables: Iterable[str], figures: Iterable[str] = ()) -> None:
    """Every table that the config names is one of the catalog, and no experiment is."""
    for name in config["experiments"]:
        if name in tables or name in figures:
            kind = "table" if name in tables else "figure"
            raise UserError(
                f"The config key 'experiments.{name}' has the name of a {kind}, whose files it "
                "would overwrite. Give the experiment another name."
            )
    for name in config["tables"]:
        if name not in tables:
            raise UserError(
                f"The config has the unknown key 'tables.{name}'.{nearest(name, tables)} Tables "
                f"are: {', '.join(tables)}."
            )


def shown_on_page(config: Config, section: str, known: Iterable[str]) -> list[str]:
    """The tables or figures that the page shows; `tuning` stands for all tuning histories."""
    asked, known = config["page"][section], list(known)
    if asked == "all":
        return known
    kinds = {name: name.partition("/")[0] for name in known}
    for name in asked:
        if name not in kinds and name not in (*kinds.values(), "tuning"):
            raise UserError(
                f"The config key 'page.{section}' names '{name}', which is none of them."
                f"{nearest(name, kinds)} Known are: {', '.join(kinds)}."
            )
    return [name for one in asked for name, kind in kinds.items() if one in (name, kind)]


def check_datasets(
    config: Config, registry: dict[str, Dataset], kinds_of_entries: dict[str, str]
) -> None:
    """Every data set that the config names exists, and is of the kind its place asks for."""
    kinds = {"vision": "vision", "tabular": "tabular", "ablation": "tabular", "search": "tabular"}
    places = {
        f"datasets.{group}": (config["datasets"][group], kind) for group, kind in kinds.items()
    }
    for section in ("tables", "figures", "experiments"):
        for name, entry in config[section].items():
            key = f"{section}.{name}.datasets"
            kind = kinds_of_entries.get(f"{section}.{name}")
            places[key] = (datasets_named(config, entry["datasets"], key), kind)
    for group in config["datasets"]:
        if group in registry:
            raise UserError(
                f"The registry has a data set '{group}', which is the name of a group of data sets "
                "in the config: a list could mean either. Rename the data set."
            )
    places["stand_ins"] = (list(config["stand_ins"].values()), None)
    for key, (names, kind) in places.items():
        for name in names:
            dataset = find(registry, name, f"The config key '{key}'")
            if kind not in (None, dataset.kind):
                raise UserError(
                    f"The config key '{key}' names '{name}', which is a {dataset.kind} data set; "
                    f"only {kind} ones belong there."
                )


def unavailable(registry: dict[str, Dataset], mirror: str | None) -> dict[str, str]:
    """The data sets that cannot be had with this config, each with the reason.

    Without a mirror none is known to be. With one, sets that would need the network and are not in
    the mirror: tables show them as missing.
    """
    if mirror is None:
        return {}
    held = mirror_index(mirror)
    return {
        name: "not in the mirror"
        for name, dataset in registry.items()
        if dataset.source in ONLINE and name not in held
    }
