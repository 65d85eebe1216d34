"""A user's own file: what would give wrong results without a word is refused, or told."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iunet.data.registry import Dataset
from iunet.data.sources import SourceSettings, fetch
from iunet.data.table import RawTable, clean_table
from iunet.errors import UserError


def read(folder: Path, content: str | bytes, name: str = "mine.csv", **more) -> RawTable:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return fetch(Dataset("mine", "tabular", "file", str(path), "label", **more), OFFLINE, folder)


OFFLINE = SourceSettings()


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("name", ["", "Unnamed: 0", " "])
def test_the_index_that_pandas_writes_is_left_out(tmp_path, name, start):
    rows = "".join(f"{start + i},{i % 3},{'x' if i < 6 else 'y'}\n" for i in range(12))
    raw = read(tmp_path, f"{name},size,label\n{rows}")
    assert list(raw.frame) == ["size", "label"]
    (left_out,) = raw.provenance["left_out"]
    (warning,) = raw.warnings
    assert f"The column '{left_out}' numbers the rows" in warning and "left out" in warning


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Unnamed: 0", [0, 2, 3, 4]),  # grows, but does not count
        ("Unnamed: 0", [2, 3, 4, 5]),  # counts from elsewhere
        ("row", [0, 1, 2, 3]),  # has a name
        ("time", [0.5, 1.25, 7.0, 7.5]),
    ],
)
def test_other_growing_columns_stay_with_a_warning(tmp_path, name, values):
    rows = "".join(f"{v},{i % 2},{'xy'[i % 2]}\n" for i, v in enumerate(values))
    raw = read(tmp_path, f"{name},size,label\n{rows}")
    assert list(raw.frame) == [name, "size", "label"]
    (warning,) = raw.warnings
    assert f"The column '{name}' grows from row to row" in warning


@pytest.mark.parametrize(
    "values", [[0, 1, 1, 2], [3, 2, 1, 0], [0, 1, "", 3], ["a", "b", "c", "d"]]
)
def test_columns_that_do_not_grow_are_not_warned_of(tmp_path, values):
    rows = "".join(f"{v},{i % 2},{'xy'[i % 2]}\n" for i, v in enumerate(values))
    raw = read(tmp_path, f"Unnamed: 0,size,label\n{rows}")
    assert "Unnamed: 0" in raw.frame and raw.warnings == []


def test_an_index_of_a_parquet_file_is_left_out_with_a_warning(tmp_path):
    frame = pd.DataFrame({"size": [1, 5, 2], "label": ["x", "y", "x"]}, index=[7, 8, 9])
    frame.assign(**{"Unnamed: 0": range(3)}).to_parquet(tmp_path / "mine.parquet")
    raw = fetch(
        Dataset("mine", "tabular", "file", str(tmp_path / "mine.parquet"), "label"),
        OFFLINE,
        tmp_path,
    )
    assert list(raw.frame) == ["size", "label"]
    index, column = raw.warnings
    assert "index (None) is not a column" in index and "'Unnamed: 0'" in column


def test_only_a_users_own_files_lose_columns():
    """A table of OpenML or a mirror goes to `clean_table` as it is."""
    frame = pd.DataFrame({"Unnamed: 0": np.arange(6), "y": ["a", "b"] * 3})
    assert [c["name"] for c in clean_table(RawTable(frame, "y")).columns] == ["Unnamed: 0"]


def test_what_looks_odd_and_is_right_is_read(tmp_path):
    """Blank lines, a byte-order mark, quotes with line ends, commas in names, declared codes."""
    text = '\ufeffa,b,c,label\n1,"u\nv","1,5",x\n\n  \n2,"u, v","2,5",y\n'
    raw = read(tmp_path, text, categorical=("c",))
    assert raw.frame["c"].tolist() == ["1,5", "2,5"]
    assert raw.frame["b"].tolist() == ["u\nv", "u, v"]
    assert "left_out" not in raw.provenance


# ---- labels and categories as they are written


def kept(raw: RawTable, column: str) -> list[str]:
    clean = clean_table(raw)
    return clean.table[column].combine_chunks().dictionary.to_pylist()


DIFFERENT = {
    "zeros": ["01", "1"],
    "zip codes": ["01234", "1234"],
    "points": ["1", "1.0", "1.00"],
    "exponents": ["1000", "1e3"],
    "beyond 2 to the 53": ["9007199254740992", "9007199254740993"],
    "beyond 2 to the 64": ["18446744073709551616", "18446744073709551617"],
    "booleans": ["True", "true"],
}


@pytest.mark.parametrize("gap", ["", "\n,1,x"])
@pytest.mark.parametrize("case", DIFFERENT)
def test_what_is_written_differently_stays_different(tmp_path, case, gap):
    values = DIFFERENT[case]
    rows = "".join(f"{value},{i},{'xy'[i % 2]}\n" for i, value in enumerate(values * 3))
    raw = read(tmp_path, f"code,size,label\n{rows}{gap}\n", categorical=("code",))
    assert sorted(kept(raw, "code")) == sorted(values)
    rows = "".join(f"{value},{i}\n" for i, value in enumerate(values * 3))
    assert sorted(kept(read(tmp_path, f"label,size\n{rows}"), "label")) == sorted(values)


def test_numbers_that_can_be_written_back_are_numbers(tmp_path):
    rows = "".join(f"{i % 3},{i % 2}.0,{i}\n" for i in range(12))
    raw = read(
        tmp_path, f"label,code,size\n{rows},,3\n".replace("\n,,3", "\n1,,3"), categorical=("code",)
    )
    assert raw.frame["label"].tolist() == [*(i % 3 for i in range(12)), 1]
    assert kept(raw, "code") == ["0", "1"]  # a column with gaps, as pandas writes it


def test_large_whole_numbers_with_gaps_in_parquet_stay_different(tmp_path):
    code = pd.array([2**53, 2**53 + 1, None] * 4, dtype="Int64")
    frame = pd.DataFrame({"code": code, "size": range(12), "label": list("xyz") * 4})
    frame.to_parquet(tmp_path / "mine.parquet")
    where = Dataset("mine", "tabular", "file", str(tmp_path / "mine.parquet"), "label", ("code",))
    assert kept(fetch(where, OFFLINE, tmp_path), "code") == [str(2**53), str(2**53 + 1)]


def test_labels_that_only_look_like_text_are_continuous(tmp_path):
    with pytest.raises(UserError, match=r"'label' is continuous \(3 distinct values, such as 1.50"):
        read(tmp_path, "a,label\n1,1.50\n2,2.25\n1,3.75\n")


LOOK_ALIKES = {
    "case": ("Yes", "yes"),
    "NFC and NFD": ("caf\u00e9", "cafe\u0301"),
    "zero width": ("yes", "y\u200bes"),
    "soft hyphen": ("yes", "y\u00ades"),
    "wide": ("1a", "\uff11a"),
}


@pytest.mark.parametrize("column", ["label", "colour"])
@pytest.mark.parametrize("case", LOOK_ALIKES)
def test_look_alikes_are_named(tmp_path, case, column):
    one, other = LOOK_ALIKES[case]
    rows = "".join(f"{(one, other, 'b')[i % 3]},{i % 5},{'pq'[i % 2]}\n" for i in range(9))
    header = "label,size,colour\n" if column == "label" else "colour,size,label\n"
    raw = read(tmp_path, header + rows)
    assert f"The column '{column}' has {one!a} and {other!a}, which look" in raw.warnings[0]
    assert sorted(kept(raw, column)) == sorted([one, other, "b"])


@pytest.mark.parametrize(
    "value", ["5%", "$5.50", "1 234", "1'234", "1_000", "0x1f", "\u22125", "1\u00a0234", "7 €"]
)
def test_numbers_in_other_spellings_are_warned_of(tmp_path, value):
    rows = "".join(f"{(value, 1, 2)[i % 3]},{i % 5},{'xy'[i % 2]}\n" for i in range(9))
    clean = clean_table(read(tmp_path, f"price,size,label\n{rows}"))
    assert "Treating column 'price' as categorical: most values are numb" in clean.warnings[0]
    rows = "".join(f"{value if i else '3 %'},{i % 5},{'xy'[i % 2]}\n" for i in range(9))
    clean = clean_table(read(tmp_path, f"price,size,label\n{rows}"))
    assert "but some (such as '3 %') are not" in clean.warnings[0]


def test_identifiers_are_warned_of(tmp_path):
    rows = "".join(f"customer {i},{i % 5},{'xy'[i % 2]}\n" for i in range(30))
    (warning,) = clean_table(read(tmp_path, f"name,size,label\n{rows}")).warnings
    assert "'name' looks like an identifier: it has 30 levels in 30 rows" in warning


def test_leading_zeros_that_are_lost_are_warned_of(tmp_path):
    text = "zip,size,label\n01234,0,x\n1234,07,y\n"
    raw = read(tmp_path, text, categorical=("zip",))
    assert raw.frame["zip"].tolist() == ["01234", "1234"]
    assert "zeros of column 'size' are lost: values such as 07" in raw.warnings[0]
    assert "'zip'" not in str(raw.warnings)
    assert (
        "zeros of column 'zip' are lost: values such as 01234" in read(tmp_path, text).warnings[0]
    )


def write_parquet(path: Path, **columns) -> Dataset:
    pq.write_table(pa.table(columns), path / "mine.parquet")
    return Dataset("mine", "tabular", "file", str(path / "mine.parquet"), "label", ("code",))


NOT_LABELS = {
    "dates": [datetime.date(2020, 1, 1 + i % 2) for i in range(6)],
    "bytes": [b"x", b"y"] * 3,
    "lists": [[0], [1]] * 3,
    "structs": [{"q": 0}, {"q": 1}] * 3,
}


@pytest.mark.parametrize("case", NOT_LABELS)
def test_columns_of_parquet_that_are_no_labels_or_categories(tmp_path, case):
    values = NOT_LABELS[case]
    mine = write_parquet(tmp_path, code=range(6), label=values)
    with pytest.raises(UserError, match=r"'label' holds values of type .*neither a number nor a"):
        clean_table(fetch(mine, OFFLINE, tmp_path))
    if case in ("lists", "structs"):
        mine = write_parquet(tmp_path, code=values, label=list("xy") * 3)
        with pytest.raises(UserError, match=r"'code' holds values of type .*cannot be categories"):
            clean_table(fetch(mine, OFFLINE, tmp_path))


def test_text_of_parquet_that_is_not_utf_8_is_refused(tmp_path):
    places = pa.py_buffer(np.arange(7, dtype=np.int32).tobytes())
    broken = pa.Array.from_buffers(pa.string(), 6, [None, places, pa.py_buffer(b"\xff" * 6)])
    with pytest.raises(UserError, match=r"cannot be read as parquet .*UTF"):
        fetch(write_parquet(tmp_path, code=broken, label=list("xy") * 3), OFFLINE, tmp_path)


def test_halves_in_parquet_can_be_labels_and_categories(tmp_path):
    half = np.array([0, 1, 2] * 3, dtype=np.float16)
    raw = fetch(write_parquet(tmp_path, code=half, label=half), OFFLINE, tmp_path)
    assert kept(raw, "code") == kept(raw, "label") == ["0", "1", "2"]


def test_a_field_may_hold_a_book(tmp_path):
    raw = read(tmp_path, f"a,b,label\n1,{'x' * 200_000},x\n2,y,y\n")
    assert raw.frame["b"].str.len().tolist() == [200_000, 1]


def test_columns_twice_in_parquet_are_refused(tmp_path):
    columns = [pa.array([1, 2]), pa.array([2, 1]), pa.array(["x", "y"])]
    for names in (["a", "a", "label"], ["a", "label", "label"]):
        pq.write_table(pa.Table.from_arrays(columns, names=names), tmp_path / "mine.parquet")
        where = Dataset("mine", "tabular", "file", str(tmp_path / "mine.parquet"), "label")
        with pytest.raises(UserError, match=f"two columns named '{names[1]}'"):
            clean_table(fetch(where, OFFLINE, tmp_path))
