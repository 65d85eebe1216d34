"""The registry of data sets: which sets exist, of which kind, and where they come from.

A registry is a CSV file; `config/datasets.csv` declares the paper's 43 sets and the embedded ones.
Users name a second file of their own in `data.registry`. Read at every start of Snakemake, so it
uses nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from iunet.errors import UserError, naming, nearest, one_line

COLUMNS = ("name", "kind", "source", "location", "target", "categorical")
KINDS = ("tabular", "vision")


@dataclass(frozen=True)
class Source:
    """Where data sets come from: a module of iunet/data/sources/, named as the source."""

    kinds: tuple[str, ...]  # of data that it can give
    online: bool = False  # needs the network; a mirror replaces it if one is configured
    small: bool = False  # its sets are small, as long as nothing else is known of them


SOURCES = {
    "openml": Source(("tabular",), online=True),
    "torchvision": Source(("vision",), online=True),
    "embedded": Source(("tabular", "vision"), small=True),
    "file": Source(("tabular", "vision")),
}
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
LIST_SEPARATOR = ";"


@dataclass(frozen=True)
class Dataset:
    """One row of the registry."""

    name: str  # as in paths, wildcards and tables
    kind: str  # tabular or vision
    source: str  # of SOURCES
    location: str  # OpenML task id, torchvision class, name of an embedded set, or path
    target: str = ""  # the label's column; OpenML and embedded sets know their own
    categorical: tuple[str, ...] = ()  # columns of a file: categories, even if they hold numbers
    declared_at: str = "the registry of data sets"  # file and line, for error messages

    def named(self) -> contextlib.AbstractContextManager[None]:
        """Inside, errors name this data set, and where it can be corrected."""
        return naming(f"Data set '{self.name}' ({self.declared_at})")

    def row(self) -> dict[str, object]:
        """What the registry says, without where it says it."""
        return {column: getattr(self, column) for column in COLUMNS}


def read_registry(paths: Iterable[str | Path]) -> dict[str, Dataset]:
    """All data sets of the given CSV files, by name."""
    datasets: dict[str, Dataset] = {}
    for path in map(Path, paths):
        for dataset in _read_file(path):
            if dataset.name in datasets:
                raise UserError(
                    f"{dataset.declared_at}: data set '{dataset.name}' is already declared at "
                    f"{datasets[dataset.name].declared_at}. Rename one of them."
                )
            datasets[dataset.name] = dataset
    return datasets


def _read_file(path: Path) -> list[Dataset]:
    header, rows = _read_csv(path, "registry of data sets (config key data.registry)")
    required, unknown = set(COLUMNS[:4]) - set(header), set(header) - set(COLUMNS)
    if required or unknown:
        fault = f"has no column '{min(required)}'" if required else ""
        fault = fault or f"has an unknown column '{min(unknown, key=str)}'"
        raise UserError(
            f"The registry of data sets {path} {fault}. Its columns are {', '.join(COLUMNS)}; the "
            "last two are optional."
        )
    datasets = []
    for line, row in rows:
        with naming(where := f"{path}, line {line}"):
            datasets.append(_parse_row(row, where))
    return datasets


def _read_csv(path: Path, what: str) -> tuple[list[str], list[tuple[int, dict]]]:
    """The header, and each row with the number of its line."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # spreadsheets write a byte-order mark
        reader = csv.DictReader(text.splitlines())
        return list(reader.fieldnames or ()), [(reader.line_num, row) for row in reader]
    except (OSError, ValueError) as error:  # the latter also for NUL in a path
        raise UserError(f"The {what} {path} cannot be read as UTF-8 text: {error}.") from error
    except csv.Error as error:  # a field as long as a book
        raise UserError(f"The {what} {path} cannot be read as CSV: {error}.") from error


def _parse_row(row: dict[str | None, str | None], where: str) -> Dataset:
    if None in row or None in row.values():
        raise UserError("the row and the header differ in their number of fields.")
    row = {key: value.strip() for key, value in row.items()}
    name, kind, source, location = (row[column] for column in COLUMNS[:4])
    if not NAME.fullmatch(name):
        raise UserError(
            f"'{name}' cannot be the name of a data set. Names are used in paths: at most 100 "
            "lower-case letters, digits, '.', '_' and '-', starting with a letter or digit."
        )
    if kind not in KINDS:
        raise UserError(f"'{name}' has the kind '{kind}', not {' or '.join(KINDS)}.")
    if source not in SOURCES:
        raise UserError(
            f"'{name}' has the source '{source}', not one of {', '.join(SOURCES)}."
            + nearest(source, SOURCES)
        )
    if kind not in SOURCES[source].kinds:
        raise UserError(f"'{name}' is {kind} data, but the source '{source}' has no {kind} data.")
    if not location:
        raise UserError(f"'{name}' has no location.")
    if source == "openml" and not (location.isascii() and location.isdigit()):
        raise UserError(
            f"the location of '{name}' is '{location}', but must be the number of an OpenML task."
        )
    if source == "file":
        refuse_placeholders(f"the location of '{name}'", location)
    if source == "file" and kind == "tabular" and not row.get("target"):
        raise UserError(f"'{name}' comes from a file: name its target column.")
    listed = row.get("categorical", "").split(LIST_SEPARATOR)
    categorical = tuple(column.strip() for column in listed if column.strip())
    return Dataset(name, kind, source, location, row.get("target", ""), categorical, where)


def refuse_placeholders(what: str, path: str) -> None:
    if set(path) & set("{}<>"):
        raise UserError(
            f"{what} is '{path}', but Snakemake reads {{ }} and < > in file names as placeholders. "
            "Rename the file."
        )


def check_own_file(location: str) -> None:
    """The file of a user's own data set exists, and is a file."""
    path = Path(location)
    try:
        if path.is_file():
            return
        fault = "is a directory" if path.is_dir() else f"does not exist in {Path.cwd()}"
    except OSError as error:  # a name that is too long
        fault = f"cannot be read ({one_line(error)})"
    raise UserError(f"the file '{path}' {fault}.")


def find(registry: dict[str, Dataset], name: str, named_by: str) -> Dataset:
    """The data set of that name, or an error that says where the name is used."""
    if name not in registry:
        raise UserError(
            f"{named_by} names the data set '{name}', which no registry declares."
            f"{nearest(name, registry)} Known data sets: {', '.join(sorted(registry))}. Add a row "
            "to config/datasets.csv, or add a registry of your own to data.registry."
        )
    return registry[name]


def mirror_index(mirror: str | Path) -> dict[str, dict[str, str]]:
    """What a mirror holds: its index rows by data set, with the file's path and the kind added."""
    mirror = Path(mirror)
    rows: dict[str, dict[str, str]] = {}
    for kind in KINDS:
        index = mirror / kind / "index.csv"
        if not index.is_file():
            continue
        for _, row in _read_csv(index, "mirror's index")[1]:
            if missing := {"name", "file", "sha256"} - {k for k, v in row.items() if v}:
                raise UserError(f"{index} has a row without '{min(missing)}': {dict(row)}.")
            if Path(row["file"]).is_absolute() or ".." in Path(row["file"]).parts:
                raise UserError(
                    f"{index}: the file of '{row['name']}' is '{row['file']}', which is outside "
                    "the mirror. Put the file in the same folder as the index."
                )
            path = str(index.parent / row["file"])
            rows[row["name"]] = {**row, "sha256": row["sha256"].lower(), "kind": kind, "path": path}
    if not rows:
        raise UserError(
            f"The config key data.mirror is '{mirror}', but neither {mirror}/tabular/index.csv nor "
            f"{mirror}/vision/index.csv lists a data set. Point the key to a mirror, or set it to "
            "null to download the data."
        )
    return rows
