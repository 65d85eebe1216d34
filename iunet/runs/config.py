"""What the workflow asks of its config beyond the JSON schema (imported at every start: light)."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iunet.data.registry import ONLINE, Dataset, find, mirror_index
from iunet.errors import UserError, nearest
from iunet.runs.entries import datasets_named
from iunet.runs.methods import config_with_row, resolve_row, row_of_path
from iunet.runs.names import SupernetName, base_network
from iunet.runs.settings import Config, network_kind


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


@functools.cache
def _validator(schema: str) -> Any:
    import jsonschema
    import yaml  # both are Snakemake's own

    content = yaml.safe_load(Path(schema).read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(content)


def check_schema(config: Config, schema: str, where: str = "") -> None:
    """Refuse a config that the schema does not allow; `where` is said first."""
    if problem := _schema_problem(json.dumps(config, sort_keys=True), schema):
        raise UserError(where + problem)


@functools.cache
def _schema_problem(config: str, schema: str) -> str | None:
    """Of a config as JSON: the paths of a plan ask for thousands of checks, few of them new."""
    import jsonschema

    try:
        _validator(schema).validate(json.loads(config))
    except jsonschema.ValidationError as error:
        return explain_schema_error(error)
    return None


def check_rows(config: Config, pairs: set[tuple[str, str]], schema: str) -> None:
    """What rows of `methods` change is checked as their defaults are; pairs: (method, network)."""
    for method, network in sorted(pairs):
        row = config["methods"][method]
        if {"network", "supernet", "finetune"} & set(row):
            where = f"With the changes of 'methods.{method}': "
            check_schema(config_with_row(config, row, network), schema, where)


def check_run_path(config: Config, dataset: Dataset, point: dict[str, str], schema: str) -> None:
    """Refuse the path of a run whose values a row of the config could not have.

    `point` has network, seed, the run (a supernet's or dense network's name), and the cut if there
    is one. Each run has one path, so a value that is written otherwise is refused too.
    """
    network, run, cut = point["network"], point["run"], point.get("cut")
    parts = (dataset.name, network, run, f"seed{point['seed']}", cut)
    path = f"The path runs/{'/'.join(part for part in parts if part)}"
    kind = network_kind(network)
    if kind != dataset.kind:
        raise UserError(
            f"{path}: {network} is for {kind} data, but '{dataset.name}' is a {dataset.kind} data "
            "set."
        )
    check_seed(config, point["seed"], path, schema)
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
            f"runs/{dataset.name}/{expected[0]}/{expected[1]}/seed{int(point['seed'])}"
            f"{'/' + expected[2] if cut else ''}."
        )


def check_seed(config: Config, seed: str, path: str, schema: str) -> None:
    if seed in map(str, config["seeds"]):
        return
    check_schema({**config, "seeds": [int(seed)]}, schema, f"{path}: ")
    if str(int(seed)) != seed:
        raise UserError(f"{path}: the seed is written seed{int(seed)}, without zeros before it.")


def explain_schema_error(error: Any) -> str:
    """A jsonschema ValidationError as one paragraph that names the key."""
    key = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = next(name for name in error.instance if name not in known)
        full = f"{key}.{unknown}" if key else unknown
        return (
            f"The config has the unknown key '{full}'.{nearest(unknown, known)} "
            f"Known here are: {', '.join(sorted(known))}."
        )
    if error.validator == "required":
        lacking = next(name for name in error.validator_value if name not in error.instance)
        return f"The config lacks the key '{f'{key}.{lacking}' if key else lacking}'."
    wanted = {
        "type": lambda v: f"must be of type {v if isinstance(v, str) else ' or '.join(v)}",
        "const": lambda v: f"must be {v}",
        "enum": lambda v: f"must be one of {', '.join(map(str, v))}",
        "minimum": lambda v: f"must be at least {v}",
        "maximum": lambda v: f"must be at most {v}",
        "exclusiveMinimum": lambda v: f"must be greater than {v}",
        "exclusiveMaximum": lambda v: f"must be less than {v}",
        "minItems": lambda v: f"must have at least {v} entries",
        "maxItems": lambda v: f"must have at most {v} entries",
        "uniqueItems": lambda v: "must not have an entry twice",
        "anyOf": lambda v: "needs the keys " + ", or ".join(" and ".join(o["required"]) for o in v),
    }.get(error.validator, lambda v: f"is not allowed: {error.message}")(error.validator_value)
    return f"The config key '{key}' is {error.instance!r}, but {wanted}."


def check_ranges(config: dict) -> None:
    """A range goes from the smaller to the larger value."""
    for name, (low, high) in config["augment"]["vision"]["resize"].items():
        if low > high:
            raise UserError(
                f"The config key 'augment.vision.resize.{name}' is [{low}, {high}], but a range "
                "starts with its smaller value."
            )


def check_tables(config: Config, tables: Iterable[str]) -> None:
    """Every table that the config names is one of the catalog."""
    for name in config["tables"]:
        if name not in tables:
            raise UserError(
                f"The config has the unknown key 'tables.{name}'.{nearest(name, tables)} Tables "
                f"are: {', '.join(tables)}."
            )


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
