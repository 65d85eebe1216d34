"""Labels, weights and parameters at the limits, and what a refused fit leaves behind."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from small_classifier import classifier

from iunet import IUNetClassifier


def table(n: int = 40) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"]), np.arange(n) % 2


# ---- labels


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array([True, False], dtype=object), "b"),
        (np.array([1, 2], dtype=object), "i"),
        (np.array([0, 1], dtype=np.float16), "f"),
        (np.array([0, 1], dtype=np.longdouble), "f"),
        (np.array(["a", "ü"], dtype=object), "O"),
        (pd.Series([1, None, 2], dtype=object).dropna(), "i"),
    ],
    ids=["bools", "ints", "float16", "longdouble", "text", "dropna"],
)
def test_labels_of_odd_types_are_the_plain_ones(tmp_path, labels, kind):
    X, codes = table()
    model = classifier().fit(X, np.asarray(labels)[codes])
    assert model.classes_.dtype.kind == kind and list(model.classes_) == sorted(labels)
    model.save(tmp_path / "model")
    again = IUNetClassifier.load(tmp_path / "model")
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("labels", "fragment"),
    [
        (np.array(["2020-01-01", "2021-01-01"], dtype="M8[s]"), "of type datetime64, which"),
        (pd.to_datetime(["2020", "2021"]).tz_localize("UTC").to_numpy(object), "type Timestamp"),
        (np.array([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)]), "of type date, which"),
        (np.array([1, "a"], dtype=object), "of type int and str, which cannot be saved"),
        (np.array([True, 3], dtype=object), "of type bool and int"),
        (np.array([b"a", b"b"]), "of type bytes_"),
    ],
    ids=["datetimes", "timestamps", "dates", "mixed", "bools", "bytes"],
)
def test_labels_that_could_not_be_saved_are_refused_before_training(monkeypatch, labels, fragment):
    monkeypatch.setattr("iunet.estimator.classifier.fit_rows", lambda *_: pytest.fail("trained"))
    X, codes = table()
    with pytest.raises(ValueError, match=fragment):
        classifier().fit(X, labels[codes])


# ---- weights and parameters


def test_weights_that_float32_cannot_hold_are_scaled():
    X, y = table()
    weights = np.random.default_rng(1).random(40) + 0.5
    wanted = classifier().fit(X, y, sample_weight=weights).predict_proba(X)
    by_class = classifier(class_weight={0: 2, 1: 1}).fit(X, y).predict_proba(X)
    for factor in (2.0**-160, 2.0**-140, 2.0**130, 2.0**900):
        scaled = classifier().fit(X, y, sample_weight=weights * factor)
        np.testing.assert_array_equal(scaled.predict_proba(X), wanted)
        scaled = classifier(class_weight={0: 2 * factor, 1: factor}).fit(X, y)
        np.testing.assert_array_equal(scaled.predict_proba(X), by_class)


def test_weights_of_any_range_can_be_trained_with():
    X, y = table()
    weights = np.where(np.arange(40) < 20, 1e-300, 1e300)
    model = classifier(batch_size=4).fit(X, y, sample_weight=weights)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    ("parameters", "fragment"),
    [
        ({"kappa": np.inf}, "'kappa' is inf, but must be finite"),
        ({"ratio": 0.5}, "'ratio' is 0.5, but must be a number of at least 1"),
        ({"ratio": 1e9}, "leaves no weight"),
        ({"width": 1.5}, "'width' is 1.5, but must be a whole number of at least 1"),
        ({"class_weight": np.array([1, 2])}, "'class_weight' is"),
        ({"random_state": 2**64}, r"'random_state' is 18446744073709551616, but .* below 2\*\*64"),
        ({"random_state": -1}, "'random_state' is -1, but must be at least 0"),
        ({"device": "cud"}, r"one of auto, cpu, cuda\. Did you mean 'cuda'\?$"),
        ({"structure": "none"}, "one of weight, unit.$"),
        (
            {"supernet_lr": 1e30},
            r"The first training diverged: .* 'supernet_lr', which is 1e\+30\.",
        ),
        ({"finetune_lr": 1e30}, r"The second training diverged: .* 'finetune_lr', which is 1e\+30"),
        ({"kappa": 1e30}, "A large 'kappa' or 'nce_weight' may also be the cause"),
    ],
    ids=str,
)
def test_parameters_are_refused_by_their_names(parameters, fragment):
    with pytest.raises(ValueError, match=fragment) as caught:
        classifier(**parameters).fit(*table())
    assert "Run " not in str(caught.value)


def test_the_largest_seed():
    assert classifier(random_state=2**64 - 1).fit(*table()).seed_ == 2**64 - 1


def test_no_message_speaks_of_the_workflow():
    X, y = table()
    refused = [
        (X.assign(a=pd.Timestamp("2020-01-01")), "^Column 'a' holds values of type datetime64"),
        (X.assign(a=np.inf), "^Column 'a' holds an infinite value in row 1"),
        (X.assign(a=np.where(y, 1e308, -1e308)), "^The values of column 'a' are too large"),
        (X.assign(a=None, b=None, c=None), "^No column has a value in the fit"),
    ]
    for frame, fragment in refused:
        with pytest.raises(ValueError, match=fragment):
            classifier().fit(frame, y)
    model = classifier().fit(X, y)
    for predict in (model.predict, model.fast().predict):
        with pytest.raises(ValueError, match="so far from those of the fit"):
            predict(X.assign(a=1e300))


HALF = "a\ud800"  # of a pair


@pytest.mark.parametrize(
    ("part", "value", "fragment"),
    [
        ("level", pd.Series(["x", HALF] * 20, dtype=object), r"The value 'a\\ud800' is no Unicode"),
        ("name", pd.Index(["a", "b", HALF], dtype=object), r"The column name 'a\\ud800' is no"),
        ("labels", ["x", HALF] * 20, r"The label 'a\\ud800' is no Unicode text"),
        ("labels", np.array([2**63, 1] * 20, np.uint64), "the label 9223372036854775808, but num"),
    ],
)
def test_what_no_file_can_hold_is_refused_before_the_training(part, value, fragment):
    X, y = table()
    if part == "level":
        X["c"] = value
    if part == "name":
        X.columns = value
    with pytest.raises(ValueError, match=fragment):
        classifier().fit(X, value if part == "labels" else y)


# ---- refits


def failing_fits():
    X, y = table()
    other = X.rename(columns={"c": "d"}).assign(e=1.0)
    return {
        "labels": (other, ["one"] * 40, {}),
        "rows": (other, y[:-1], {}),
        "column": (other.assign(a=pd.Timestamp("2020-01-01")), y, {}),
        "array": (other.to_numpy(), ["one"] * 40, {}),
        "training": (other, y, {"finetune_lr": 1e30}),
        "weights": (other, y, {"ratio": 1e9}),
    }


@pytest.mark.parametrize("case", failing_fits())
def test_a_refused_fit_leaves_the_model_as_it_was(case):
    X, y = table()
    frame, labels, parameters = failing_fits()[case]
    model = classifier().fit(X, y)
    wanted = model.predict_proba(X)
    with pytest.raises(ValueError):
        model.set_params(**parameters).fit(frame, labels)
    assert model.n_features_in_ == 3 and list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict_proba(X), wanted)
    new = classifier(**parameters)
    with pytest.raises(ValueError):
        new.fit(frame, labels)
    assert not hasattr(new, "n_features_in_") and not hasattr(new, "feature_names_in_")
    with pytest.raises(NotFittedError):
        new.predict(X)
