"""The user's own data: a table as CSV (or TSV) or Parquet, images as `.npz`.

What pandas would silently repair in a CSV is refused, with its line. Of two columns with one name
it calls the second `label.1`, and a label becomes a feature; to a short row it adds missing values;
at a NUL byte it cuts a value off; a quote that is not closed swallows rows.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from iunet.artifacts import sha256
from iunet.data.images import RawImages, read_images
from iunet.data.own_table import check_own_table
from iunet.data.registry import Dataset, check_own_file
from iunet.data.sources import SourceSettings
from iunet.data.table import RawTable, refuse_missing_columns
from iunet.errors import UserError, one_line

SEPARATORS = {".csv": ",", ".tsv": "\t"}
NAMES = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "vertical bars"}
PARQUET = (".parquet", ".pq")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")


def fetch(dataset: Dataset, settings: SourceSettings, scratch: Path) -> RawTable | RawImages:
    check_own_file(dataset.location)
    path = Path(dataset.location)
    provenance = {"source": "file", "path": str(path), "sha256": sha256(path)}
    if dataset.kind == "vision":
        return read_images(path, provenance)
    frame, warnings = read_table(path, [dataset.target, *dataset.categorical])
    raw = RawTable(frame, dataset.target, dataset.categorical, provenance, warnings)
    return check_own_table(raw)


def read_table(path: Path, texts: Collection[str] = ()) -> tuple[pd.DataFrame, list[str]]:
    """A data frame from a CSV, TSV or Parquet file, and warnings.

    In the columns `texts`, labels and categories, what is written differently stays different.
    """
    suffix = _suffix(path)
    try:
        if suffix in PARQUET:
            return _read_parquet(path, texts), []
        if suffix in SEPARATORS:
            return _read_csv(path, SEPARATORS[suffix], texts)
    except UserError:
        raise
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#x} cannot be read). Save "
            "it as UTF-8."
        ) from error
    except Exception as error:  # damaged files fail in many ways
        raise UserError(
            f"{path} cannot be read as {suffix[1:]} ({one_line(error)}). The file is damaged or "
            "of another format."
        ) from error
    raise UserError(
        f"{path} is neither CSV, TSV nor Parquet by its name. Known endings: "
        f"{', '.join([*SEPARATORS, *PARQUET])}."
    )


def _suffix(path: Path) -> str:
    suffixes = [suffix for suffix in path.suffixes if suffix.lower() not in COMPRESSED]
    return suffixes[-1].lower() if suffixes else ""


def check_columns(dataset: Dataset) -> None:
    """Refuse a table without its target or a declared category, by its header alone."""
    path, suffix = Path(dataset.location), _suffix(Path(dataset.location))
    try:
        if suffix in SEPARATORS:
            _, names = next(_rows(path, SEPARATORS[suffix]))
        else:
            names = pq.read_schema(path).names
    except Exception:  # the download says what is wrong with the file
        return
    if suffix in SEPARATORS:
        _check_header(path, names, SEPARATORS[suffix])
    refuse_missing_columns(names, dataset.target, dataset.categorical)


def _read_csv(path: Path, separator: str, texts: Collection[str]) -> tuple[pd.DataFrame, list[str]]:
    rows = _rows(path, separator)
    _, header = next(rows, (0, []))
    if not header:
        raise UserError(f"{path} is empty.")
    _check_header(path, header, separator)
    padded: dict[str, str] = {}  # names of columns, and a value with leading zeros
    for line, row in rows:
        if len(row) != len(header):
            raise UserError(
                f"{path}, line {line}: the row has {len(row)} fields, but the header has "
                f"{len(header)}. Repair the row; leave a field empty if its value is missing."
            )
        for name, value in zip(header, row, strict=True):
            if value[:1] == "0" and len(value) > 1 and value.isdecimal():
                padded.setdefault(name, value)
    kinds = dict.fromkeys(texts, str)
    frame = pd.read_csv(path, sep=separator, low_memory=False, index_col=False, dtype=kinds)
    warnings = [
        f"The leading zeros of column '{name}' are lost: values such as {value} are read as "
        "numbers. Declare the column as categorical if they are codes."
        for name, value in padded.items()
        if name not in texts and name in frame and pd.api.types.is_numeric_dtype(frame[name])
    ]
    kept = {name: _as_written(frame[name]) for name in texts if name in frame}
    return frame.assign(**kept), warnings


def _as_written(column: pd.Series) -> pd.Series:
    """Numbers if all of them can be written back as they were, as `01` and `1` cannot, else text.

    A column of whole numbers stays one though a value is missing: floats would merge large ones.
    """
    for number, kind in ((int, "Int64"), (float, "Float64")):
        try:
            numbers = {text: number(text) for text in column.dropna().unique()}
        except (ValueError, OverflowError):
            continue
        if all(str(value) == text and abs(value) < 2**63 for text, value in numbers.items()):
            found = [numbers.get(text, pd.NA) for text in column]
            return pd.Series(pd.array(found, dtype=kind), column.index, name=column.name)
    return column


def _read_parquet(path: Path, texts: Collection[str]) -> pd.DataFrame:
    schema = pq.read_schema(path)
    _refuse_repeated(path, schema.names)
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches():
            batch.validate(full=True)  # text that is not UTF-8, for one
    frame = pd.read_parquet(path)
    halves = frame.columns[frame.dtypes == "float16"]
    frame = frame.astype(dict.fromkeys(halves, "float32"))  # pandas has no index of halves
    for name in texts:
        if name in frame and frame[name].hasnans and pa.types.is_integer(schema.field(name).type):
            # pandas makes floats of whole numbers with gaps, and merges large ones.
            exact = pd.read_parquet(path, columns=[name], dtype_backend="numpy_nullable")
            frame[name] = exact[name]
    return frame


def _rows(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with their line numbers, without blank lines, which pandas skips too."""
    from fsspec.implementations.local import LocalFileSystem

    # Uncompressed as the ending of the name says.
    how = {"compression": "infer", "encoding": "utf-8-sig", "newline": ""}
    with LocalFileSystem().open(str(path), "r", **how) as text:
        csv.field_size_limit(2**31 - 1)  # a field may hold a book
        reader = csv.reader(text, delimiter=separator, strict=True)
        try:
            for row in reader:
                if any("\0" in value for value in row):
                    raise csv.Error("a NUL byte: the file is damaged, or its text is not UTF-8")
                if len(row) > 1 or "".join(row).strip():
                    yield reader.line_num, row
        except csv.Error as error:  # of quotes that are not closed or not doubled, for one
            raise UserError(f"{path}, line {reader.line_num} cannot be read ({error}).") from error


def _check_header(path: Path, header: list[str], separator: str) -> None:
    if len(header) == 1:
        found = [name for s, name in NAMES.items() if s != separator and s in header[0]]
        hint = f" They seem to be separated by {found[0]}." if found else ""
        raise UserError(
            f"{path} has a single column, '{header[0]}'. By its name, its fields are separated by "
            f"{NAMES[separator]}.{hint}"
        )
    _refuse_repeated(path, [name.strip() for name in header])


def _refuse_repeated(path: Path, names: list[str]) -> None:
    places: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name and places.setdefault(name, place) != place:
            raise UserError(
                f"{path} has two columns named '{name}': the columns {places[name]} and {place}. "
                "Rename or remove one of them."
            )
