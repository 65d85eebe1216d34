"""The decisions of reports/decisions.yaml, each beside the value that the run's config has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ABSENT = object()
Decision = dict[str, Any]  # topic, decision, source; why, section and keys if it has them


def read_decisions(path: str | Path) -> list[Decision]:
    """All decisions, in the order of the file."""
    entries = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    return [{"why": "", "section": "", "keys": {}} | entry for entry in entries]


def beside_config(decisions: list[Decision], config: dict[str, Any]) -> list[Decision]:
    """The decisions with the config's value of each of their keys (None: it has no such key)."""
    found = []
    for decision in decisions:
        values = []
        for key, decided in decision["keys"].items():
            value = lookup(config, key)
            there = value is not ABSENT
            values.append(
                {
                    "key": key,
                    "value": as_text(value) if there else None,
                    "decided": as_text(decided),
                    "changed": there and value != decided,
                }
            )
        found.append(decision | {"values": values})
    return found


def lookup(config: dict[str, Any], key: str) -> Any:
    """The value of a dotted key. Names in the config may hold dots, so the longest part wins."""
    if key in config:
        return config[key]
    parts = key.split(".")
    for end in range(len(parts) - 1, 0, -1):
        inner = config.get(".".join(parts[:end]))
        if isinstance(inner, dict):
            return lookup(inner, ".".join(parts[end:]))
    return ABSENT


def as_text(value: Any) -> str:
    """A config value on one line, as YAML would write it."""
    if isinstance(value, str):
        return value
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return text.removesuffix("\n").removesuffix("...").strip()
