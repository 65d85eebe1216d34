"""A user's own file: what would give wrong results without a word is refused, or told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
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


@pytest.mark.parametrize("header", ["a,b,label,label", "a,b,label, label ", "a,label,a,b"])
def test_a_name_twice_in_the_raw_header_is_refused(tmp_path, header):
    """pandas would make a feature `label.1` of the second label: a perfect score on noise."""
    with pytest.raises(UserError, match=r"mine\.csv has two columns named '(label|a)': the col"):
        read(tmp_path, f"{header}\n1,2,x,x\n2,1,y,y\n")


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("name", ["", "Unnamed: 0", " "])
def test_the_index_that_pandas_writes_is_left_out(tmp_path, caplog, name, start):
    rows = "".join(f"{start + i},{i % 3},{'x' if i < 6 else 'y'}\n" for i in range(12))
    raw = read(tmp_path, f"{name},size,label\n{rows}")
    assert list(raw.frame) == ["size", "label"]
    (left_out,) = raw.provenance["left_out"]
    assert f"the column '{left_out}' numbers the rows" in caplog.text
    assert "left out" in caplog.text


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Unnamed: 0", [0, 2, 3, 4]),  # grows, but does not count
        ("Unnamed: 0", [2, 3, 4, 5]),  # counts from elsewhere
        ("row", [0, 1, 2, 3]),  # has a name
        ("time", [0.5, 1.25, 7.0, 7.5]),
    ],
)
def test_other_growing_columns_stay_with_a_warning(tmp_path, caplog, name, values):
    rows = "".join(f"{v},{i % 2},{'xy'[i % 2]}\n" for i, v in enumerate(values))
    raw = read(tmp_path, f"{name},size,label\n{rows}")
    assert list(raw.frame) == [name, "size", "label"]
    assert f"the column '{name}' grows from row to row" in caplog.text
    assert "'size'" not in caplog.text


@pytest.mark.parametrize(
    "values", [[0, 1, 1, 2], [3, 2, 1, 0], [0, 1, "", 3], ["a", "b", "c", "d"]]
)
def test_columns_that_do_not_grow_are_not_warned_of(tmp_path, caplog, values):
    rows = "".join(f"{v},{i % 2},{'xy'[i % 2]}\n" for i, v in enumerate(values))
    assert "Unnamed: 0" in read(tmp_path, f"Unnamed: 0,size,label\n{rows}").frame
    assert caplog.text == ""


def test_an_index_of_a_parquet_file_is_left_out_with_a_warning(tmp_path, caplog):
    frame = pd.DataFrame({"size": [1, 5, 2], "label": ["x", "y", "x"]}, index=[7, 8, 9])
    frame.assign(**{"Unnamed: 0": range(3)}).to_parquet(tmp_path / "mine.parquet")
    raw = fetch(
        Dataset("mine", "tabular", "file", str(tmp_path / "mine.parquet"), "label"),
        OFFLINE,
        tmp_path,
    )
    assert list(raw.frame) == ["size", "label"]
    assert "its index (None) is no column" in caplog.text and "'Unnamed: 0'" in caplog.text


def test_only_a_users_own_files_lose_columns():
    """A table of OpenML or a mirror goes to `clean_table` as it is."""
    frame = pd.DataFrame({"Unnamed: 0": np.arange(6), "y": ["a", "b"] * 3})
    assert [c["name"] for c in clean_table("x", RawTable(frame, "y")).columns] == ["Unnamed: 0"]


REFUSED = {
    "short row": ("a,b,label\n1,2,x\n3,4\n", r"mine\.csv, line 3: the row has 2 fields, fewer"),
    "long row": ("a,b,label\n1,2,x\n3,4,y,5\n", r"mine\.csv, line 3: the row has 4 fields, more"),
    "decimal comma": ('a,label\n"1,5",x\n"2,25",y\n', "the column 'a' has numbers with a comma"),
    "thousands": ('a,label\n"1,500",x\n"12,250.5",y\n', "such as '1,500'"),
    "white space": ("a,label\n1,x\n2,x \n3,y\n", "the labels 'x' and 'x ' in the target column"),
    "NUL": (b"a,label\n1,x\n2\0,y\n", "line 3 holds a NUL byte"),
    "constant": ("a,b,label\n1,z,x\n1,z,y\n", r"every feature is constant \('a', 'b'\)"),
    "semicolons": ("a;label\n1;x\n", "seems to be separated by semicolons"),
    "UTF-16": ("a,label\n1,x\n".encode("utf-16"), "cannot be read as csv"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(tmp_path, case):
    content, fragment = REFUSED[case]
    with pytest.raises(UserError, match=fragment) as caught:
        read(tmp_path, content)
    assert "Data set 'mine'" in str(caught.value)


def test_what_looks_odd_and_is_right_is_read(tmp_path):
    """Blank lines, a byte-order mark, quotes with line ends, commas in names, declared codes."""
    text = '\ufeffa,b,c,label\n1,"u\nv","1,5",x\n\n  \n2,"u, v","2,5",y\n'
    raw = read(tmp_path, text, categorical=("c",))
    assert raw.frame["c"].tolist() == ["1,5", "2,5"]
    assert raw.frame["b"].tolist() == ["u\nv", "u, v"]
    assert "left_out" not in raw.provenance
