"""config/README.md: every key of the config, with the paper's value and what it says.

Made from the schema, where every key has a description, and from config/config.yaml:

    python -m iunet.page.config_keys config/README.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iunet.runs.schema import read_schema

PROJECT = Path(__file__).resolve().parents[2]
ENTRIES = ("datasets_of_table", "runs_of_table")  # described once, and not at every table
LONGEST = 60  # characters of a value; longer ones are to be looked up
HEAD = """# The config

Every key, with its value in `config/config.yaml` (the paper's) and what it says. `make docs` makes
this from `workflow/schemas/config.schema.yaml`, which checks a config before anything runs. An
overlay, such as `config/demo.yaml`, changes single keys, and lists as a whole:
`snakemake --configfile config/demo.yaml`.
"""

Schema = dict[str, Any]


def keys_of(
    schema: Schema, root: Schema, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Schema]]:
    """Every key below a schema, with its own schema."""
    schema, reference = resolved(schema, root)
    if reference in ENTRIES and path:
        return
    for name, below in schema.get("properties", {}).items():
        here = (*path, name)
        yield here, below
        yield from keys_of(below, root, here)
    rows = schema.get("additionalProperties")
    if isinstance(rows, dict) and "properties" in rows:
        yield from keys_of(rows, root, (*path, "<name>"))


def resolved(schema: Schema, root: Schema) -> tuple[Schema, str]:
    """What a `$ref` leads to, with its name."""
    if "$ref" not in schema:
        return schema, ""
    *folders, name = schema["$ref"].removeprefix("#/").split("/")
    found = root
    for part in (*folders, name):
        found = found[part]
    return found, name


def description_of(schema: Schema, root: Schema) -> str | None:
    return schema.get("description") or resolved(schema, root)[0].get("description")


def choices_of(schema: Schema, root: Schema) -> list[Any]:
    return resolved(schema, root)[0].get("enum", [])


def value_at(config: dict[str, Any], path: tuple[str, ...]) -> Any:
    for name in path:
        config = config.get(name) if isinstance(config, dict) else None
    return config


def document(schema: Schema, config: dict[str, Any]) -> str:
    lines = [HEAD]
    for section, below in schema["properties"].items():
        lines += [f"\n## {section}\n", f"{sentence(description_of(below, schema))}\n"]
        keys = list(keys_of(below, schema, (section,)))
        if not keys:
            lines.append(f"In the paper's config: {shown(value_at(config, (section,)))}")
            continue
        lines += ["| key | value | meaning |", "|---|---|---|"]
        for path, key in keys:
            group = any(other[: len(path)] == path and other != path for other, _ in keys)
            value = "" if group or "<name>" in path else shown(value_at(config, path))
            choices = choices_of(key, schema)
            among = f" ({', '.join(map(str, choices))})" if choices else ""
            meaning = f"{description_of(key, schema)}{among}"
            lines.append(f"| `{'.'.join(path)}` | {value} | {meaning} |")
    return "\n".join(lines) + "\n"


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.replace('"', "")
    return f"`{text}`" if len(text) <= LONGEST else "see the file"


def main() -> None:
    import yaml

    config = yaml.safe_load((PROJECT / "config" / "config.yaml").read_text(encoding="utf-8"))
    Path(sys.argv[1]).write_text(document(read_schema(), config), encoding="utf-8")


if __name__ == "__main__":
    main()
