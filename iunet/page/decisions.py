"""The decisions of reports/decisions.yaml, each beside the value that the run's config has.

    python -m iunet.page.decisions docs/method.md reports/decisions.yaml

writes them into the document, between its two markers (`make docs`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from iunet.errors import UserError, one_line

ABSENT = object()
BEGIN = "<!-- decisions: written by `make docs` from reports/decisions.yaml, do not edit here -->"
END = "<!-- end of decisions -->"


@dataclass
class LiveValue:
    """A config key of a decision, and what the run had there."""

    key: str
    value: str | None  # None: the config has no such key
    decided: str
    changed: bool


@dataclass
class Decision:
    topic: str
    decision: str
    why: str
    source: str
    values: list[LiveValue]
    section: str = ""


def read_decisions(path: str | Path, config: dict[str, Any]) -> list[Decision]:
    """All decisions, in the order of the file."""
    path = Path(path)
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise UserError(f"The decisions in {path} cannot be read ({one_line(error)}).") from error
    decisions = []
    for number, entry in enumerate(entries, start=1):
        if lacking := [key for key in ("topic", "decision", "source") if key not in entry]:
            raise UserError(f"Decision {number} in {path} lacks the key '{lacking[0]}'.")
        values = [live_value(key, decided, config) for key, decided in _keys(entry).items()]
        texts = (entry["topic"], entry["decision"], entry.get("why", ""), entry["source"])
        decisions.append(Decision(*texts, values, entry.get("section", "")))
    return decisions


def _keys(entry: dict[str, Any]) -> dict[str, Any]:
    return entry.get("keys") or {}


def live_value(key: str, decided: Any, config: dict[str, Any]) -> LiveValue:
    value = lookup(config, key)
    if value is ABSENT:
        return LiveValue(key, None, as_text(decided), changed=False)
    return LiveValue(key, as_text(value), as_text(decided), changed=value != decided)


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


# ---- the decisions in a document


def decisions_markdown(path: str | Path) -> str:
    """All decisions as Markdown lists, one for each section, with the decided values."""
    lines = []
    for section, decisions in groupby(read_decisions(path, {}), lambda d: d.section):
        lines += ["", f"### {section}", ""]
        lines += [_item(decision) for decision in decisions]
    return "\n".join([*lines, ""])


def _item(decision: Decision) -> str:
    keys = "; ".join(f"`{value.key}: {value.decided}`" for value in decision.values)
    why = f" *{decision.why}*" if decision.why else ""
    notes = f"{decision.source}; {keys}" if keys else decision.source
    return f"- **{decision.topic}.** {decision.decision}{why} ({notes})"


def with_decisions(text: str, path: str | Path) -> str:
    """The document with the decisions between its markers."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise UserError(f"The document lacks the markers {BEGIN} and {END}.")
    return f"{before}{BEGIN}\n{decisions_markdown(path)}\n{END}{after}"


if __name__ == "__main__":
    document = Path(sys.argv[1])
    text = with_decisions(document.read_text(encoding="utf-8"), sys.argv[2])
    document.write_text(text, encoding="utf-8")
