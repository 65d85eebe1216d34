"""The columns of a fit that are categories, and warnings about them."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from iunet.data.preprocess import Preprocessing
from iunet.data.table import MAX_PLAUSIBLE_CLASSES, MOSTLY
from iunet.errors import DataError, nearest
from iunet.estimator.columns import refuse_unhashable

SHOWN = 5  # columns in a warning
CALLER_OF_FIT = 6  # counted from `_warn`


def categorical_columns(frame: pd.DataFrame, chosen: Any) -> list[str]:
    """The columns that are categories whatever else they look like: chosen ones, and text."""
    named = chosen_columns(frame, chosen)
    texts = [name for name in frame.columns if name not in named and _holds_text(frame[name])]
    for name in named:
        refuse_unhashable(frame[name])
    _warn_of_numbers(frame[texts])
    return [*named, *texts]


def chosen_columns(frame: pd.DataFrame, chosen: Any) -> list[str]:
    """Those of the parameter `categorical_features`: by name, place, or as a mask."""
    if chosen is None:
        return []
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise DataError(
            f"The parameter 'categorical_features' is {chosen!r}, but must be a list of names or "
            "places, or a mask."
        )
    names, entries = list(frame.columns), list(chosen)
    if entries and all(isinstance(entry, (bool, np.bool_)) for entry in entries):
        if len(entries) != len(names):
            raise DataError(
                f"The parameter 'categorical_features' is a mask of {len(entries)} columns, but X "
                f"has {len(names)}."
            )
        return [name for name, entry in zip(names, entries, strict=True) if entry]
    found = []
    for entry in entries:
        place = isinstance(entry, (int, np.integer))
        if place and -len(names) <= entry < len(names):
            found.append(names[entry])
        elif entry in names:
            found.append(entry)
        else:
            hint = " Whole numbers are places, from 0." if place else nearest(entry, names)
            raise DataError(
                f"The parameter 'categorical_features' names the column {entry!r}, which X has "
                f"not.{hint}"
            )
    return found


def _holds_text(column: pd.Series) -> bool:
    """Text, with numbers among it or not."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return False
    if column.dtype != object:
        return pd.api.types.is_string_dtype(column)
    inferred = pd.api.types.infer_dtype(column, skipna=True)
    if inferred not in ("mixed", "mixed-integer"):
        return inferred == "string"
    refuse_unhashable(column)
    return all(isinstance(value, (str, numbers.Real, np.bool_)) for value in column.dropna())


# ---- warnings


def _warn_of_numbers(texts: pd.DataFrame) -> None:
    """Numbers that are read as categories: one `?` among them is enough for that."""
    all_numbers = []
    for name in texts.columns:
        values = pd.Series(texts[name].dropna().unique(), dtype=object)
        found = pd.to_numeric(values, errors="coerce")
        share = found.notna().mean() if len(values) else 0
        if share == 1 and (len(values) > MAX_PLAUSIBLE_CLASSES or (found % 1 != 0).any()):
            all_numbers.append(f"'{name}'")
        elif MOSTLY <= share < 1:
            _warn(
                f"Column '{name}' is taken as categorical because of values like "
                f"'{values[found.isna()].iloc[0]}', though most of it are numbers."
            )
    if not all_numbers:
        return
    listed = ", ".join(all_numbers[:SHOWN]) + (", …" if len(all_numbers) > SHOWN else "")
    _warn(
        f"Numbers that are written as text are taken as categories, in {len(all_numbers)} "
        f"column(s): {listed}. Convert them with pd.to_numeric, or, if they are categories, make "
        "their type 'category'."
    )


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=CALLER_OF_FIT)


def warn_of_identifiers(fitted: Preprocessing, n_rows: int) -> None:
    """A column with a level for nearly every row teaches nothing, and a model keeps all levels."""
    for column in fitted.categorical:
        n_levels = len(column.levels) + len(column.infrequent)
        if n_levels > MAX_PLAUSIBLE_CLASSES and n_levels > n_rows / 2:
            warnings.warn(
                f"Column '{column.name}' has {n_levels} levels in {n_rows} rows, as an identifier "
                "has. The model keeps the text of each of them, also in its files: leave the "
                "column out.",
                stacklevel=3,
            )
