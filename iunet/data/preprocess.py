"""MLP preprocessing of tables, fitted on the train rows only.

A column without a value in train is dropped. A numeric column is imputed with its median and
standardised. A categorical column becomes *codes* into its levels; the one-hot expansion is left to
the reader, who then still has one entry per raw column. That is what SCARF corrupts: a one-hot
group is one feature.

    levels of a column = frequent levels, then the infrequent level (if any), then missing (if any)

At most `max_categories` of them; code -1 is a value that train never had, and expands to zeros.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from iunet.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

Rows = tuple[np.ndarray, np.ndarray]  # numeric float32 [n, p], and codes of categories int32 [n, q]


@dataclass(frozen=True)
class Numeric:
    """A fitted numeric column."""

    name: str
    median: float
    mean: float
    std: float  # 1 for a constant column, which therefore becomes 0

    width = 1


@dataclass(frozen=True)
class Categorical:
    """A fitted categorical column."""

    name: str
    levels: list[str]  # frequent ones; each is a code by its position
    infrequent: list[str] = field(default_factory=list)  # share one code after the levels
    missing_level: bool = False  # train had missing values: they have a code of their own, the last

    @property
    def width(self) -> int:
        return len(self.levels) + bool(self.infrequent) + self.missing_level

    def codes(self) -> dict[str, int]:
        """The code of every level that train had."""
        codes = {level: code for code, level in enumerate(self.levels)}
        return codes | dict.fromkeys(self.infrequent, len(self.levels))


@dataclass(frozen=True)
class Preprocessing:
    """The fitted preprocessing of a table: numeric columns first, then the one-hot groups."""

    numeric: list[Numeric]
    categorical: list[Categorical]
    dropped: list[str]  # columns without a value in train

    @property
    def n_inputs(self) -> int:
        """Inputs of the network, after one-hot expansion."""
        return sum(column.width for column in [*self.numeric, *self.categorical])

    def groups(self) -> list[dict[str, Any]]:
        """Which inputs of the network, [start, stop), belong to which raw column."""
        groups, start = [], 0
        for column in [*self.numeric, *self.categorical]:
            stop = start + column.width
            groups.append({"column": column.name, "start": start, "stop": stop})
            start = stop
        return groups

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "n_inputs": self.n_inputs, "groups": self.groups()}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Preprocessing:
        numeric = [Numeric(**column) for column in content["numeric"]]
        categorical = [Categorical(**column) for column in content["categorical"]]
        return cls(numeric, categorical, content["dropped"])


def fit_preprocessing(table: pa.Table, train: np.ndarray, max_categories: int) -> Preprocessing:
    """Fit on the rows `train` of a table of features."""
    import pyarrow as pa  # late: trainings read what is fitted, and no table

    numeric, categorical, dropped = [], [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            codes, levels = dictionary_codes(column)
            codes = codes[train]
            if (codes < 0).all():
                dropped.append(name)
            else:
                categorical.append(_fit_categorical(name, codes, levels, max_categories))
        else:
            values = float_values(column)[train]
            if np.isnan(values).all():
                dropped.append(name)
            else:
                numeric.append(_fit_numeric(name, values))
    if not numeric and not categorical:
        raise UserError("no column has a value in the train split.")
    return Preprocessing(numeric, categorical, dropped)


def _fit_numeric(name: str, values: np.ndarray) -> Numeric:
    median = float(np.nanmedian(values))
    imputed = np.where(np.isnan(values), median, values)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, std = float(imputed.mean()), float(imputed.std())
    if not np.isfinite([mean, std]).all():
        raise UserError(
            f"the values of column '{name}' are too large to be standardised (up to "
            f"{np.nanmax(np.abs(values)):g}). Rescale the column."
        )
    # All equal, up to the rounding of the mean: nothing to learn from, and nothing to divide by.
    constant = imputed.min() == imputed.max() or std == 0
    return Numeric(name, median, mean if not constant else median, 1.0 if constant else std)


def _fit_categorical(
    name: str, codes: np.ndarray, levels: list[str], max_categories: int
) -> Categorical:
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    seen = np.flatnonzero(counts)
    missing_level = bool((codes < 0).any())
    room = max_categories - missing_level
    if len(seen) <= room:
        return Categorical(name, [levels[i] for i in seen], [], missing_level)
    # The most frequent stay, the later of equals first, as in scikit-learn's OneHotEncoder.
    by_count = seen[np.argsort(counts[seen], kind="stable")]
    frequent = np.sort(by_count[len(seen) - (room - 1) :])
    infrequent = np.sort(by_count[: len(seen) - (room - 1)])
    return Categorical(
        name, [levels[i] for i in frequent], [levels[i] for i in infrequent], missing_level
    )


def apply_preprocessing(fitted: Preprocessing, table: pa.Table, rows: np.ndarray) -> Rows:
    """The rows imputed and standardised, and their categories as codes."""
    numeric = np.empty((len(rows), len(fitted.numeric)), dtype=np.float32)
    for i, column in enumerate(fitted.numeric):
        values = float_values(table.column(column.name))[rows]
        values[np.isnan(values)] = column.median
        with np.errstate(over="ignore"):
            numeric[:, i] = (values - column.mean) / column.std
    if not np.isfinite(numeric).all():
        name = fitted.numeric[int(np.flatnonzero(~np.isfinite(numeric).all(axis=0))[0])].name
        raise UserError(
            f"column '{name}' has values so far from those of the train split that they cannot be "
            "standardised. Rescale or clip the column."
        )
    codes = np.empty((len(rows), len(fitted.categorical)), dtype=np.int32)
    for i, column in enumerate(fitted.categorical):
        raw_codes, levels = dictionary_codes(table.column(column.name))
        code = column.codes()
        missing = column.width - 1 if column.missing_level else -1
        # One more than there are levels: the table's code -1 (missing) maps to the last.
        recode = np.array([code.get(level, -1) for level in levels] + [missing], dtype=np.int32)
        codes[:, i] = recode[raw_codes[rows]]
    return numeric, codes


def float_values(column: pa.ChunkedArray) -> np.ndarray:
    """A numeric column as float64, missing as NaN."""
    values = column.to_numpy()  # nulls make it floating, with NaN for them
    return values.astype(np.float64)


def dictionary_codes(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    """A categorical column as codes (-1 is missing) and the text of its levels."""
    array = column.unify_dictionaries().combine_chunks()
    if hasattr(array, "chunks"):  # pyarrow keeps a table without chunks chunked
        array = array.chunk(0)
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return codes, array.dictionary.to_pylist()
