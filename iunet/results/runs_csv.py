"""runs.csv: a row for every network that was evaluated, with all its values in the tables.

Numbers have full precision; an empty cell means that a network has no such value. Lists (of layers)
are separated by spaces.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from iunet.artifacts import write_text
from iunet.errors import UserError, one_line
from iunet.escape import csv_text
from iunet.results.reports import (
    FIRST_LAYER,
    LAYER,
    MEASURED,
    SCORED,
    SECTIONS,
    SIZES,
    TRANSFORMS,
)
from iunet.results.request import SECONDS

Record = dict[str, Any]
YES, NO = "yes", "no"
COLUMNS = [
    *("dataset", "network", "method", "seed", "stage", "supernet", "cut", "ratio"),
    *("chosen", "failed", "disconnected"),
    *SCORED,
    *SIZES,
    "overlap_with_initial_mask",
    *(f"{s}_{t}_{m}" for s in SECTIONS for t in TRANSFORMS for m in MEASURED),
    *(f"first_layer_{key}" for key in FIRST_LAYER),
    *(f"layer_{key}" for key in LAYER),
    *(f"{stage}_seconds" for stage in SECONDS),
    *("trials_complete", "trials_failed", "best_trial", "subset", "processor", "id"),
]
TEXTS = (
    *("dataset", "network", "method", "stage", "supernet", "cut", "failed", "first_layer_measure"),
    *("subset", "processor", "id"),
)


def write_runs_csv(records: list[Record], path: str | Path) -> None:
    """Write the records of `iunet.results.collect.records`, except missing runs."""
    rows = [_row(record) for record in records if not record["missing"]]
    write_text(path, csv_text(rows, COLUMNS))


def _row(record: Record) -> Record:
    row = {column: record.get(column) for column in COLUMNS}
    for column in ("chosen", "disconnected"):
        row[column] = None if row[column] is None else YES if row[column] else NO
    for key in LAYER:
        values = row[f"layer_{key}"] if record.get("own_mask") else None
        row[f"layer_{key}"] = values and " ".join(map(str, values))
    return row


def read_records(path: str | Path) -> list[Record]:
    """The rows of a runs.csv, with numbers as numbers and None for empty cells."""
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != COLUMNS:
                raise UserError(
                    f"{path} was made by another version: its columns differ from those of this "
                    "one. Make it again with the rule `rows`."
                )
            return [_parsed(row, f"{path}, line {reader.line_num}") for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} cannot be read as runs.csv ({one_line(error)}).") from error


def _parsed(row: dict[str, str], where: str) -> Record:
    values: Record = {"missing": None}
    for key, text in row.items():
        if not text:
            values[key] = None
        elif key in TEXTS:
            values[key] = text
        elif key in ("chosen", "disconnected"):
            values[key] = text == YES
        elif key.startswith("layer_"):
            values[key] = [*map(LAYER[key.removeprefix("layer_")], text.split(" "))]
        else:
            values[key] = _number(text, key, where)
    return values


def _number(text: str, key: str, where: str) -> int | float:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise UserError(f"{where}: '{key}' is '{text}', which is not a number.") from None
