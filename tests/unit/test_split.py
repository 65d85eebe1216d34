"""Splits and preprocessing, against scikit-learn's own and against slow, obvious versions."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from deployed import network_inputs
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from iunet.artifacts import read_arrays
from iunet.data.download import download
from iunet.data.preprocess import Preprocessing, apply_preprocessing, fit_preprocessing
from iunet.data.registry import Dataset
from iunet.data.sources import SourceSettings
from iunet.data.split import (
    channel_statistics,
    split_images,
    split_table,
    stratified_split,
    table_rows,
)
from iunet.data.table import RawTable, clean_table, encode_levels
from iunet.errors import UserError

OUTPUTS = {
    **{part: f"{part}.safetensors" for part in ("train", "valid", "test", "indices")},
    "preprocessing": "preprocessing.json",
    "split": "split.json",
}


# ---- which row goes where


def test_split_is_scikit_learns_where_it_can_stratify():
    labels = np.random.default_rng(0).choice(3, size=452, p=[0.6, 0.3, 0.1])
    rest, test, pooled = stratified_split(labels, 0.2, seed=11)
    theirs = train_test_split(np.arange(452), test_size=0.2, random_state=11, stratify=labels)
    assert pooled == []
    assert np.array_equal(rest, theirs[0])
    assert np.array_equal(test, theirs[1])
    train, valid, _ = stratified_split(labels[rest], 0.25, seed=11)
    assert (len(train), len(valid), len(test)) == (270, 91, 91)  # arrhythmia's sizes


def split_of_the_prior_work(text: np.ndarray) -> dict[str, list[int]]:
    """Kadra et al.'s two calls on the text of the labels, the second on what the first returned."""
    x, y = np.arange(len(text)), text
    rest, test, y_rest, _ = train_test_split(x, y, test_size=0.2, random_state=11, stratify=y)
    train, valid = train_test_split(rest, test_size=0.25, random_state=11, stratify=y_rest)
    return {"train": sorted(train), "valid": sorted(valid), "test": sorted(test)}


def our_split(column: pd.Series) -> dict[str, list[int]]:
    codes, names = encode_levels(column)
    rows, pooled_test, pooled_valid = table_rows(codes, names, 0.2, 0.25, 11)
    assert pooled_test == pooled_valid == []
    return {part: list(of_part) for part, of_part in rows.items()}


LABELS = {
    "numbers as text": (["1", "2", "10"], ["1", "2", "10"]),
    "numbers": ([1, 2, 10], ["1", "2", "10"]),
    "whole floats": ([1.0, 2.0, 10.0], ["1", "2", "10"]),
    "text": (["b", "Z", "ä", "a10", "a9"], ["b", "Z", "ä", "a10", "a9"]),
    "booleans": ([True, False], ["True", "False"]),
}


@pytest.mark.parametrize(("values", "text"), LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("as_category", [False, True], ids=["plain", "category"])
def test_tables_are_split_as_in_the_prior_work(values, text, as_category):
    chosen = np.random.default_rng(1).integers(len(values), size=203)
    column = pd.Series([values[i] for i in chosen])
    if as_category:  # the order of the categories must not matter
        column = column.astype(pd.CategoricalDtype(values))
    theirs = split_of_the_prior_work(np.array(text)[chosen])
    assert our_split(column) == theirs


@pytest.mark.mirror
def test_real_tables_are_split_as_in_the_prior_work(mirror):
    paths = sorted((mirror / "tabular").glob("*.parquet"))
    for path in paths:
        column = pd.read_parquet(path, columns=["target"])["target"]
        theirs = split_of_the_prior_work(column.astype(str).to_numpy(dtype=str))
        assert our_split(column) == theirs, path.stem
    assert len(paths) > 0


def test_classes_too_rare_for_a_table_are_named():
    names = ["1", "2", "10", "3"]
    labels = np.array([0] * 40 + [1] * 30 + [2] * 30 + [3])
    rows, pooled_test, pooled_valid = table_rows(labels, names, 0.2, 0.25, 11)
    assert pooled_test == pooled_valid == ["3"]
    assert 100 in rows["train"]
    assert all(np.array_equal(part, np.sort(part)) for part in rows.values())


@pytest.mark.parametrize(
    ("n", "sizes"), [(50_000, (40_000, 10_000)), (73_257, (58_606, 14_651))], ids=["cifar", "svhn"]
)
def test_vision_sizes_are_those_of_table_8(n, sizes):
    train, valid, _ = stratified_split(np.arange(n) % 10, 0.2, seed=11, round_down=True)
    assert (len(train), len(valid)) == sizes


def test_class_of_one_row_goes_to_the_first_part():
    labels = np.array([0] * 50 + [1] * 49 + [2])
    first, second, pooled = stratified_split(labels, 0.2, seed=11)
    assert pooled == [2]
    assert 99 in first
    assert (len(first), len(second)) == (80, 20)
    assert (labels[second] == 0).sum() == 10  # the others stay stratified


def test_several_classes_of_one_row_are_one_stratum():
    labels = np.array([0] * 50 + [1] * 40 + list(range(2, 12)))
    _, second, pooled = stratified_split(labels, 0.2, seed=11)
    assert pooled == list(range(2, 12))
    assert (labels[second] >= 2).sum() == 2
    assert (labels[second] == 0).sum() == 10


def test_more_classes_than_rows_in_the_second_part():
    labels = np.repeat(np.arange(10), 3)  # 6 rows for 10 classes
    first, second, pooled = stratified_split(labels, 0.2, seed=11)
    assert (len(first), len(second)) == (24, 6)
    assert len(pooled) == 5


@settings(deadline=None, max_examples=80)
@given(
    labels=st.lists(st.integers(0, 8), min_size=5, max_size=60).map(np.array),
    round_down=st.booleans(),
)
def test_any_labels_split_into_the_right_sizes(labels, round_down):
    first, second, pooled = stratified_split(labels, 0.2, seed=11, round_down=round_down)
    rounded = math.floor if round_down else math.ceil
    assert len(second) == rounded(0.2 * len(labels))
    assert sorted([*first, *second]) == list(range(len(labels)))
    classes, counts = np.unique(labels, return_counts=True)
    for label, count in zip(classes, counts, strict=True):
        assert count >= 2 or label in pooled
        if label not in pooled and len(classes) > 1:  # stratified: within one row of its share
            assert abs((labels[second] == label).sum() - count * len(second) / len(labels)) <= 1


# ---- preprocessing


def mixed_table(n=300, seed=0) -> pa.Table:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "normal": rng.normal(5, 3, n),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.exponential(size=n)),
            "integer": rng.integers(0, 1000, n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "many": [f"level{i}" for i in rng.geometric(0.1, n)],
            "constant": 7,
            "y": rng.choice(["a", "b"], n),
        }
    )
    clean = clean_table(RawTable(frame, "y"))
    return clean.table.drop_columns("y")


@pytest.mark.parametrize("max_categories", [256, 8, 4])
def test_preprocessing_is_scikit_learns(max_categories):
    """Except for a column with just max_categories levels, where theirs calls one infrequent."""
    table = mixed_table()
    train, test = np.arange(200), np.arange(200, 300)
    fitted = fit_preprocessing(table, train, max_categories)
    ours = network_inputs(fitted.to_json(), table.take(test))
    frame = table.to_pandas()
    numeric, categorical = ["normal", "gaps", "integer", "constant"], ["colour", "many"]
    frame[categorical] = frame[categorical].astype(object)
    levels = [table.column(name).unify_dictionaries().chunk(0).dictionary for name in categorical]
    seen = [
        [v for v in level.to_pylist() if v in set(frame[name].iloc[train])]
        for name, level in zip(categorical, levels, strict=True)
    ]
    encoder = OneHotEncoder(
        categories=seen, max_categories=max_categories, handle_unknown="ignore", sparse_output=False
    )
    reference = ColumnTransformer(
        [
            ("n", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric),
            ("c", encoder, categorical),
        ]
    )
    theirs = reference.fit(frame.iloc[train]).transform(frame.iloc[test])
    assert ours.shape == theirs.shape == (100, fitted.n_inputs)
    assert np.allclose(ours, theirs, atol=1e-5)


def categorical_table(values) -> pa.Table:
    frame = pd.DataFrame(
        {"c": pd.Series(values, dtype="str"), "y": (["a", "b"] * len(values))[: len(values)]}
    )
    return clean_table(RawTable(frame, "y")).table.drop_columns("y")


def test_missing_is_a_level_of_its_own_even_when_levels_are_many():
    table = categorical_table(["a", "a", "a", "b", "b", "c", "d", None, "e", None])
    train = np.arange(8)
    fitted = fit_preprocessing(table, train, max_categories=4)
    column = fitted.categorical[0]
    assert (column.levels, column.infrequent, column.missing_level) == (
        ["a", "b"],
        ["c", "d"],
        True,
    )
    assert column.width == 4
    _, codes = apply_preprocessing(fitted, table, np.arange(10))
    # a a a b b c d missing, then e (unseen in train: zeros) and a missing value
    assert codes[:, 0].tolist() == [0, 0, 0, 1, 1, 2, 2, 3, -1, 3]
    assert network_inputs(fitted.to_json(), table.take([8])).tolist() == [[0] * 4]


def test_missing_unseen_in_train_is_unknown():
    table = categorical_table(["a", "b", "a", "b", None])
    fitted = fit_preprocessing(table, np.arange(4), max_categories=4)
    _, codes = apply_preprocessing(fitted, table, np.array([4]))
    assert codes.tolist() == [[-1]]


def test_columns_without_a_value_in_train_are_dropped():
    frame = pd.DataFrame(
        {"x": range(4), "late": [None, None, 1.0, 2.0], "text": [None, None, "u", "v"]}
    ).assign(y=["a", "b"] * 2)
    table = clean_table(RawTable(frame, "y")).table.drop_columns("y")
    fitted = fit_preprocessing(table, np.arange(2), max_categories=256)
    assert fitted.dropped == ["late", "text"]
    assert len(fitted.groups()) == 1
    with pytest.raises(UserError, match="no column has a value in the train split"):
        fit_preprocessing(table.drop_columns("x"), np.arange(2), max_categories=256)


def test_only_train_is_used():
    table = mixed_table()
    other = mixed_table().to_pandas()
    other.loc[200:, ["normal", "gaps"]] = 1e6
    other = clean_table(RawTable(other.assign(y=["a", "b"] * 150), "y")).table.drop_columns("y")
    train = np.arange(200)
    assert (
        fit_preprocessing(table, train, 256).numeric == fit_preprocessing(other, train, 256).numeric
    )


def test_values_too_large_to_standardise_are_named():
    frame = pd.DataFrame({"huge": [1e308, -1e308, 1e308, 0.0], "y": ["a", "b"] * 2})
    table = clean_table(RawTable(frame, "y")).table.drop_columns("y")
    with pytest.raises(UserError, match="the values of column 'huge' are too large"):
        fit_preprocessing(table, np.arange(4), 256)


def test_fitted_preprocessing_survives_json():
    fitted = fit_preprocessing(mixed_table(), np.arange(200), 8)
    content = json.loads(json.dumps(fitted.to_json()))
    assert Preprocessing.from_json(content) == fitted
    groups = content["groups"]
    assert [g["column"] for g in groups] == [
        "normal",
        "gaps",
        "integer",
        "constant",
        "colour",
        "many",
    ]
    assert groups[4]["stop"] - groups[4]["start"] == 3
    assert groups[-1]["stop"] == content["n_inputs"]


# ---- the stages


@pytest.fixture
def split_of(tmp_path):
    """Download an embedded set and split it; returns a reader of the outputs."""

    def run(name: str, kind: str = "tabular", **parameters):
        dataset = Dataset(name, kind, "embedded", name)
        data, description = tmp_path / "data", tmp_path / "data.json"
        output = {key: str(tmp_path / file) for key, file in OUTPUTS.items()}
        download(dataset, SourceSettings(), data, description)
        if kind == "tabular":
            split_table(data, description, output, 11, 0.2, 0.25, 256)
        else:
            split_images(data, description, output, 11, 0.2)
        return {
            key: json.loads((tmp_path / file).read_text())
            if file.endswith("json")
            else read_arrays(tmp_path / file)
            for key, file in OUTPUTS.items()
        }

    return run


def test_split_table_artifacts(split_of):
    out = split_of("wine")
    rows = np.concatenate([out["indices"][part] for part in ("train", "valid", "test")])
    assert sorted(rows) == list(range(178))
    for part in ("train", "valid", "test"):
        assert len(out[part]["labels"]) == out["split"][f"n_{part}"] == len(out["indices"][part])
        assert out[part]["numeric"].shape[1] == 13
        assert out[part]["categorical"].shape == (len(out[part]["labels"]), 0)
    assert np.abs(out["train"]["numeric"].mean(axis=0)).max() < 1e-5
    assert np.abs(out["train"]["numeric"].std(axis=0) - 1).max() < 1e-5
    assert out["split"]["pooled_for_test"] == out["split"]["classes_without_train_rows"] == []
    assert out["preprocessing"]["n_inputs"] == out["split"]["n_inputs"] == 13


def test_split_images_artifacts(split_of):
    out = split_of("photo_digits_low", "vision")
    train = out["train"]["images"]
    assert train.dtype == np.uint8 and train.shape[1:] == (3, 16, 16)
    n_official = out["split"]["n_train"] + out["split"]["n_valid"]
    assert out["split"]["n_valid"] == n_official // 5
    scaled = train / 255.0
    assert np.allclose(out["preprocessing"]["mean"], scaled.mean(axis=(0, 2, 3)))
    assert np.allclose(out["preprocessing"]["std"], scaled.std(axis=(0, 2, 3)))


def test_constant_channel_does_not_divide_by_zero():
    assert channel_statistics(np.full((2, 1, 4, 4), 255, dtype=np.uint8)) == ([1.0], [1.0])


def test_downloads_and_splits_are_deterministic(split_of, tmp_path):
    split_of("digits")
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert {"data", "data.json", *OUTPUTS.values()} <= set(first)
    split_of("digits")
    assert first == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def own_table(tmp_path, frame: pd.DataFrame):
    frame.to_csv(tmp_path / "mine.csv", index=False)
    dataset = Dataset("mine", "tabular", "file", str(tmp_path / "mine.csv"), target="y")
    data, description = tmp_path / "data", tmp_path / "data.json"
    download(dataset, SourceSettings(), data, description)
    output = {key: str(tmp_path / file) for key, file in OUTPUTS.items()}
    split_table(data, description, output, 11, 0.2, 0.25, 256)
    return json.loads((tmp_path / "split.json").read_text())


def test_class_of_one_row_is_recorded(tmp_path):
    frame = pd.DataFrame({"x": range(41), "y": ["a", "b"] * 20 + ["rare"]})
    split = own_table(tmp_path, frame)
    assert split["pooled_for_test"] == split["pooled_for_valid"] == ["rare"]
    assert split["classes"][2] == {"name": "rare", "train": 1, "valid": 0, "test": 0}
    assert (split["n_train"], split["n_valid"], split["n_test"]) == (24, 8, 9)


def test_too_few_rows_for_three_parts(tmp_path):
    with pytest.raises(UserError, match="'mine' has 4 rows, too few"):
        own_table(tmp_path, pd.DataFrame({"x": range(4), "y": ["a", "b"] * 2}))


def test_all_missing_and_constant_columns_are_handled(tmp_path):
    frame = pd.DataFrame({"x": range(20), "empty": None, "same": 3, "y": ["a", "b"] * 10})
    split = own_table(tmp_path, frame)
    assert split["dropped_columns"] == ["empty"]
    assert (split["n_features"], split["n_inputs"]) == (3, 2)
    constant = read_arrays(tmp_path / "train.safetensors")["numeric"][:, 1]
    assert (constant == 0).all()
