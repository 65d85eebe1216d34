"""The JSON schema of the config, and its complaints in words (imported at every start: light).

In the schema, `form` says in words what an entry must be, and `catalog` means a catalog's names.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Iterator
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
    "recipes": ("beta_lasso", "dense", *LEARNERS),
    "data sets of the paper": [row["dataset"] for table in (8, 9) for row in paper_table(table)],
}
MOST_VALUES = 100_000  # far beyond any config


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


def plain(value: Any, key: str = "", count: Iterator[int] | None = None) -> Any:
    """A config's value as the schema can check it; what only YAML can hold is refused.

    Snakemake reads `--config 'seeds=[0]'` as a list of strings, which no schema can accept, so
    numbers, true, false and null are restored where they are text.
    """
    where = f"The config key '{key}'" if key else "The config"
    count = count or itertools.count()
    if next(count) > MOST_VALUES:  # by references to references, a few lines of YAML can
        raise UserError(f"{where} has more than {MOST_VALUES:,} values.")
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                raise UserError(
                    f"{where} has the key {name!r}, which is not text: put it in quotes."
                )
        return {n: plain(below, f"{key}.{n}" if key else n, count) for n, below in value.items()}
    if isinstance(value, list):
        return [plain(below, f"{key}.{place}", count) for place, below in enumerate(value)]
    if isinstance(value, str):
        try:
            literal = json.loads(value)
        except ValueError:
            return value
        return value if isinstance(literal, dict | list | str) else literal
    if value is None or isinstance(value, int | float):
        return value
    raise UserError(
        f"{where} is {value!r}, which YAML reads as a {type(value).__name__}: put it in quotes if "
        "it is text."
    )


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
    found, keyword, asked = error.instance, error.validator, error.validator_value
    if keyword == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = next(name for name in found if name not in known)
        return (
            f"The config has an unknown key '{f'{key}.{unknown}' if key else unknown}'."
            f"{nearest(unknown, known)} Known keys here: {', '.join(sorted(known))}."
        )
    if keyword == "required":
        lacking = next(name for name in asked if name not in found)
        return f"The config key '{f'{key}.{lacking}' if key else lacking}' is missing."
    what = "has the entry" if "propertyNames" in error.absolute_schema_path else "is"
    if keyword == "enum":
        wanted, near = f"one of {', '.join(map(str, asked))}", nearest(found, asked)
    elif "form" in error.schema:
        wanted, near = error.schema["form"], ""
    else:
        return f"The config key '{key}' {what} {found!r}, but {error.message}."
    return f"The config key '{key}' {what} {found!r}, but must be {wanted}.{near}"
