"""Rows that a caller hands over: as a data frame, and as columns of the kinds that were fitted."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.utils.validation import check_array, validate_data

from iunet.data.preprocess import Categorical, Preprocessing
from iunet.data.table import dictionary_array, encode_levels, level_text
from iunet.errors import DataError

MIN_ROWS = 2  # BatchNorm cannot be trained on one
BOOLEANS = {"0": "False", "1": "True", "false": "False", "true": "True"}  # text → its level
PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
LONGEST_NUMBER = 300  # characters: no float has more digits before its point


@contextlib.contextmanager
def columns_kept_if_refused(estimator: Any) -> Iterator[None]:
    """Inside, a fit that fails leaves the columns of the fit before it."""
    names = ("n_features_in_", "feature_names_in_")
    before = {name: vars(estimator)[name] for name in names if name in vars(estimator)}
    try:
        yield
    except BaseException:
        for name in names:
            vars(estimator).pop(name, None)
        vars(estimator).update(before)
        raise


def to_frame(estimator: Any, X: Any, reset: bool) -> pd.DataFrame:
    """The features by name, the columns of an array as x0, x1, …; checked as scikit-learn does."""
    if hasattr(X, "to_pandas"):  # polars, pyarrow
        X = X.to_pandas()
    least_rows = MIN_ROWS if reset else 1
    if isinstance(X, pd.DataFrame):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        check_size(estimator, X.shape, least_rows)
        frame = X
        unnamed = not reset and not hasattr(estimator, "feature_names_in_")  # fitted on an array
        if unnamed or not all(isinstance(name, str) for name in X.columns):
            frame = X.set_axis(array_names(X.shape[1]), axis="columns")
        refuse_equal_names(frame)
        return with_plain_types(frame)
    X = list_as_array(X)
    smallest = {"ensure_min_samples": least_rows, "estimator": estimator}
    array = check_array(X, dtype=None, ensure_all_finite=False, **smallest)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    names = None if reset else getattr(estimator, "feature_names_in_", None)
    return with_plain_types(array_frame(array, names))


def refuse_equal_names(frame: pd.DataFrame) -> None:
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"X has two columns named '{twice}'.")


def with_plain_types(frame: pd.DataFrame) -> pd.DataFrame:
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


def list_as_array(X: Any) -> Any:
    """A list of rows as an array that keeps numbers beside text; anything else as it is."""
    if isinstance(X, (list, tuple)):
        array = np.asarray(X)
        return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
    return X


def array_frame(array: np.ndarray, names: Iterable[str] | None = None) -> pd.DataFrame:
    """An array's columns by name, x0, x1, … if there are no others."""
    columns = array_names(array.shape[1]) if names is None else list(names)
    frame = pd.DataFrame(array, columns=columns)
    return frame.infer_objects() if array.dtype == object else frame


def array_names(count: int) -> list[str]:
    return [f"x{i}" for i in range(count)]


def check_size(estimator: Any, shape: tuple[int, int], least_rows: int) -> None:
    """Refuse too few rows or columns in the words of scikit-learn's `check_array`.

    That itself would make an array of a frame.
    """
    who = type(estimator).__name__
    for found, least, what in zip(shape, (least_rows, 1), ("sample", "feature"), strict=True):
        if found < least:
            raise DataError(
                f"Found X with {found} {what}(s) (shape={shape}) while a minimum of {least} is "
                f"required by {who}."
            )


def conform(frame: pd.DataFrame, fitted: Preprocessing) -> pa.Table:
    """The columns that a network uses, each of the kind that it was fitted as.

    What kind the new values look like does not matter: a column of numbers may be all missing here,
    and a categorical one may hold numbers.
    """
    columns = {column.name: _numbers(frame[column.name]) for column in fitted.numeric}
    for column in fitted.categorical:
        refuse_unhashable(frame[column.name])
        codes, texts = encode_levels(frame[column.name])
        if held_booleans(column):
            levels = _booleans(codes, texts, column)
        else:
            known = {*column.levels, *column.infrequent}
            levels = [text if text in known else _reading(text, known) for text in texts]
        columns[column.name] = dictionary_array(codes, levels)
    return pa.table(columns)


def refuse_unhashable(column: pd.Series) -> None:
    """Lists and the like cannot be categories."""
    if column.dtype != object and not isinstance(column.dtype, pd.ArrowDtype):
        return
    try:
        column.nunique()
    except (TypeError, pa.ArrowException):
        kinds = sorted({type(value).__name__ for value in column if not _is_hashable(value)})
        raise DataError(
            f"Column '{column.name}' holds values of type {', '.join(kinds)}, which cannot be "
            "categories. Turn them into text or numbers, or leave the column out."
        ) from None


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def held_booleans(fitted: Categorical) -> bool:
    return set(fitted.levels) <= set(BOOLEANS.values()) and not fitted.infrequent


def _booleans(codes: np.ndarray, texts: list[str], fitted: Categorical) -> list[str]:
    """`True` or `False` for each text: 0 and 1, of an array or a file, are booleans here."""
    levels = [BOOLEANS.get(_as_number(text) or text.lower()) for text in texts]
    if None in levels:
        strange = np.isin(codes, [i for i, level in enumerate(levels) if level is None])
        row = int(strange.argmax())
        raise DataError(
            f"Column '{fitted.name}' held booleans in fit, but row {row + 1} holds "
            f"'{texts[codes[row]]}' now."
        )
    return levels


def _reading(text: str, known: set[str]) -> str:
    """The fitted level that a reader of files may have made of a text, else the text.

    Which kind a file's column is read as depends on its other rows: `01` may be the number 1, and
    `true` a boolean.
    """
    boolean = text.capitalize() if text.lower() in ("true", "false") else None
    return next((level for level in (boolean, _as_number(text)) if level in known), text)


def _as_number(text: str) -> str | None:
    """The level that a number has if it is written as `text`: 1 for `01` or `1.0`.

    Only plain numbers: Python would take the codes `1e3` and `1_0` for some, too.
    """
    if len(text) > LONGEST_NUMBER or not PLAIN_NUMBER.fullmatch(text):
        return None
    whole, _, fraction = text.partition(".")
    return level_text(float(text)) if fraction.strip("0") else str(int(whole))


def _numbers(column: pd.Series) -> pa.Array:
    if column.dtype.kind in "Mm":
        raise DataError(f"Column '{column.name}' held numbers in fit, and holds dates now.")
    numbers = column
    if not pd.api.types.is_numeric_dtype(column):
        numbers = pd.to_numeric(column.astype(object), errors="coerce")
        if (strange := numbers.isna() & column.notna()).any():
            raise DataError(
                f"Column '{column.name}' held numbers in fit, but row {int(strange.argmax()) + 1} "
                f"holds '{column[strange].iloc[0]}' now."
            )
    if pd.api.types.is_complex_dtype(numbers):
        raise DataError(f"Column '{column.name}' held numbers in fit, and holds complex ones now.")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(values).any():
        raise DataError(
            f"Column '{column.name}' holds an infinite value in row "
            f"{int(np.isinf(values).argmax()) + 1}. Replace it by a number, or leave it empty."
        )
    return pa.array(values)
