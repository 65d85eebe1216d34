"""A fitted classifier, its fast form and its exported files predict the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from iunet import IUNetClassifier
from iunet.errors import DataError, UserError
from iunet.estimator.fast import FastClassifier

SMALL = {"width": 32, "depth": 3, "ratio": 4, "supernet_epochs": 3, "first_cycle_epochs": 2}
LABELS = np.array(["2", "10", "1"])  # their text order is not their natural order


def table(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "size": code + rng.normal(size=n),
            "colour": np.array(["red", "blue", "green"])[(code + (rng.random(n) < 0.2)) % 3],
            "count": rng.integers(0, 9, n),
        }
    )
    frame.loc[::7, "size"] = np.nan
    frame.loc[::5, "colour"] = None
    return frame, LABELS[code]


@pytest.fixture(scope="module")
def fitted() -> IUNetClassifier:
    return IUNetClassifier(**SMALL, random_state=0).fit(*table(200))


@pytest.fixture(scope="module")
def new_rows() -> pd.DataFrame:
    frame, _ = table(300, seed=1)
    frame.loc[::11, "colour"] = "never seen"
    return frame


def test_the_fast_form_agrees(fitted, new_rows):
    expected = fitted.predict_proba(new_rows)
    assert len(set(fitted.predict(new_rows))) > 1
    fast = fitted.fast()
    assert list(fast.classes_) == list(fitted.classes_) == ["1", "10", "2"]
    np.testing.assert_allclose(fast.predict_proba(new_rows), expected, atol=1e-5)
    for i in range(5):
        one = new_rows.iloc[[i]][["count", "colour", "size"]].assign(more=1)
        np.testing.assert_allclose(fast.predict_proba(one), expected[[i]], atol=1e-5)
    same_labels(fast.predict(new_rows), fitted.predict(new_rows), expected)


def same_labels(labels: np.ndarray, wanted: np.ndarray, probabilities: np.ndarray) -> None:
    """Where the best class is not a matter of rounding."""
    second, first = np.sort(probabilities, axis=1)[:, -2:].T
    clear = first - second > 1e-4
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(labels[clear], wanted[clear])


def test_exported_files_agree(fitted, new_rows, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    expected = fitted.predict_proba(new_rows)
    report = fitted.export(tmp_path / "exported")
    assert report["classes"] == ["1", "10", "2"]
    compact = FastClassifier.load(tmp_path / "exported/model.safetensors")
    np.testing.assert_allclose(compact.predict_proba(new_rows), expected, atol=1e-5)
    session = onnxruntime.InferenceSession(tmp_path / "exported/model.onnx")
    numbers = {name: new_rows[[name]].to_numpy(np.float64) for name in ("size", "count")}
    text = new_rows[["colour"]].astype(object).where(new_rows[["colour"]].notna(), "")
    labels, probabilities = session.run(None, {**numbers, "colour": text.to_numpy(object)})
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)
    same_labels(labels, fitted.predict(new_rows), expected)


def test_rows_that_do_not_fit(fitted, new_rows):
    fast = fitted.fast()
    with pytest.raises(DataError, match="lacks 1 of the 3 columns that the model needs: size"):
        fast.predict(new_rows.drop(columns="size"))
    with pytest.raises(DataError, match="held numbers in fit, but row 1"):
        fast.predict(new_rows.assign(size="large"))
    with pytest.raises(DataError, match="Expected 2D array"):
        fast.predict(np.zeros(3))
    with pytest.raises(DataError, match=r"dense data is required\. Use '\.toarray\(\)'"):
        fast.predict(scipy.sparse.csr_matrix(np.ones((2, 3))))
    for none in (new_rows.iloc[:0], np.zeros((0, 3))):
        with pytest.raises(DataError, match=r"0 sample\(s\) .* required by FastClassifier"):
            fast.predict(none)


def test_image_networks_are_not_for_tables():
    from deployed import VISION, random_model

    with pytest.raises(UserError, match="mlp_vis takes images"):
        FastClassifier(random_model(VISION, {"kind": "vision"}))
