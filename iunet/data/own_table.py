"""More checks for a user's own table: nobody but its owner knows how it was made.

What would silently give wrong results is refused, left out, or warned of.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from iunet.data.table import MOSTLY, RawTable, continuous_target, numbers_in
from iunet.errors import UserError

NAMELESS = re.compile(r"\s*|Unnamed: \d+")  # the second is what pandas writes and reads for it
COMMA_NUMBER = re.compile(r"\s*[+-]?\d[\d.']*,\d+\s*|\s*[+-]?\d{1,3}(,\d{3})+(\.\d+)?\s*")


def check_own_table(raw: RawTable) -> RawTable:
    """The table without an index that was written as a column, with warnings; or an error."""
    names = raw.frame.columns
    if raw.target not in names or not names.is_unique or not all(isinstance(c, str) for c in names):
        return raw  # refused by the checks of all tables
    warnings, left_out = [], []
    if not isinstance(raw.frame.index, pd.RangeIndex):
        index = ", ".join(str(name) for name in raw.frame.index.names)
        warnings.append(f"The table's index ({index}) is not a column and is left out.")
    for name, column in raw.frame.drop(columns=raw.target).items():
        if not _increases(column):
            continue
        counts = NAMELESS.fullmatch(name) and column.iloc[0] in (0, 1)
        if counts and (column.diff()[1:] == 1).all():
            left_out.append(name)
            warnings.append(
                f"The column '{name}' numbers the rows, like an index that pandas wrote. It is "
                "left out."
            )
        else:
            warnings.append(
                f"The column '{name}' grows from row to row, like an identifier or a time. If the "
                "rows are sorted by class, it reveals the class: remove it."
            )
    frame = raw.frame.drop(columns=left_out)
    features = frame.drop(columns=raw.target)
    _check_labels(frame[raw.target])
    for name, column in features.items():
        if name not in raw.categorical:
            _refuse_commas(column)
    constant = [_is_constant(column) for _, column in features.items()]
    if len(frame) > 1 and constant and all(constant):
        listed = ", ".join(f"'{name}'" for name in features.columns[:5])
        listed += ", …" * (features.shape[1] > 5)
        raise UserError(f"every feature is constant ({listed}), so there is nothing to learn.")
    return replace(
        raw,
        frame=frame,
        categorical=tuple(name for name in raw.categorical if name not in left_out),
        provenance=raw.provenance | ({"left_out": left_out} if left_out else {}),
        warnings=[*raw.warnings, *warnings, *_look_alikes(frame)],
    )


def _increases(column: pd.Series) -> bool:
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if not numeric or pd.api.types.is_complex_dtype(column) or len(column) < 2:
        return False
    return bool(column.is_monotonic_increasing and column.is_unique)


def _is_constant(column: pd.Series) -> bool:
    try:
        return column.nunique(dropna=False) <= 1
    except TypeError:  # lists and the like: refused with their type later
        return False


# ---- values that are text


def _texts(column: pd.Series) -> list[str]:
    """The distinct values that are text."""
    if pd.api.types.is_numeric_dtype(column):
        return []
    return list(column.dropna().map(str).unique())


def _refuse_commas(column: pd.Series) -> None:
    values = _texts(column)
    commas = [value for value in values if COMMA_NUMBER.fullmatch(value)]
    if commas and len(commas) >= MOSTLY * len(values):
        raise UserError(
            f"the column '{column.name}' has numbers with a comma, such as '{commas[0]}', which "
            "would be read as names of categories. Write them with a decimal point and without "
            "separators of thousands, or declare the column as categorical if they are names."
        )


def _check_labels(target: pd.Series) -> None:
    """Labels that differ in white space only would be two classes; fractions are no labels."""
    texts = _texts(target)
    seen: dict[str, str] = {}
    for label in texts:
        other = seen.setdefault(" ".join(label.split()), label)
        if other != label:
            raise UserError(
                f"the labels {other!r} and {label!r} in the target column '{target.name}' differ "
                "by white space only, and would be two classes. Make them equal."
            )
    numbers = numbers_in(pd.Series(texts, dtype=object))  # kept as text, since one is `1.50`
    if texts and numbers.notna().all() and (numbers % 1 != 0).any():
        raise continuous_target(target.name, len(texts), texts[0])


def _look_alikes(frame: pd.DataFrame) -> Iterator[str]:
    """Warnings of texts that look equal to a reader and are not."""
    for name in frame.columns:
        seen: dict[str, str] = {}
        for text in _texts(frame[name]):
            visible = "".join(c for c in text if unicodedata.category(c) != "Cf")  # zero width
            visible = " ".join(unicodedata.normalize("NFKC", visible).casefold().split())
            other = seen.setdefault(visible, text)
            if other != text:
                yield (
                    f"The column '{name}' has {other!a} and {text!a}, which look alike and count "
                    "as two values. Make them equal if they mean the same."
                )
                break
