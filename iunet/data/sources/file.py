"""The user's own data: a table as CSV (or TSV) or Parquet, images as `.npz`."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from iunet.artifacts import sha256
from iunet.data.csv_text import check_csv_text
from iunet.data.images import RawImages
from iunet.data.own_table import check_own_table
from iunet.data.registry import Dataset, check_own_file
from iunet.data.sources import SourceSettings
from iunet.data.sources.npz import read_images
from iunet.data.table import RawTable
from iunet.errors import UserError, one_line

SEPARATORS = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")


def fetch(dataset: Dataset, settings: SourceSettings, scratch: Path) -> RawTable | RawImages:
    check_own_file(dataset)
    path = Path(dataset.location)
    provenance = {"source": "file", "path": str(path), "sha256": sha256(path)}
    if dataset.kind == "vision":
        return read_images(dataset.name, path, provenance)
    frame = read_table(dataset.name, path)
    raw = RawTable(frame, dataset.target, dataset.categorical, provenance)
    return check_own_table(dataset.name, raw)


def _read_csv(dataset: str, path: Path, separator: str, texts: Collection[str]) -> pd.DataFrame:
    check_csv_text(dataset, path, separator)
    with warnings.catch_warnings():
        # By default, pandas takes a first field too many as an index, and shifts all columns; told
        # not to, it drops the last field with a warning.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            return pd.read_csv(
                path,
                sep=separator,
                low_memory=False,
                index_col=False,
                dtype=dict.fromkeys(texts, str),
            )
        except pd.errors.ParserWarning as warning:
            raise ValueError("its rows have more fields than its header") from warning


def read_table(dataset: str, path: Path, texts: Collection[str] = ()) -> pd.DataFrame:
    """A data frame from a CSV, TSV or Parquet file.

    The columns `texts` of a CSV or TSV are read as they are written: `01` stays `01`.
    """
    suffixes = [suffix for suffix in path.suffixes if suffix.lower() not in COMPRESSED]
    suffix = suffixes[-1].lower() if suffixes else ""
    try:
        if suffix in PARQUET:
            return pd.read_parquet(path)
        if suffix in SEPARATORS:
            return _read_csv(dataset, path, SEPARATORS[suffix], texts)
    except UserError:
        raise
    except Exception as error:  # damaged files fail in many ways
        raise UserError(
            f"Data set '{dataset}': {path} cannot be read as {suffix[1:]} ({one_line(error)}). The "
            "file is damaged or of another format."
        ) from error
    raise UserError(
        f"Data set '{dataset}': {path} is neither CSV, TSV nor Parquet by its name. Known endings: "
        f"{', '.join([*SEPARATORS, *PARQUET])}."
    )
