"""Raw tables become checked ones, or a clear error."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from iunet.data.table import RawTable, clean_table, encode_levels
from iunet.errors import UserError


def table(**columns) -> pd.DataFrame:
    return pd.DataFrame({"x": np.arange(6.0), **columns, "y": ["a", "b"] * 3})


def test_kinds_missing_values_and_order():
    frame = table(
        integer=[1, 2, 3, 4, 5, 6],
        text=["u", None, "v", "u", "v", "u"],
        flag=[True, False, True, True, False, False],
        category=pd.Categorical(["p", "q", None, "p", "q", "p"], ["q", "p", "unused"]),
        decimals=[decimal.Decimal("1.5")] * 6,
        coded=[1.0, 2.0, np.nan, 10.0, 2.0, 1.0],
        empty=[None] * 6,
    )
    frame.loc[2, "x"] = np.nan
    clean = clean_table(RawTable(frame, "y", categorical=("coded",)))
    kinds = {c["name"]: (c["kind"], c["n_missing"], c.get("n_levels")) for c in clean.columns}
    assert kinds == {
        "x": ("numeric", 1, None),
        "integer": ("numeric", 0, None),
        "text": ("categorical", 1, 2),
        "flag": ("categorical", 0, 2),
        "category": ("categorical", 1, 2),
        "decimals": ("numeric", 0, None),
        "coded": ("categorical", 1, 3),
        "empty": ("categorical", 6, 0),
    }
    assert clean.table.column_names[-1] == "y"
    assert clean.table.column("coded").to_pylist() == ["1", "2", None, "10", "2", "1"]
    assert clean.table.column("category").to_pylist() == ["p", "q", None, "p", "q", "p"]
    assert pa.types.is_integer(clean.table.column("integer").type)
    assert clean.classes == [{"name": "a", "count": 3}, {"name": "b", "count": 3}]


def test_levels_sort_naturally_and_unused_ones_go():
    codes, levels = encode_levels(pd.Series(pd.Categorical(["10", "2", "10"], ["10", "2", "z"])))
    assert levels == ["2", "10"]
    assert codes.tolist() == [1, 0, 1]


def test_levels_with_equal_text_are_one():
    codes, levels = encode_levels(pd.Series([1, "1", 2], dtype=object))
    assert levels == ["1", "2"]
    assert codes.tolist() == [0, 0, 1]


def duplicate_columns() -> pd.DataFrame:
    frame = table(z=range(6))
    return frame.rename(columns={"z": "x"})


REFUSED = {
    "identifier": (
        pd.DataFrame({"x": range(60), "y": [f"row{i}" for i in range(60)]}),
        "60 distinct values in 60 rows",
    ),
    "many integers": (
        pd.DataFrame({"x": range(60), "y": range(60)}),
        "60 distinct values in 60 rows",
    ),
    "dates": (
        table(when=[datetime.date(2020, 1, 1)] * 6),
        "column 'when' holds values of type date",
    ),
    "times": (
        table(when=pd.Timestamp("2020-01-01")),
        "column 'when' holds values of type datetime",
    ),
    "lists": (table(bag=[[1]] * 6), "column 'bag' holds values of type"),
    "columns twice": (duplicate_columns(), "two columns are named 'x'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_the_column_named(case):
    frame, fragment = REFUSED[case]
    with pytest.raises(UserError) as caught:
        clean_table(RawTable(frame, "y"))
    assert fragment in str(caught.value)


def test_continuous_decimals_are_no_classes():
    frame = table().assign(y=[decimal.Decimal(i) / 4 for i in range(6)])
    with pytest.raises(UserError, match="is continuous"):
        clean_table(RawTable(frame, "y"))


def test_large_integers_and_sparse_columns_are_numbers():
    frame = table(
        big=[2**70 + i for i in range(6)], thin=pd.arrays.SparseArray([0, 0, 1.0, 0, 0, 2])
    )
    kinds = {c["name"]: c["kind"] for c in clean_table(RawTable(frame, "y")).columns}
    assert kinds == {"x": "numeric", "big": "numeric", "thin": "numeric"}


def test_text_that_is_mostly_numbers_is_warned_of():
    clean = clean_table(RawTable(table(age=["1", "2", "3", "?", "5", "6"]), "y"))
    (warning,) = clean.warnings
    assert "Treating column 'age' as categorical" in warning and "'?'" in warning


def test_misspelt_target_is_guessed():
    frame = table().rename(columns={"y": "outcome"})
    with pytest.raises(UserError, match="Did you mean 'outcome'"):
        clean_table(RawTable(frame, "outcom"))


def test_integer_classes_in_a_float_column_are_classes():
    frame = table().assign(y=[1.0, 2.0] * 3)
    assert [c["name"] for c in clean_table(RawTable(frame, "y")).classes] == ["1", "2"]
