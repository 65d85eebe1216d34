"""What documents say of the config (`make docs`).

config/README.md has every key of the config, made from the schema, where each has a description,
and from config/config.yaml. docs/method.md has the decisions of reports/decisions.yaml.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from iunet.errors import UserError
from iunet.page.decisions import Decision, as_text, read_decisions
from iunet.runs.schema import read_schema

PROJECT = Path(__file__).resolve().parents[2]
ENTRIES = ("datasets_of_table", "runs_of_table")  # described once, and not at every table
LONGEST = 60  # characters of a value; longer ones are to be looked up
HEAD = """# The config

Every key, its value in `config/config.yaml` (the paper's), and its meaning. An overlay such as
`config/demo.yaml` replaces single keys, and lists as a whole:
`snakemake --cores 2 --configfile config/demo.yaml`. `make docs` writes this page from
`workflow/schemas/config.schema.yaml`, which also checks every config before anything runs.
"""
BEGIN = "<!-- decisions: written by `make docs` from reports/decisions.yaml, do not edit here -->"
END = "<!-- end of decisions -->"
Schema = dict[str, Any]
Key = tuple[str, ...]


# ---- the keys of the config


def keys_of(schema: Schema, root: Schema, path: Key = ()) -> Iterator[tuple[Key, Schema]]:
    """Every key below a schema, with its own schema."""
    if path and schema.get("$ref", "").endswith(ENTRIES):
        return
    schema = resolved(schema, root)
    for name, below in schema.get("properties", {}).items():
        yield (*path, name), resolved(below, root)
        yield from keys_of(below, root, (*path, name))
    rows = schema.get("additionalProperties")
    if isinstance(rows, dict) and "properties" in rows:
        yield from keys_of(rows, root, (*path, "<name>"))


def resolved(schema: Schema, root: Schema) -> Schema:
    """With what a `$ref` leads to; its own description comes first."""
    found = root
    for part in schema["$ref"].removeprefix("#/").split("/") if "$ref" in schema else ():
        found = found[part]
    return (found if "$ref" in schema else {}) | schema


def config_readme(schema: Schema, config: dict[str, Any]) -> str:
    lines = [HEAD]
    for section, below in schema["properties"].items():
        text = resolved(below, schema)["description"]
        lines += [f"\n## {section}\n", f"{text[0].upper()}{text[1:]}.\n"]
        keys = dict(keys_of(below, schema, (section,)))
        if not keys:
            lines.append(f"In the paper's config: {shown(config[section])}")
            continue
        lines += ["| key | value | meaning |", "|---|---|---|"]
        for path, key in keys.items():
            group = any(other[: len(path)] == path and other != path for other in keys)
            value = "" if group else value_at(config, path)
            among = f" (one of {', '.join(map(str, key['enum']))})" if "enum" in key else ""
            lines.append(f"| `{'.'.join(path)}` | {value} | {key['description']}{among} |")
    return "\n".join(lines) + "\n"


def value_at(config: dict[str, Any], path: Key) -> str:
    """The value of a key as code; empty if the config leaves it out."""
    for name in path:
        if name not in config:
            return ""
        config = config[name]
    return shown(config)


def shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.replace('"', "")
    return f"`{text}`" if len(text) <= LONGEST else "see the file"


# ---- the decisions


def with_decisions(text: str, decisions: list[Decision]) -> str:
    """The document with the decisions between its markers, a list for each section."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise UserError(f"The document lacks the markers {BEGIN} and {END}.")
    lines = []
    for section, of_section in groupby(decisions, lambda decision: decision["section"]):
        lines += ["", f"### {section}", "", *map(_item, of_section)]
    return "\n".join([before + BEGIN, *lines, "", END + after])


def _item(decision: Decision) -> str:
    keys = "; ".join(f"`{key}: {as_text(value)}`" for key, value in decision["keys"].items())
    why = f" *{decision['why']}*" if decision["why"] else ""
    notes = f"{decision['source']}; {keys}" if keys else decision["source"]
    return f"- **{decision['topic']}.** {decision['decision']}{why} ({notes})"


def main() -> None:
    config = yaml.safe_load((PROJECT / "config" / "config.yaml").read_text(encoding="utf-8"))
    (PROJECT / "config" / "README.md").write_text(
        config_readme(read_schema(), config), encoding="utf-8"
    )
    method = PROJECT / "docs" / "method.md"
    decisions = read_decisions(PROJECT / "reports" / "decisions.yaml")
    text = with_decisions(method.read_text(encoding="utf-8"), decisions)
    method.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
