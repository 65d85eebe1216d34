"""ONNX from raw columns predicts what the network does, with missing and unseen values too."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
import torch
from deployed import (
    CLASSES,
    VISION,
    awkward_table,
    fitted_on,
    model_for,
    network_inputs,
    onnx_inputs,
    random_model,
)

from iunet.data.load import make_inputs
from iunet.data.table import RawTable, clean_table
from iunet.deploy.model import PrunedModel, fold
from iunet.deploy.onnx import build_onnx, class_array, missing_text

onnxruntime = pytest.importorskip("onnxruntime")


def run(model: PrunedModel, feed: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities as onnxruntime computes them."""
    built = build_onnx(model, fold(model)).SerializeToString()
    session = onnxruntime.InferenceSession(built, providers=["CPUExecutionProvider"])
    return session.run(None, feed)


def same(model: PrunedModel, table: pa.Table) -> None:
    expected = model.probabilities(network_inputs(model.preprocessing, table))
    labels, probabilities = run(model, onnx_inputs(model.preprocessing, table))
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)
    np.testing.assert_array_equal(labels, class_array(model.classes)[expected.argmax(axis=1)])


def test_missing_unseen_and_infrequent_values():
    table = awkward_table()
    preprocessing = fitted_on(table, 30)
    columns = {column["name"]: column for column in preprocessing["categorical"]}
    assert preprocessing["dropped"] == ["nothing"]
    assert columns["numbers0"]["infrequent"] and columns["often missing"]["missing_level"]
    assert missing_text(preprocessing) == "(missing)"  # since the empty text is a level here
    codes = network_inputs(preprocessing, table)
    unseen = np.array([value.as_py() == "never in train" for value in table.column("label")])
    group = next(g for g in preprocessing["groups"] if g["column"] == "label")
    assert unseen.any() and not codes[unseen, group["start"] : group["stop"]].any()
    same(model_for(preprocessing), table)


def test_missing_values_that_train_did_not_have():
    table = pa.table({"a": pa.array([1.0, 2.0, None, 4.0]), "b": pa.array(["x", "y", "x", None])})
    table = table.set_column(1, "b", table.column("b").dictionary_encode())
    preprocessing = fitted_on(table, 2)
    assert missing_text(preprocessing) == ""
    same(model_for(preprocessing), table)


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_tables_of_one_kind(kind):
    columns = {"numbers": [0, 1, 2], "categories": [4, 5, 6]}[kind]
    table = awkward_table().select(columns)
    same(model_for(fitted_on(table, 40)), table)


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        (["a", "b", "ü"], "O"),
        ([10, 2, -1], "i"),
        ([True, False, True], "b"),
        ([0.0, 1.0, 2.0], "f"),
        (["a", 1, 2.5], "O"),
    ],
    ids=str,
)
def test_labels_keep_their_type(classes, kind):
    table = awkward_table().select([0, 1])
    model = model_for(fitted_on(table, 40), classes=classes, density=0.9)
    labels, _ = run(model, onnx_inputs(model.preprocessing, table))
    assert set(labels) <= set(class_array(classes)) and len(set(labels)) > 1
    assert labels.dtype.kind == kind
    same(model, table)


def test_images():
    preprocessing = {"kind": "vision", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.25, 0.3]}
    model = random_model(VISION, preprocessing)
    images = np.random.default_rng(0).integers(0, 256, (9, 3, 8, 8), dtype=np.uint8)
    inputs = make_inputs(preprocessing, torch.device("cpu")).prepare(torch.from_numpy(images))
    expected = model.probabilities(inputs.reshape(9, -1).numpy())
    labels, probabilities = run(model, {"images": images})
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)
    np.testing.assert_array_equal(labels, np.array(CLASSES)[expected.argmax(axis=1)])


def test_names():
    """Columns may be called as we call our outputs and nodes; the file says how to use it."""
    table = awkward_table()
    model = model_for(fitted_on(table, 30))
    built = build_onnx(model, fold(model))
    assert [output.name for output in built.graph.output] == ["label_", "probabilities"]
    said = {entry.key: json.loads(entry.value) for entry in built.metadata_props}
    assert said["missing_text"] == "(missing)" and said["classes"] == CLASSES


def test_real_tables(mirror):
    """anneal: 22,175 missing cells; credit-g: many categories."""
    import pandas as pd

    for name in ("anneal", "credit-g"):
        frame = pd.read_parquet(mirror / f"tabular/{name}.parquet")
        table = clean_table(RawTable(frame, "target")).table.drop_columns("target")
        same(model_for(fitted_on(table, 100, max_categories=4)), table)
