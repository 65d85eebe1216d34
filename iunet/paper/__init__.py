"""The paper's own numbers and claims, from the CSV files in this folder."""

from __future__ import annotations

import csv
import hashlib
from importlib import resources


def _text(name: str) -> str:
    return resources.files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")


def paper_table(number: int) -> list[dict[str, str]]:
    """The rows of one of the paper's tables, as text."""
    return list(csv.DictReader(_text(f"table{number}").splitlines()))


def paper_claims() -> list[dict[str, str]]:
    """What the paper claims, where, and how runs measure it (iunet/tables/claims.py)."""
    return list(csv.DictReader(_text("claims").splitlines()))


def paper_digest() -> str:
    """A fingerprint of the paper's values and claims, for the rules that compare with them."""
    texts = "".join(_text(name) for name in (*(f"table{n}" for n in range(1, 10)), "claims"))
    return hashlib.sha256(texts.encode()).hexdigest()[:12]


def implied_rows(train: int, valid: int, test: int) -> list[int]:
    """The numbers of rows for which a 60/20/20 split, rounded down, has these sizes."""
    candidates = range(5 * valid, 5 * valid + 5)
    return [n for n in candidates if n * 3 // 5 == train and n // 5 == valid == test]


def official_rows(dataset: str) -> tuple[int, int] | None:
    """The least and the largest number of rows that fit the paper's table 9."""
    for row in paper_table(9):
        if row["dataset"] == dataset:
            fitting = implied_rows(*(int(row[f"n_{part}"]) for part in ("train", "valid", "test")))
            return fitting[0], fitting[-1]
    return None
