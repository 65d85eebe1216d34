"""The paper's own numbers, as CSV files beside this one."""

from __future__ import annotations

import csv
from importlib import resources


def paper_table(number: int) -> list[dict[str, str]]:
    """The rows of a table of the paper, as text."""
    text = resources.files(__name__).joinpath(f"table{number}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
