"""Tables and figures without a data set: a user may have tables only, or images only."""

from __future__ import annotations

from iunet.runs.entries import datasets_named
from iunet.runs.settings import Config


def why_empty(config: Config, key: str) -> str | None:
    """Why an entry, such as `tables.table1`, has no data set to show; None if it has one."""
    section, _, name = key.partition(".")
    asked = config[section].get(name, {}).get("datasets")
    if asked is None or datasets_named(config, asked, f"{key}.datasets"):
        return None
    groups = [asked] if isinstance(asked, str) else asked
    empty = f", since the group {' and the group '.join(groups)} is empty" if groups else ""
    return f"There is nothing to show: the config key '{key}.datasets' names no data set{empty}."
