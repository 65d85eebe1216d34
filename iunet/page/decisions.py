"""The decisions of reports/decisions.yaml, each beside the value that the run's config has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from iunet.results.scale import config_value
from iunet.runs.settings import Config

Decision = dict[str, Any]  # topic, decision, source; why, section and keys if it has them


def read_decisions(path: str | Path) -> list[Decision]:
    """All decisions, in the order of the file."""
    entries = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    return [{"why": "", "section": "", "keys": {}} | entry for entry in entries]


def beside_config(decisions: list[Decision], config: Config) -> list[Decision]:
    """The decisions with the config's value of each of their keys."""
    found = []
    for decision in decisions:
        values = []
        for key, decided in decision["keys"].items():
            value = config_value(config, key)
            texts = {"key": key, "value": as_text(value), "decided": as_text(decided)}
            values.append(texts | {"changed": value != decided})
        found.append(decision | {"values": values})
    return found


def as_text(value: Any) -> str:
    """A config value on one line, as YAML would write it."""
    if isinstance(value, str):
        return value
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return text.removesuffix("\n").removesuffix("...").strip()
