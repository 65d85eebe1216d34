"""A raw table as a source gives it, and the checked form in which it becomes an artifact.

In the artifact every feature is either *numeric* or *categorical* (levels as strings), missing is
null, and the target is the last column. A table that cannot be a classification task is refused
here, with the data set and the column named.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from iunet.errors import DataError, UserError, nearest, printable

MAX_PLAUSIBLE_CLASSES = 20
MOSTLY = 0.5  # share of numbers among a text column's values that is worth a warning
# A number for a person and none for a program: 5%, $5.50, 1 234, 1'234, 1_000, 0x1f, −5.
SPELLED_NUMBER = re.compile(
    r"[+\-−]?\s*[$€£¥]?\s*[+\-−]?(0x[0-9a-f]+|[\d][\d\s'’_]*\.?\d*(e[+\-−]?\d+)?)\s*[%‰$€£¥]?", re.I
)
SURROGATE = re.compile(r"[\ud800-\udfff]")
log = logging.getLogger(__name__)


@dataclass
class RawTable:
    """What a source returns for a tabular data set."""

    frame: pd.DataFrame  # features and target
    target: str
    categorical: tuple[str, ...] = ()  # columns that are categories whatever their type
    provenance: dict[str, Any] = field(default_factory=dict)  # goes into the JSON as it is


@dataclass
class CleanTable:
    """A checked table: what the artifact holds and what its JSON says of it."""

    table: pa.Table
    target: str
    columns: list[dict[str, Any]]  # name, kind, n_missing and, if categorical, n_levels
    classes: list[dict[str, Any]]  # name and count, in label order


def clean_table(dataset: str, raw: RawTable) -> CleanTable:
    """Check a raw table and give every column its kind."""
    frame = raw.frame
    _check_shape(dataset, frame, raw)
    target, classes = _clean_target(dataset, frame[raw.target])
    features, columns = clean_features(dataset, frame.drop(columns=raw.target), raw.categorical)
    table = features.append_column(raw.target, target)
    return CleanTable(table, raw.target, columns, classes)


def clean_features(
    dataset: str, frame: pd.DataFrame, categorical: Collection[str]
) -> tuple[pa.Table, list[dict[str, Any]]]:
    """The features as checked columns, and what is known of each of them."""
    arrays, columns = [], []
    for name in frame.columns:
        array, description = _clean_feature(dataset, frame[name], name in categorical)
        arrays.append(array)
        columns.append(description)
    return pa.Table.from_arrays(arrays, names=list(frame.columns)), columns


def _check_shape(dataset: str, frame: pd.DataFrame, raw: RawTable) -> None:
    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names):
        raise UserError(f"Data set '{dataset}': the column names are not all text: {names[:5]}.")
    refuse_missing_columns(dataset, names, raw.target, raw.categorical)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"Data set '{dataset}' has two columns named '{twice}'.")
    if len(names) < 2:
        raise UserError(f"Data set '{dataset}' has no column beside its target '{raw.target}'.")
    if len(frame) == 0:
        raise UserError(f"Data set '{dataset}' has no rows.")


def refuse_missing_columns(
    dataset: str, names: list[str], target: str, categorical: Collection[str]
) -> None:
    """A table has its target, and the columns that are declared as categories."""
    for wanted, role in [(target, "target column"), *((c, "column") for c in categorical)]:
        if wanted not in names:
            listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
            raise UserError(
                f"Data set '{dataset}' has no {role} '{wanted}'.{nearest(wanted, names)} Its "
                f"columns are: {listed}."
            )


def _clean_target(
    dataset: str, column: pd.Series
) -> tuple[pa.DictionaryArray, list[dict[str, Any]]]:
    where = f"Data set '{dataset}': the target column '{column.name}'"
    if n_missing := int(column.isna().sum()):
        row = int(np.flatnonzero(column.isna())[0])
        raise UserError(
            f"{where} has {n_missing} missing values (the first in row {row + 1}). Remove those "
            "rows, or give them a label. (In a CSV, words like NA, None and null mean missing.)"
        )
    distinct = column.nunique()
    if distinct < 2:
        raise UserError(
            f"{where} is constant: every row is '{column.iloc[0]}'. There is nothing to classify."
        )
    if _is_continuous(column):
        raise UserError(
            f"{where} is continuous ({distinct} distinct values, such as {column.iloc[0]}). "
            "iunet-bench classifies: bin the values into classes, or name another target."
        )
    if is_nearly_unique(distinct, len(column)):
        raise UserError(
            f"{where} has {distinct} distinct values in {len(column)} rows, so it is a continuous "
            "value or an identifier rather than a class. Bin the values, or name another target."
        )
    codes, levels = encode_levels(column)
    counts = np.bincount(codes, minlength=len(levels))
    classes = [{"name": level, "count": int(n)} for level, n in zip(levels, counts, strict=True)]
    return dictionary_array(codes, levels), classes


def is_nearly_unique(distinct: int, n_rows: int) -> bool:
    """So many distinct values are a measurement or an identifier: more than half of the rows."""
    return distinct > MAX_PLAUSIBLE_CLASSES and distinct > n_rows / 2


def _is_continuous(column: pd.Series) -> bool:
    inferred = pd.api.types.infer_dtype(column)
    if inferred not in {"floating", "mixed-integer-float", "decimal"}:
        return False
    values = column.astype("float64")
    return not np.all(values == np.floor(values))


def _clean_feature(
    dataset: str, column: pd.Series, forced_categorical: bool
) -> tuple[pa.Array, dict[str, Any]]:
    kind = "categorical" if forced_categorical else _kind(dataset, column)
    if kind == "categorical":
        codes, levels = encode_levels(column)
        if is_nearly_unique(len(levels), len(column)):
            log.warning(
                "data set '%s': column '%s' has %d levels in %d rows, as an identifier has. Leave "
                "it out if it is one",
                dataset,
                column.name,
                len(levels),
                len(column),
            )
        description = {"n_missing": int((codes < 0).sum()), "n_levels": len(levels)}
        return dictionary_array(codes, levels), {"name": column.name, "kind": kind, **description}
    if column.dtype == object or column.dtype == np.longdouble:
        # Decimals, integers beyond 64 bits, numbers beside pd.NA, or wider floats than Arrow has.
        column = column.mask(column.isna(), np.nan).astype("float64")
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    array = pa.Array.from_pandas(column)  # NaN becomes null
    if pa.types.is_floating(array.type):
        refuse_infinite(dataset, column.name, column.to_numpy(dtype=float))
    return array, {"name": column.name, "kind": kind, "n_missing": array.null_count}


def refuse_infinite(dataset: str, column: str, values: np.ndarray) -> None:
    if len(rows := np.flatnonzero(np.isinf(values))):
        raise UserError(
            f"Data set '{dataset}': column '{column}' holds an infinite value in row "
            f"{rows[0] + 1}. Replace it by a number, or leave it empty if it is missing."
        )


def _kind(dataset: str, column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column):
        return "categorical"
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        return "numeric"
    if isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_string_dtype(column):
        _warn_of_numbers(dataset, column)
        return "categorical"
    inferred = pd.api.types.infer_dtype(column, skipna=True)
    if inferred in {"decimal", "integer", "floating", "mixed-integer-float"}:
        return "numeric"
    if inferred in {"string", "boolean", "mixed-integer", "empty"}:
        return "categorical"
    raise UserError(
        f"Data set '{dataset}': column '{column.name}' holds values of type "
        f"{inferred if column.dtype == object else column.dtype}, which is neither a number nor a "
        "category. Turn it into one of the two (a date into days since an origin, say), or remove "
        "the column."
    )


def _warn_of_numbers(dataset: str, column: pd.Series) -> None:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return
    if (strange := odd_among_numbers(numbers_in(column))) is not None:
        log.warning(
            "data set '%s': column '%s' is taken as categorical because of values like '%s', "
            "though most of it are numbers",
            dataset,
            column.name,
            printable(str(strange)),
        )


def numbers_in(column: pd.Series) -> pd.Series:
    """The distinct values of a column of text as numbers, by value; NaN for those that are none."""
    values = column.dropna().unique()
    return pd.Series(pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").array, values)


def odd_among_numbers(numbers: pd.Series) -> Any:
    """A value that makes a column text though most are numbers, as a `?` or a `%` does."""
    odd = numbers.index[numbers.isna()]
    spelled = sum(bool(SPELLED_NUMBER.fullmatch(str(value))) for value in odd)
    return (
        odd[0] if len(odd) and len(numbers) - len(odd) + spelled >= MOSTLY * len(numbers) else None
    )


def encode_levels(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """Codes (-1 is missing) and the levels that occur, as text in natural order."""
    if column.dtype == object:
        refuse_surrogates("The value", column.unique())
    category = column.astype("category")
    raw_codes = category.cat.codes.to_numpy().astype(np.int32)
    texts = [level_text(value) for value in category.cat.categories]
    occurring = set(np.unique(raw_codes[raw_codes >= 0]).tolist())
    levels = sorted({texts[code] for code in occurring}, key=_natural_order)
    position = {level: i for i, level in enumerate(levels)}
    # One slot more than there are categories: code -1 (missing) then maps to the last, a -1.
    recode = np.array([position.get(text, -1) for text in texts] + [-1], dtype=np.int32)
    return recode[raw_codes], levels


def refuse_surrogates(what: str, values: Iterable[Any]) -> None:
    """Half a character of UTF-16, which no file can hold."""
    for value in values:
        if isinstance(value, str) and SURROGATE.search(value):
            raise DataError(f"{what} {str(value)!a} is no Unicode text. Replace its surrogates.")


def level_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():  # a column of integers with gaps
        return str(int(value))
    return str(value)


def _natural_order(level: str) -> tuple:
    """Numbers inside a level sort as numbers: 2 before 10."""
    parts = re.split(r"(\d+)", level)
    # Python refuses to read numbers of more than 4,300 digits.
    return tuple((1, int(p[:4000]), "") if p.isdecimal() else (0, 0, p) for p in parts if p), level


def dictionary_array(codes: np.ndarray, levels: list[str]) -> pa.DictionaryArray:
    indices = pa.array(codes, type=pa.int32(), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(levels, type=pa.string()))
