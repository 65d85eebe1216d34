"""What is asked of a user's own table, beyond what every table is asked for.

The sets of OpenML were looked at by others; of a file nobody but its owner knows how it was made.
What would give wrong results without a word is refused, left out, or warned of, by its name.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from dataclasses import replace

import pandas as pd

from iunet.data.table import MOSTLY, RawTable, numbers_in
from iunet.errors import UserError

NAMELESS = re.compile(r"\s*|Unnamed: \d+")  # the second is what pandas writes and reads for it
COMMA_NUMBER = re.compile(r"\s*[+-]?\d[\d.']*,\d+\s*|\s*[+-]?\d{1,3}(,\d{3})+(\.\d+)?\s*")
log = logging.getLogger(__name__)


def check_own_table(dataset: str, raw: RawTable) -> RawTable:
    """The table without an index that was written as a column; what it cannot be is refused."""
    names = raw.frame.columns
    if raw.target not in names or not names.is_unique or not all(isinstance(c, str) for c in names):
        return raw  # the checks of all tables say so
    if not isinstance(raw.frame.index, pd.RangeIndex):
        names = ", ".join(str(name) for name in raw.frame.index.names)
        log.warning("data set '%s': its index (%s) is no column and is left out", dataset, names)
    raw = _without_index(dataset, raw)
    features = [column for column in raw.frame.columns if column != raw.target]
    for name in features:
        if name not in raw.categorical:
            _refuse_commas(dataset, raw.frame[name])
    _refuse_equal_labels(dataset, raw.frame[raw.target])
    _refuse_fractions(dataset, raw.frame[raw.target])
    for name in raw.frame.columns:
        _warn_of_look_alikes(dataset, raw.frame[name])
    if features and len(raw.frame) > 1 and all(_is_constant(raw.frame[f]) for f in features):
        listed = ", ".join(f"'{name}'" for name in features[:5]) + ", …" * (len(features) > 5)
        raise UserError(
            f"Data set '{dataset}': every feature is constant ({listed}), so there is nothing to "
            "learn from."
        )
    return raw


def _without_index(dataset: str, raw: RawTable) -> RawTable:
    """Row numbers are no feature: in a file that is sorted by class they tell the class."""
    left_out = []
    for name in (column for column in raw.frame.columns if column != raw.target):
        column = raw.frame[name]
        if not _increases(column):
            continue
        if NAMELESS.fullmatch(name) and column.iloc[0] in (0, 1) and (column.diff()[1:] == 1).all():
            left_out.append(name)
            log.warning(
                "data set '%s': the column '%s' numbers the rows, as pandas writes its index; it "
                "is left out",
                dataset,
                name,
            )
        else:
            log.warning(
                "data set '%s': the column '%s' grows from row to row, as an identifier or a time "
                "does. If the rows are sorted by class, it tells the class: remove it then",
                dataset,
                name,
            )
    if not left_out:
        return raw
    return replace(
        raw,
        frame=raw.frame.drop(columns=left_out),
        categorical=tuple(name for name in raw.categorical if name not in left_out),
        provenance={**raw.provenance, "left_out": left_out},
    )


def _increases(column: pd.Series) -> bool:
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if not numeric or pd.api.types.is_complex_dtype(column) or len(column) < 2:
        return False
    return bool(column.is_monotonic_increasing and column.is_unique)


def _texts(column: pd.Series) -> list[str]:
    """The distinct values that are text."""
    if pd.api.types.is_numeric_dtype(column):
        return []
    return list(column.dropna().map(str).unique())


def _refuse_commas(dataset: str, column: pd.Series) -> None:
    values = _texts(column)
    commas = [value for value in values if COMMA_NUMBER.fullmatch(value)]
    if commas and len(commas) >= MOSTLY * len(values):
        raise UserError(
            f"Data set '{dataset}': the column '{column.name}' has numbers with a comma, such as "
            f"'{commas[0]}', which would be read as names of categories. Write them with a decimal "
            "point and without separators of thousands, or list the column under 'categorical' in "
            "the registry if they are names."
        )


def _refuse_equal_labels(dataset: str, target: pd.Series) -> None:
    """Labels that look the same would be two classes."""
    seen: dict[str, str] = {}
    for label in _texts(target):
        other = seen.setdefault(" ".join(label.split()), label)
        if other != label:
            raise UserError(
                f"Data set '{dataset}': the labels {other!r} and {label!r} in the target column "
                f"'{target.name}' differ by white space only, and would be two classes. Make them "
                "equal."
            )


def _refuse_fractions(dataset: str, target: pd.Series) -> None:
    """Numbers that were kept as text, since one is written as `1.50`."""
    texts = _texts(target)
    numbers = numbers_in(pd.Series(texts, dtype=object))
    if texts and numbers.notna().all() and (numbers % 1 != 0).any():
        raise UserError(
            f"Data set '{dataset}': the target column '{target.name}' is continuous "
            f"({len(texts)} distinct values, such as {texts[0]}). iunet-bench classifies: bin the "
            "values into classes, or name another target."
        )


def _warn_of_look_alikes(dataset: str, column: pd.Series) -> None:
    """Texts that a reader takes for one, and a program for two."""
    seen: dict[str, str] = {}
    for text in _texts(column):
        seen_as = "".join(c for c in text if unicodedata.category(c) != "Cf")  # zero width
        seen_as = " ".join(unicodedata.normalize("NFKC", seen_as).casefold().split())
        other = seen.setdefault(seen_as, text)
        if other != text:
            log.warning(
                "data set '%s': the column '%s' has %s and %s, which look alike and count as two "
                "values. Make them equal if they mean the same",
                dataset,
                column.name,
                ascii(other),
                ascii(text),
            )
            return


def _is_constant(column: pd.Series) -> bool:
    try:
        return column.nunique(dropna=False) <= 1
    except TypeError:  # lists and the like: refused with their type later
        return False
