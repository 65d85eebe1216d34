"""The config, checked from top to bottom, as a Benchmark (imported at every start: light).

`validate` is the only way from a config to a Benchmark. The Snakefile calls it, and so do the
scripts of tables and figures, so a checked config passes again unchanged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from iunet.data.registry import (
    SOURCES,
    Dataset,
    find,
    mirror_index,
    read_registry,
    refuse_placeholders,
)
from iunet.errors import UserError, nearest
from iunet.provenance import flat
from iunet.runs.entries import Benchmark, Declared, datasets_named
from iunet.runs.methods import config_with_row
from iunet.runs.names import base_network, parse_value, value_text
from iunet.runs.overlays import holds_images
from iunet.runs.schema import check_schema, plain, read_schema
from iunet.runs.settings import Config

DEFAULT_CONFIG = "config/config.yaml"
GROUPS = {  # of data sets, by the kind of data
    "tabular": ("tabular", "ablation", "search"),
    "vision": ("vision",),
}


def validate(config: Config, declared: dict[str, Declared]) -> Benchmark:
    """The benchmark of a config, or a UserError that says what is wrong with it.

    `declared` is what tables and figures say of themselves, by their keys (`tables.table1`). The
    config of the benchmark has numbers where `--config` left text, and the user's own data in its
    groups.
    """
    config = plain(config)
    _check_default_config(config)
    if isinstance(config.get("results"), str) and config["results"]:
        config["results"] = os.path.normpath(config["results"])  # no slash at its end
    check_schema(config)
    _check_results_folder(config["results"])
    registry = read_registry(config["data"]["registry"])
    if own := own_dataset(config, taken=[*registry, *config["datasets"]]):
        registry[own.name] = own
        config["datasets"] = {  # it is in all groups of its kind, and none is in the others
            group: [own.name] if kind == own.kind else []
            for kind, groups in GROUPS.items()
            for group in groups
        }
    _check_tables(config, declared)
    _check_datasets(config, registry, declared)
    _check_digits(config)
    away = unavailable(registry, config["data"]["mirror"])
    bench = Benchmark(config, registry, declared, away)
    _check_rows(bench)
    return bench


def _check_default_config(config: Config) -> None:
    """With an overlay Snakemake does not complain if config/config.yaml is not there."""
    lacking = [key for key in read_schema()["required"] if key not in config]
    if lacking and not Path(DEFAULT_CONFIG).is_file():
        raise UserError(
            f"There is no {DEFAULT_CONFIG} in {Path.cwd()}, so the key '{lacking[0]}' is missing. "
            "Start Snakemake in the project's folder, or name that folder with -d. To work in a "
            "folder of your own, copy the project's config/ into it."
        )


def _check_results_folder(folder: str) -> None:
    """Below a file Snakemake could not even plan: it would end with a traceback."""
    for place in (Path(folder), *Path(folder).parents):
        if place.exists() and not place.is_dir():
            raise UserError(
                f"The config key 'results' is '{folder}', but {place} is a file, not a folder."
            )


def _check_digits(config: Config) -> None:
    """Settings are read back from paths, so a path must hold them exactly."""
    in_paths = {key: config[key] for key in ("methods", "prune")}
    in_paths["beta_lasso.l1"] = config["beta_lasso"]["l1"]
    for key, entry in flat(in_paths).items():
        for value in entry if isinstance(entry, list) else [entry]:
            if isinstance(value, int | float) and parse_value(value_text(value)) != value:
                raise UserError(
                    f"The config key '{key}' is {value!r}, but paths of runs keep six digits "
                    f"({value_text(value)}), so a different run would be made. Round the value."
                )


def _check_tables(config: Config, declared: dict[str, Declared]) -> None:
    """Every table that the config names is declared, and no experiment is."""
    for name in config["experiments"]:
        for kind in ("table", "figure"):
            if f"{kind}s.{name}" in declared:
                raise UserError(
                    f"The config key 'experiments.{name}' has the name of a {kind} and would "
                    "overwrite its files. Rename the experiment."
                )
    tables = [key.removeprefix("tables.") for key in declared if key.startswith("tables.")]
    for name in config["tables"]:
        if name not in tables:
            raise UserError(
                f"The config has an unknown key 'tables.{name}'.{nearest(name, tables)} Known: "
                f"{', '.join(tables)}."
            )


def _check_datasets(
    config: Config, registry: dict[str, Dataset], declared: dict[str, Declared]
) -> None:
    """Every data set that the config names exists, and is of the kind its place asks for."""
    places: dict[str, tuple[list[str], str | None]] = {
        f"datasets.{group}": (config["datasets"][group], kind)
        for kind, groups in GROUPS.items()
        for group in groups
    }
    for section in ("tables", "figures", "experiments"):
        for name, entry in config[section].items():
            key = f"{section}.{name}.datasets"
            kind = declared.get(f"{section}.{name}", Declared()).kind
            places[key] = (datasets_named(config, entry["datasets"], key), kind)
    for group in config["datasets"]:
        if group in registry:
            raise UserError(
                f"The registry has a data set '{group}', but the config has a group of data sets "
                "with the same name. Rename the data set."
            )
    places["stand_ins"] = (list(config["stand_ins"].values()), None)
    for key, (names, kind) in places.items():
        for name in names:
            dataset = find(registry, name, f"The config key '{key}'")
            if kind not in (None, dataset.kind):
                raise UserError(
                    f"The config key '{key}' names '{name}', a {dataset.kind} data set, but may "
                    f"name only {kind} ones."
                )


def _check_rows(bench: Benchmark) -> None:
    """Changes in rows of `methods` are checked like their defaults."""
    methods = {cell.method for cell in bench.cells if not cell.method.tuned}
    for name, network in sorted({(m.name, base_network(m.network)) for m in methods}):
        row = bench.config["methods"][name]
        if {"network", "supernet", "finetune"} & set(row):
            changed = config_with_row(bench.config, row, network)
            check_schema(changed, f"With the changes of 'methods.{name}': ")


def shown_on_page(config: Config, section: str, known: Iterable[str]) -> list[str]:
    """The tables or figures that the page shows; `tuning` means all tuning histories."""
    asked, known = config["page"][section], list(known)
    if asked == "all":
        return known
    kinds = {name: name.partition("/")[0] for name in known}
    for name in asked:
        if name not in kinds and name not in (*kinds.values(), "tuning"):
            raise UserError(
                f"The config key 'page.{section}' names '{name}', which does not exist."
                f"{nearest(name, kinds)} Known {section}: {', '.join(kinds)}."
            )
    return [name for one in asked for name, kind in kinds.items() if one in (name, kind)]


def unavailable(registry: dict[str, Dataset], mirror: str | None) -> dict[str, str]:
    """The data sets that are unavailable with this config, each with the reason.

    Without a mirror none is known to be. With one, sets that would need the network and are not in
    the mirror: tables show them as missing.
    """
    if mirror is None:
        return {}
    held = mirror_index(mirror)
    return {
        name: "not in the mirror"
        for name, dataset in registry.items()
        if SOURCES[dataset.source].online and name not in held
    }


# ---- data of the user's own


def own_dataset(config: Config, taken: Collection[str]) -> Dataset | None:
    """The file that the config key `own` names, as a data set.

    The Snakefile adds an overlay with budgets for an evening (config/own-table.yaml,
    own-images.yaml). The data set's name is the file's, unless that is taken.
    """
    if config["own"] is None:
        return None
    path = Path(config["own"])
    images = holds_images(path)
    refuse_placeholders("The config key 'own'", str(path))
    name = re.sub(r"[^a-z0-9._-]+", "-", path.name.partition(".")[0].lower())
    name = name.strip("._-")[:60] or "own"
    name = f"own-{name}" if name in taken else name
    return Dataset(
        name,
        "vision" if images else "tabular",
        "file",
        str(path),
        "" if images else str(config["target"]),
        tuple(map(str, config["categorical"])),
        "the config key 'own'",
    )
