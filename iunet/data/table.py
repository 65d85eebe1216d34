"""A raw table as a source gives it, and the checked form in which it becomes an artifact.

In the artifact every feature is either *numeric* or *categorical* (levels as strings), missing is
null, and the target is the last column. A table that cannot be a classification task is refused
here, with the data set and the column named.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from iunet.errors import DataError, UserError, nearest

MAX_PLAUSIBLE_CLASSES = 20
SHOWN = 5  # columns in a warning
MOSTLY = 0.5  # share of numbers among a text column's values that is worth a warning
# A number for a person and none for a program: 5%, $5.50, 1 234, 1'234, 1_000, 0x1f, −5.
SPELLED_NUMBER = re.compile(
    r"[+\-−]?\s*[$€£¥]?\s*[+\-−]?(0x[0-9a-f]+|[\d][\d\s'’_]*\.?\d*(e[+\-−]?\d+)?)\s*[%‰$€£¥]?", re.I
)
SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass
class RawTable:
    """What a source returns for a tabular data set."""

    frame: pd.DataFrame  # features and target
    target: str
    categorical: tuple[str, ...] = ()  # columns that are categories whatever their type
    provenance: dict[str, Any] = field(default_factory=dict)  # goes into the JSON as it is
    warnings: list[str] = field(default_factory=list)  # for the owner of the data


@dataclass
class CleanTable:
    """A checked table: what the artifact holds and what its JSON says of it."""

    table: pa.Table
    target: str
    columns: list[dict[str, Any]]  # name, kind, n_missing and, if categorical, n_levels
    classes: list[dict[str, Any]]  # name and count, in label order
    warnings: list[str]  # of columns that may not be what they are taken for


def clean_table(raw: RawTable) -> CleanTable:
    """Check a raw table and give every column its kind."""
    frame = raw.frame
    _check_shape(frame, raw)
    target, classes = _clean_target(frame[raw.target])
    table, columns, warnings = clean_features(frame.drop(columns=raw.target), raw.categorical)
    table = table.append_column(raw.target, target)
    return CleanTable(table, raw.target, columns, classes, [*raw.warnings, *warnings])


def clean_features(
    frame: pd.DataFrame, categorical: Collection[str]
) -> tuple[pa.Table, list[dict[str, Any]], list[str]]:
    """The features as checked columns, what is known of each of them, and warnings."""
    arrays, columns, warnings = [], [], []
    for name in frame.columns:
        column = frame[name]
        kind = "categorical" if name in categorical else _kind(column)
        if kind == "categorical":
            codes, levels = encode_levels(column)
            arrays.append(dictionary_array(codes, levels))
            counts = {"n_missing": int((codes < 0).sum()), "n_levels": len(levels)}
            if is_nearly_unique(len(levels), len(column)):
                warnings.append(
                    f"Column '{name}' looks like an identifier: it has {len(levels)} levels in "
                    f"{len(column)} rows. The model and its files keep the text of every level. "
                    "Leave the column out."
                )
        else:
            arrays.append(_numeric_array(column))
            counts = {"n_missing": arrays[-1].null_count}
        columns.append({"name": name, "kind": kind, **counts})
    texts = [c["name"] for c in columns if c["kind"] == "categorical"]
    doubts = _numbers_as_text(frame[[name for name in texts if name not in categorical]])
    return pa.Table.from_arrays(arrays, names=list(frame.columns)), columns, [*doubts, *warnings]


def _check_shape(frame: pd.DataFrame, raw: RawTable) -> None:
    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names):
        raise UserError(f"the column names are not all text: {names[:5]}.")
    refuse_missing_columns(names, raw.target, raw.categorical)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"two columns are named '{twice}'. Rename or remove one of them.")
    if len(names) < 2:
        raise UserError(f"there is no column but the target '{raw.target}'.")
    if len(frame) == 0:
        raise UserError("there are no rows.")


def refuse_missing_columns(names: list[str], target: str, categorical: Collection[str]) -> None:
    """A table has its target, and the columns that are declared as categories."""
    for wanted, role in [(target, "target column"), *((c, "column") for c in categorical)]:
        if wanted not in names:
            listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
            raise UserError(
                f"there is no {role} '{wanted}'.{nearest(wanted, names)} The columns are: {listed}."
            )


def _clean_target(column: pd.Series) -> tuple[pa.DictionaryArray, list[dict[str, Any]]]:
    where = f"the target column '{column.name}'"
    _kind(column)  # dates, lists and the like are no labels
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
        raise continuous_target(column.name, distinct, column.iloc[0])
    if is_nearly_unique(distinct, len(column)):
        raise UserError(
            f"{where} has {distinct} distinct values in {len(column)} rows, so it is a continuous "
            "value or an identifier rather than a class. Bin the values, or name another target."
        )
    codes, levels = encode_levels(column)
    counts = np.bincount(codes, minlength=len(levels))
    classes = [{"name": level, "count": int(n)} for level, n in zip(levels, counts, strict=True)]
    return dictionary_array(codes, levels), classes


def continuous_target(name: str, distinct: int, example: Any) -> UserError:
    return UserError(
        f"the target column '{name}' is continuous ({distinct} distinct values, such as "
        f"{example}). iunet-bench classifies: bin the values into classes, or name another target."
    )


def is_nearly_unique(distinct: int, n_rows: int) -> bool:
    """So many distinct values are a measurement or an identifier: more than half of the rows."""
    return distinct > MAX_PLAUSIBLE_CLASSES and distinct > n_rows / 2


def _is_continuous(column: pd.Series) -> bool:
    fractions = {"floating", "mixed-integer-float", "decimal"}
    if pd.api.types.infer_dtype(column) not in fractions:
        return False
    values = column.astype("float64")
    return not np.all(values == np.floor(values))


def _numeric_array(column: pd.Series) -> pa.Array:
    if column.dtype == object or column.dtype == np.longdouble:
        # Decimals, integers beyond 64 bits, numbers and pd.NA, or wider floats than Arrow has.
        column = column.mask(column.isna(), np.nan).astype("float64")
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    array = pa.Array.from_pandas(column)  # NaN becomes null
    if pa.types.is_floating(array.type):
        refuse_infinite(column.name, column.to_numpy(dtype=float))
    return array


def refuse_infinite(column: str, values: np.ndarray) -> None:
    if len(rows := np.flatnonzero(np.isinf(values))):
        raise UserError(
            f"column '{column}' holds an infinite value in row {rows[0] + 1}. Replace it by a "
            "number, or leave it empty if it is missing."
        )


def _kind(column: pd.Series) -> str:
    """Whether a column is numeric or categorical; text with numbers among it is categorical."""
    types = pd.api.types
    texts = isinstance(column.dtype, pd.CategoricalDtype) or types.is_string_dtype(column)
    if texts or types.is_bool_dtype(column):
        return "categorical"
    if types.is_numeric_dtype(column) and not types.is_complex_dtype(column):
        return "numeric"
    inferred = types.infer_dtype(column, skipna=True)
    if inferred in {"decimal", "integer", "floating", "mixed-integer-float"}:
        return "numeric"
    if inferred in {"string", "boolean", "empty"}:
        return "categorical"
    found = {type(value) for value in column.dropna()} if column.dtype == object else ()
    if found and all(issubclass(kind, (str, Real, np.bool_)) for kind in found):
        return "categorical"
    held = ", ".join(sorted(kind.__name__ for kind in found)) or column.dtype
    raise UserError(
        f"column '{column.name}' holds values of type {held}, which is neither a number nor a "
        "category. Convert it to one of the two (a date to the days since an origin, for "
        "example), or leave it out."
    )


def _numbers_as_text(texts: pd.DataFrame) -> Iterator[str]:
    """Warnings of numbers that are read as categories: one `?` among them is enough for that."""
    all_numbers = []
    for name in texts.columns:
        if isinstance(texts[name].dtype, pd.CategoricalDtype):
            continue
        found = numbers_in(texts[name])
        odd = found.index[found.isna()]
        spelled = sum(bool(SPELLED_NUMBER.fullmatch(str(value))) for value in odd)
        if len(odd) and len(found) - len(odd) + spelled >= MOSTLY * len(found):
            yield (
                f"Treating column '{name}' as categorical: most values are numbers, but some (such "
                f"as '{odd[0]}') are not."
            )
        elif found.notna().all() and (len(found) > MAX_PLAUSIBLE_CLASSES or any(found % 1 != 0)):
            all_numbers.append(f"'{name}'")
    if all_numbers:
        listed = ", ".join(all_numbers[:SHOWN]) + ", …" * (len(all_numbers) > SHOWN)
        yield (
            f"Treating {len(all_numbers)} column(s) as categorical because their numbers are "
            f"text: {listed}. Convert them with pd.to_numeric, or, if they are categories, give "
            "them the type 'category'."
        )


def numbers_in(column: pd.Series) -> pd.Series:
    """The distinct values of a column of text as numbers, by value; NaN for those that are none."""
    values = column.dropna().unique()
    return pd.Series(pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").array, values)


def encode_levels(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """Codes (-1 is missing) and the levels that occur, as text in natural order."""
    if column.dtype == object or isinstance(column.dtype, pd.ArrowDtype):
        if kinds := {type(value).__name__ for value in column if not isinstance(value, Hashable)}:
            raise DataError(
                f"Column '{column.name}' holds values of type {', '.join(sorted(kinds))}, which "
                "cannot be categories. Turn them into text or numbers, or leave the column out."
            )
        refuse_surrogates("The value", column.unique())
    category = column.astype("category").cat.remove_unused_categories().cat
    texts = [level_text(value) for value in category.categories]
    levels = sorted(set(texts), key=_natural_order)
    position = {level: i for i, level in enumerate(levels)}
    # One slot more than there are categories: code -1 (missing) then maps to the last, a -1.
    recode = np.array([position[text] for text in texts] + [-1], dtype=np.int32)
    return recode[category.codes.to_numpy()], levels


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
