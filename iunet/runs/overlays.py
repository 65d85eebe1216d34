"""The config files of the command line, read before Snakemake reads them.

Snakemake's own errors do not name a broken file, and it does not warn where it takes the last of
two equal keys, or reads `010` as 8.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iunet.errors import UserError, one_line
from iunet.runs.schema import plain

PROGRAM = "__use_yte__"  # with this key Snakemake runs Python code in the file
# YAML 1.1 also has numbers to the bases 2, 8, 16 and 60.
PLAIN_NUMBER = re.compile(r"[-+]?((0|[1-9]\d*)|[\d.]+(e[-+]?\d+)?|\.inf|\.nan)", re.IGNORECASE)


def read_overlay(path: str | Path) -> dict[str, Any]:
    """The content of a config file, or an error that names it."""
    where = f"The config file {path}"
    try:
        content = _load(Path(path).read_text(encoding="utf-8"))
        if content is None:
            raise UserError("the file is empty. Write the keys to change, or leave the file out.")
        if not isinstance(content, dict):
            raise UserError(f"expected keys with values, found {one_line(repr(content), 80)}.")
        if PROGRAM in content:
            raise UserError(f"remove the key '{PROGRAM}': configs must not run code.")
        plain(content)
    except FileNotFoundError:
        raise UserError(f"{where} does not exist (looked for in {Path.cwd()}).") from None
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{where} cannot be read as YAML or JSON ({one_line(error)}).") from error
    return content


def _load(text: str) -> Any:
    """JSON or else YAML, as Snakemake reads it; a repeated key is refused."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        def construct_yaml_int(self, node: Any) -> int:
            return _plain_number(node.value, super().construct_yaml_int(node))

        def construct_yaml_float(self, node: Any) -> float:
            return _plain_number(node.value, super().construct_yaml_float(node))

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            _refuse_twice(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
            return super().construct_mapping(node, deep)

    for kind in ("int", "float"):
        Loader.add_constructor(
            f"tag:yaml.org,2002:{kind}", getattr(Loader, f"construct_yaml_{kind}")
        )

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        _refuse_twice(name for name, _ in pairs)
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=mapping)
    except ValueError:
        pass  # YAML, then
    try:
        return yaml.load(text, Loader)
    except (yaml.YAMLError, TypeError, AttributeError, LookupError) as error:
        raise ValueError(one_line(error)) from error


def _plain_number(text: str, value: Any) -> Any:
    if not PLAIN_NUMBER.fullmatch(text) or (isinstance(value, int) and int(text) != value):
        raise UserError(
            f"YAML reads '{text}' as the number {value}. Write that number, or put '{text}' in "
            "quotes if it is text."
        )
    return value


def _refuse_twice(names: Iterable[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1 and name != "<<":
            raise UserError(f"the key '{name}' appears twice in the same place. Remove one.")


def holds_images(own: Any) -> bool:
    """Whether the file of the config key `own` holds images instead of a table."""
    return str(own).lower().endswith(".npz")


def own_overlay(own: Any) -> str:
    """The config file with the settings for a file of the user's own."""
    return f"config/own-{'images' if holds_images(own) else 'table'}.yaml"


def merged_config(overlays: Iterable[str | Path], changes: Iterable[str] = ()) -> dict[str, Any]:
    """The config as Snakemake makes it: the default, overlays, and `KEY=VALUE` changes on top."""
    from snakemake.utils import update_config

    own: dict[str, Any] = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals:
            raise UserError(f"--config takes KEY=VALUE, but got '{change}'.")
        try:
            update_config(own, {key: _load(value)})
        except ValueError as error:
            raise UserError(f"--config {change} cannot be read ({error}).") from error
    given = [read_overlay(path) for path in ("config/config.yaml", *overlays)]
    source = next((part["own"] for part in [own, *reversed(given)] if part.get("own")), None)
    if source:
        given.insert(1, read_overlay(own_overlay(source)))
    config: dict[str, Any] = {}
    for part in [*given, own]:
        update_config(config, part)
    return config
