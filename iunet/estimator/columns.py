"""The columns of X: as a data frame, which are categories, and how new rows are read.

New rows are read as the kinds that were fitted, whatever they look like.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.utils.validation import check_array

from iunet.data.preprocess import (
    Categorical,
    Preprocessing,
    Rows,
    apply_preprocessing,
    fit_preprocessing,
)
from iunet.data.table import (
    clean_features,
    dictionary_array,
    encode_levels,
    level_text,
    refuse_infinite,
    refuse_surrogates,
)
from iunet.errors import DataError, UserError, nearest

SHOWN = 10  # names in a message
BOOLEANS = {"0": "False", "1": "True"}  # number → level
PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
LEADING_ZERO = re.compile("[+-]?0[0-9]")
LONGEST_NUMBER = 300  # characters: no float has more digits before its point


def listed(names: Iterable[Any]) -> str:
    names = [str(name) for name in names]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


@contextlib.contextmanager
def as_data_errors() -> Iterator[None]:
    """Inside, the workflow's `UserError` is a `DataError` that names no split."""
    try:
        yield
    except UserError as error:
        text = str(error).replace("the train split", "the fit")
        raise DataError(text[:1].upper() + text[1:]) from error


# ---- as a data frame


def as_pandas(X: Any) -> Any:
    """Other data frames (polars, pyarrow) as those of pandas."""
    return X.to_pandas() if hasattr(X, "to_pandas") else X


def to_frame(estimator: Any, X: Any, least_rows: int = 1) -> pd.DataFrame:
    """The features by name, or as x0, x1, …; checked as scikit-learn does."""
    is_frame = isinstance(X, pd.DataFrame)
    if isinstance(X, (list, tuple)):
        array = np.asarray(X)  # turns numbers into text if there is any text
        X = np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
    # Only the shape of a frame is checked: otherwise it would become one array.
    checked = np.broadcast_to(np.int8(0), X.shape) if is_frame else X
    smallest = {"ensure_min_samples": least_rows, "estimator": estimator}
    try:
        array = check_array(checked, dtype=None, ensure_all_finite=False, **smallest)
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from error
    frame = X if is_frame else pd.DataFrame(array).infer_objects()
    if not all(isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis([f"x{i}" for i in range(frame.shape[1])], axis="columns")
    refuse_surrogates("The column name", frame.columns)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"X has two columns named '{twice}'.")
    return _with_plain_types(frame)


def _with_plain_types(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without types that pandas can hardly compute with.

    Arrow's dictionaries become categories, its nulls missing objects, and halves float32.
    """
    frame = frame.copy(deep=False)
    for name, dtype in frame.dtypes.items():
        kind = dtype.pyarrow_dtype if isinstance(dtype, pd.ArrowDtype) else None
        if kind is not None and pa.types.is_dictionary(kind):
            frame[name] = frame[name].astype(object).astype("category")
        elif kind is not None and pa.types.is_null(kind):
            frame[name] = frame[name].astype(object)
        elif dtype == np.float16:
            frame[name] = frame[name].astype(np.float32)
    return frame


# ---- of a fit: which of them are categories


def fit_columns(
    frame: pd.DataFrame, categorical: list[Any] | None, max_categories: int
) -> tuple[Preprocessing, Rows]:
    """The fitted preprocessing, and the rows after it.

    Columns are categories if they hold text, or if the parameter `categorical_features` says so.
    """
    chosen = _chosen_columns(frame, categorical or [])
    every = np.arange(len(frame))
    with as_data_errors():
        table, _, doubts = clean_features(frame, chosen)
        fitted = fit_preprocessing(table, every, max_categories)
        rows = apply_preprocessing(fitted, table, every)
    for doubt in doubts:
        warnings.warn(doubt, stacklevel=3)  # the caller of fit
    return fitted, rows


def _chosen_columns(frame: pd.DataFrame, chosen: list[Any]) -> list[str]:
    """The columns of the parameter `categorical_features`: by name, position, or as a mask."""
    parameter, names = "The parameter 'categorical_features'", list(frame.columns)
    if chosen and all(isinstance(entry, bool) for entry in chosen):
        if len(chosen) != len(names):
            raise DataError(
                f"{parameter} is a mask of {len(chosen)} columns, but X has {len(names)}."
            )
        return list(frame.columns[chosen])
    found = []
    for entry in chosen:
        is_place = isinstance(entry, int)
        try:
            found.append(names[entry if is_place else names.index(entry)])
        except (IndexError, ValueError):
            hint = " Whole numbers are positions, from 0." if is_place else nearest(entry, names)
            raise DataError(
                f"{parameter} names the column {entry!r}, which X does not have.{hint}"
            ) from None
    return found


# ---- of new rows


def columns_by_name(frame: pd.DataFrame, names: list[str], what: str = "X") -> pd.DataFrame:
    """The columns with these names, in their order."""
    if missing := [name for name in names if name not in frame.columns]:
        raise DataError(
            f"{what} lacks {len(missing)} of the {len(names)} columns that the model needs: "
            f"{listed(missing)}.{nearest(missing[0], frame.columns)}"
        )
    return frame[names]


def columns_by_place(frame: pd.DataFrame, names: list[str], what: str = "X") -> pd.DataFrame:
    """All columns, under the names that they have in fit."""
    if frame.shape[1] != len(names):
        raise DataError(
            f"{what} has {frame.shape[1]} columns, but the model was fitted on {len(names)}."
        )
    return frame.set_axis(names, axis="columns")


def read_rows(frame: pd.DataFrame, fitted: Preprocessing) -> Rows:
    """New rows after the fitted preprocessing."""
    with as_data_errors():
        columns = {column.name: _numbers(frame[column.name]) for column in fitted.numeric}
        for column in fitted.categorical:
            columns[column.name] = _levels(frame[column.name], column)
        return apply_preprocessing(fitted, pa.table(columns), np.arange(len(frame)))


def _levels(column: pd.Series, fitted: Categorical) -> pa.Array:
    """Each value as the fitted level that it means.

    How a file's column is read depends on its other rows: `01` may be the number 1, and `true` a
    boolean. Where fit had booleans, 0 and 1 are booleans, too, and anything else is refused.
    """
    codes, texts = encode_levels(column)
    known, readings = set(fitted.codes()), {}
    booleans = known <= set(BOOLEANS.values())
    if not booleans and pd.api.types.is_numeric_dtype(column):
        _warn_of_numbers(column, texts, known)
    if booleans:
        known, readings = set(BOOLEANS.values()), BOOLEANS
    levels = []
    for code, text in enumerate(texts):
        reading = _plain_reading(text)
        reading = readings.get(reading, reading)
        levels.append(reading if text not in known and reading in known else text)
        if levels[-1] != text and LEADING_ZERO.match(text):
            warnings.warn(
                f"Column '{fitted.name}' holds '{text}', which is read as the level '{reading}' "
                "of fit.",
                stacklevel=2,
            )
        if booleans and levels[-1] not in known:
            row = int((codes == code).argmax())
            raise DataError(
                f"Column '{fitted.name}' held booleans in fit, but row {row + 1} holds '{text}' "
                "now."
            )
    return dictionary_array(codes, levels)


def _warn_of_numbers(column: pd.Series, texts: list[str], known: set[str]) -> None:
    """Warn of numbers where fit saw text: 1234 does not mean '01234'."""
    unknown = next((text for text in texts if text not in known), None)
    text = next((level for level in sorted(known) if not _is_written_number(level)), None)
    if unknown is not None and text is not None:
        warnings.warn(
            f"Column '{column.name}' held text in fit, such as '{text}', and holds numbers now. "
            f"{unknown} and other numbers that fit did not see count as no level.",
            stacklevel=2,
        )


def _is_written_number(level: str) -> bool:
    """Whether a number would be written like this."""
    try:
        return level_text(float(level)) == level
    except ValueError:
        return False


def _plain_reading(text: str) -> str:
    """The level of a boolean or number that is written as `text`: 1 for `01` or `1.0`.

    Only plain numbers: to Python, the codes `1e3` and `1_0` would be numbers, too.
    """
    if text.lower() in ("true", "false"):
        return text.capitalize()
    if len(text) > LONGEST_NUMBER or not PLAIN_NUMBER.fullmatch(text):
        return text
    whole, _, fraction = text.partition(".")
    return level_text(float(text)) if fraction.strip("0") else str(int(whole))


def _numbers(column: pd.Series) -> pa.Array:
    held = f"Column '{column.name}' held numbers in fit,"
    if column.dtype.kind in "Mm":
        raise DataError(f"{held} and holds dates now.")
    found = column
    if not pd.api.types.is_numeric_dtype(column):
        values = column.astype(object)
        found = pd.to_numeric(values, errors="coerce")
        if (strange := found.isna() & column.notna()).any():
            row = int(strange.argmax())
            raise DataError(f"{held} but row {row + 1} holds '{column.iloc[row]}' now.")
        if values.map(lambda value: isinstance(value, str)).any():
            warnings.warn(f"{held} and holds text now, which is read as numbers.", stacklevel=2)
    if pd.api.types.is_complex_dtype(found):
        raise DataError(f"{held} and holds complex ones now.")
    values = found.to_numpy(dtype=np.float64, na_value=np.nan)
    refuse_infinite(column.name, values)
    return pa.array(values)
