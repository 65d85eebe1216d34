"""The JSON schema of the config, and its complaints in words (imported at every start: light).

In the schema, `form` describes a `pattern` in words, and `catalog` means the names of a catalog.
"""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path
from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.errors import UserError, nearest
from iunet.method.catalog import OBJECTIVES, SCHEDULES, SCORES
from iunet.networks.catalog import NETWORKS
from iunet.paper import paper_table
from iunet.runs.names import INITS, MASKS, STRUCTURES
from iunet.runs.settings import Config

SCHEMA = Path(__file__).parents[2] / "workflow" / "schemas" / "config.schema.yaml"
CATALOGS = {
    "objectives": OBJECTIVES,
    "scores": SCORES,
    "schedules": SCHEDULES,
    "masks": MASKS,
    "structures": STRUCTURES,
    "inits": INITS,
    "networks": NETWORKS,
    "trained": (*NETWORKS, *LEARNERS),
    "recipes": ("iunet", "beta_lasso", "dense", *LEARNERS),
    "data sets of the paper": [row["dataset"] for table in (8, 9) for row in paper_table(table)],
}
DEPTH, VALUES = 20, 100_000  # far beyond any config


@functools.cache
def read_schema() -> dict[str, Any]:
    """The schema of the config, with names of catalogs and what it leaves unsaid filled in."""
    import yaml  # Snakemake's own, as is jsonschema

    # libyaml reads it ten times faster, where PyYAML was built with it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    schema = yaml.load(SCHEMA.read_text(encoding="utf-8"), Loader=loader)
    _fill_in(schema)
    return schema


def _fill_in(schema: dict[str, Any]) -> None:
    """Fill in a schema and those inside it: names of catalogs, and that objects are closed."""
    if "catalog" in schema:
        schema["enum"] = list(CATALOGS[schema.pop("catalog")])
    if keys := schema.get("properties"):
        needed = [name for name, below in keys.items() if not below.get("optional")]
        closed = {"type": "object", "additionalProperties": False, "required": needed}
        schema.update(closed | schema)
    inside = [schema.get(key) for key in ("additionalProperties", "propertyNames", "items")]
    groups = [schema.get(key, {}).values() for key in ("properties", "$defs")]
    for below in [*inside, *(below for group in groups for below in group)]:
        if isinstance(below, dict):
            _fill_in(below)


@functools.cache
def _validator() -> Any:
    """A validator for which 2.0 is not an integer, and infinity is not a number."""
    import jsonschema

    draft = jsonschema.Draft202012Validator
    types = draft.TYPE_CHECKER.redefine("integer", lambda _, v: _is_number(v, int))
    types = types.redefine("number", lambda _, v: _is_number(v, (int, float)) and math.isfinite(v))
    return jsonschema.validators.extend(draft, type_checker=types)(read_schema())


def _is_number(value: Any, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def check_plain(config: Any, key: str = "", depth: int = 0) -> int:
    """Refuse what YAML allows but a config cannot hold; return the number of values.

    With YAML references a small file may have endless values, or a list that contains itself.
    """
    where = f"The config key '{key}'" if key else "The config"
    if depth > DEPTH:
        raise UserError(f"{where} is nested more than {DEPTH} levels deep.")
    if config is None or isinstance(config, str | int | float):
        return 1
    if isinstance(config, dict):
        for name in config:
            if not isinstance(name, str):
                raise UserError(
                    f"{where} has the key {name!r}, which is not text: put it in quotes."
                )
        entries = [(f"{key}.{name}" if key else name, value) for name, value in config.items()]
    elif isinstance(config, list):
        entries = [(f"{key}.{place}", value) for place, value in enumerate(config)]
    else:
        raise UserError(
            f"{where} is {config!r}, which YAML reads as a {type(config).__name__}: put it in "
            "quotes if it is text."
        )
    count = 1
    for name, value in entries:
        count += check_plain(value, name, depth + 1)
        if count > VALUES:
            raise UserError(f"{where} has more than {VALUES} values.")
    return count


def check_schema(config: Config, where: str = "") -> None:
    """Refuse a config that the schema does not allow; the message begins with `where`."""
    if problem := _schema_problem(json.dumps(config, sort_keys=True)):
        raise UserError(where + problem)


@functools.cache
def _schema_problem(config: str) -> str | None:
    """The problem of a config, as JSON; cached, since the paths of a plan repeat many checks."""
    import jsonschema

    try:
        _validator().validate(json.loads(config))
    except jsonschema.ValidationError as error:
        return explain_schema_error(error)
    return None


def explain_schema_error(error: Any) -> str:
    """A jsonschema ValidationError as one paragraph that names the key."""
    key = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = next(name for name in error.instance if name not in known)
        full = f"{key}.{unknown}" if key else unknown
        return (
            f"The config has an unknown key '{full}'.{nearest(unknown, known)} "
            f"Known keys here: {', '.join(sorted(known))}."
        )
    if error.validator == "required":
        lacking = next(name for name in error.validator_value if name not in error.instance)
        return f"The config key '{f'{key}.{lacking}' if key else lacking}' is missing."
    if "propertyNames" in error.absolute_schema_path and error.validator == "enum":
        known = error.validator_value
        return (
            f"The config key '{key}' has the unknown entry {error.instance!r}."
            f"{nearest(error.instance, known)} Known entries: {', '.join(known)}."
        )
    if "propertyNames" in error.absolute_schema_path:
        return (
            f"The config key '{key}' has the entry {error.instance!r}, but names of entries must "
            f"be {error.schema.get('form', error.message)}."
        )
    wanted = {
        "type": lambda v: _wanted_type(v, error.instance),
        "pattern": lambda v: f"must be {error.schema.get('form', f'of the form {v}')}",
        "const": lambda v: f"must be {v}",
        "enum": lambda v: f"must be one of {', '.join(map(str, v))}",
        "minimum": lambda v: f"must be at least {v}",
        "maximum": lambda v: f"must be at most {v}",
        "exclusiveMinimum": lambda v: f"must be greater than {v}",
        "exclusiveMaximum": lambda v: f"must be less than {v}",
        "minItems": lambda v: f"must have at least {v} entries",
        "maxItems": lambda v: f"must have at most {v} entries",
        "uniqueItems": lambda v: "must not repeat an entry",
        "anyOf": lambda v: "needs the keys " + ", or ".join(" and ".join(o["required"]) for o in v),
    }.get(error.validator, lambda v: f"is not allowed: {error.message}")(error.validator_value)
    near = nearest(error.instance, error.validator_value) if error.validator == "enum" else ""
    return f"The config key '{key}' is {error.instance!r}, but {wanted}.{near}"


def _wanted_type(kinds: str | list[str], value: Any) -> str:
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(value, float) and "number" in kinds:
        return "must be a finite number"
    if isinstance(value, float) and "integer" in kinds:
        return "must be a whole number, written without a decimal point"
    return f"must be of type {' or '.join(kinds)}"
