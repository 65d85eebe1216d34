"""How large a data set is, known before anything is downloaded.

Standard library only: Snakemake asks at every start, to tell a scheduler what a job will need. A
split that exists is read. Before that, the index of a mirror knows its sets, which may be subsets,
the paper's tables 8 and 9 the paper's, and the start of a CSV file how long its rows are. Others
get a typical size.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, replace
from pathlib import Path

from iunet.data.registry import SOURCES, Dataset, mirror_index
from iunet.paper import paper_table


@dataclass(frozen=True)
class Data:
    """A data set after its split."""

    n_train: int
    n_valid: int
    n_test: int
    n_inputs: int  # columns after one-hot expansion, or pixels × channels
    n_classes: int
    side: int = 0  # of images

    @property
    def n_rows(self) -> int:
        return self.n_train + self.n_valid + self.n_test

    @property
    def mb(self) -> float:
        """On the device: images as uint8, tables as float32."""
        return self.n_rows * self.n_inputs * (1 if self.side else 4) / 1e6


TYPICAL = {  # sets of which nothing is known yet: (kind, whether their source has small ones)
    ("tabular", True): Data(340, 110, 110, 30, 2),
    ("tabular", False): Data(60_000, 20_000, 20_000, 200, 10),
    ("vision", True): Data(500, 200, 250, 3 * 16**2, 5, 16),
    ("vision", False): Data(50_000, 10_000, 10_000, 3 * 32**2, 10, 32),
}
MIRROR_COUNTS = ("n_train", "n_test", "n_rows")  # columns that an index may have
INPUTS_PER_FEATURE = 3  # one-hot expansion, over the paper's tables
SAMPLE = 2**16  # bytes of a CSV file that are read to guess its number of rows
_mirror_rows = functools.cache(mirror_index)


@functools.cache
def data_size(dataset: Dataset, results: str, mirror: str | None = None) -> Data:
    """From the split if there is one, else from the mirror or the paper, else a typical size."""
    split = Path(results) / "splits" / dataset.name / "split.json"
    if size := _split_size(split):
        return size
    source = SOURCES[dataset.source]
    known = _paper_sizes().get(dataset.name, TYPICAL[dataset.kind, source.small])
    if dataset.source == "file":
        return _csv_size(Path(dataset.location), known)
    if mirror is None or not source.online or dataset.name not in _mirror_rows(mirror):
        return known
    return _as_in_mirror(known, _mirror_rows(mirror)[dataset.name])


def _split_size(split: Path) -> Data | None:
    """None if there is no readable split; jobs that need a damaged one refuse it."""
    try:
        facts = json.loads(split.read_text(encoding="utf-8"))
        side = facts.get("side", 0)
        n_inputs = facts.get("n_inputs") or facts.get("channels", 3) * side**2
        parts = [facts[f"n_{part}"] for part in ("train", "valid", "test")]
        numbers = [*parts, n_inputs, facts["n_classes"], side]
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    usable = all(isinstance(n, int) and n >= 0 for n in numbers) and n_inputs > 0
    return Data(*numbers) if usable else None


def _csv_size(path: Path, typical: Data) -> Data:
    """From the lengths of the first rows; `typical` for other files, and for those without rows."""
    if path.suffix.lower() not in (".csv", ".tsv"):
        return typical
    try:
        with path.open("rb") as file:
            header, *rows = file.readlines(SAMPLE) or [b""]
    except OSError:  # refused by name where the file is needed
        return typical
    if not rows:
        return typical
    n_rows = round((path.stat().st_size - len(header)) * len(rows) / sum(map(len, rows)))
    n_test = n_valid = max(1, n_rows // 5)
    n_features = header.count(b"\t" if path.suffix.lower() == ".tsv" else b",")
    n_inputs = max(1, INPUTS_PER_FEATURE * n_features)
    return Data(max(1, n_rows - n_valid - n_test), n_valid, n_test, n_inputs, typical.n_classes)


def _as_in_mirror(known: Data, row: dict[str, str]) -> Data:
    """With the rows of a mirror's index, split in the same proportions; without, as known."""
    count = {name: int(row[name]) for name in MIRROR_COUNTS if (row.get(name) or "").isdigit()}
    if {"n_train", "n_test"} <= count.keys():
        fitted, n_test = count["n_train"], count["n_test"]
    elif "n_rows" in count:
        n_test = round(count["n_rows"] * known.n_test / known.n_rows)
        fitted = count["n_rows"] - n_test
    else:
        return known
    n_train = round(fitted * known.n_train / (known.n_train + known.n_valid))
    return replace(known, n_train=n_train, n_valid=fitted - n_train, n_test=n_test)


@functools.cache
def _paper_sizes() -> dict[str, Data]:
    sizes = {}
    for row in paper_table(8):
        parts = (int(row[f"n_{part}"]) for part in ("train", "valid", "test"))
        sizes[row["dataset"]] = Data(*parts, 3 * 32**2, int(row["n_classes"]), 32)
    for row in paper_table(9):
        parts = (int(row[f"n_{part}"]) for part in ("train", "valid", "test"))
        n_inputs = INPUTS_PER_FEATURE * int(row["n_features"])
        n_classes = max(2, round(200 / (float(row["majority_pct"]) + float(row["minority_pct"]))))
        sizes[row["dataset"]] = Data(*parts, n_inputs, n_classes)
    return sizes
