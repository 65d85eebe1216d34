"""Which columns a fit takes as categories, what it refuses, and what it warns of."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from small_classifier import classifier

from iunet import IUNetClassifier


def table(n: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=n), "colour": rng.choice(["red", "blue"], n)})
    return frame, np.where(frame["size"] > 0, "large", "small")


def fit_and_listen(X, y, **parameters) -> tuple[IUNetClassifier, list[str]]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = classifier(**parameters).fit(X, y)
    assert all(warning.filename == __file__ for warning in heard)  # the line that called fit
    return model, [str(warning.message) for warning in heard]


def categories(model: IUNetClassifier) -> list[str]:
    return [column["name"] for column in model._model.preprocessing["categorical"]]


# ---- warnings


@pytest.mark.parametrize("n", [30, 60])
def test_few_names_are_an_identifier_too(n):
    """All have a level of their own, so none is infrequent."""
    X, y = table(n)
    model, heard = fit_and_listen(X.assign(name=[f"person {i}" for i in range(n)]), y)
    assert len(heard) == 1
    assert f"Column 'name' looks like an identifier: it has {n} levels in {n} rows" in heard[0]
    assert "person 7" in json.dumps(model._model.preprocessing)  # what is warned of


def test_a_small_table_with_a_level_per_row_is_no_reason_to_warn():
    X, y = table(20)
    assert fit_and_listen(X.assign(name=[f"person {i}" for i in range(20)]), y)[1] == []
    X, y = table(200)
    assert fit_and_listen(X.assign(town=[f"town {i % 40}" for i in range(200)]), y)[1] == []


def test_numbers_as_text_are_warned_of():
    X, y = table()
    text = X["size"].round(2).astype(str)
    model, heard = fit_and_listen(X.assign(size=text), y)
    assert categories(model) == ["size", "colour"]
    assert "Treating 1 column(s) as categorical because their numbers are text: 'size'." in heard[0]
    assert "Convert them with pd.to_numeric" in heard[0]
    with_gaps = text.astype(object).where(X["size"] > -1, None)
    assert "'size'" in fit_and_listen(X.assign(size=with_gaps), y)[1][0]
    years = [str(1900 + i % 25) for i in range(60)]
    assert "'year'" in fit_and_listen(X.assign(year=years), y)[1][0]
    whole = X.assign(grade=[str(i % 6) for i in range(60)])
    assert fit_and_listen(whole, y)[1] == []  # a few whole numbers may well be categories
    for exempt in (X.assign(size=text.astype("category")), X):
        assert not any("pd.to_numeric" in text for text in fit_and_listen(exempt, y)[1])
    chosen = fit_and_listen(X.assign(size=text), y, categorical_features=["size"])[1]
    assert not any("pd.to_numeric" in text for text in chosen)


def test_an_array_that_became_text_is_warned_of_once():
    X, y = table()
    array = np.column_stack([X["size"].round(2), X["size"].round(1), X["colour"]]).astype("U8")
    heard = fit_and_listen(array, y)[1]
    numbers = [text for text in heard if "pd.to_numeric" in text]
    assert len(numbers) == 1 and "Treating 2 column(s)" in numbers[0]
    assert "'x0', 'x1'" in numbers[0]


@pytest.mark.parametrize("strange", ["?", "nan"])
def test_mostly_numbers_are_warned_of_and_not_logged(caplog, strange):
    X, y = table()
    ages = pd.Series([str(i % 9) for i in range(59)] + [strange])
    heard = fit_and_listen(X.assign(age=ages), y)[1]
    assert heard == [
        "Treating column 'age' as categorical: most values are numbers, but some (such as "
        f"'{strange}') are not."
    ]
    assert caplog.text == ""


# ---- what is a category


@pytest.mark.parametrize("values", [[1.5, "a"], [1, "a", 2.5], [True, "a", 2]], ids=str)
def test_numbers_beside_text_are_categories(values):
    X, y = table()
    mixed = pd.Series([values[i % len(values)] for i in range(60)], dtype=object)
    model, _ = fit_and_listen(X.assign(mixed=mixed), y)
    assert categories(model) == ["colour", "mixed"]
    column = model._model.preprocessing["categorical"][1]
    assert sorted(column["levels"]) == sorted(map(str, values))


def test_columns_of_arrow():
    X, y = table()
    words = X["colour"].where(X.index % 7 > 0, None)
    dictionary = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    arrow = X.convert_dtypes(dtype_backend="pyarrow").assign(
        colour=pd.array(words.astype(object).where(words.notna(), None), dtype=dictionary),
        nothing=pd.array([None] * 60, dtype=pd.ArrowDtype(pa.null())),
    )
    plain = X.assign(colour=words, nothing=None)
    model, other = classifier().fit(arrow, y), classifier().fit(plain, y)
    assert categories(model) == ["colour"] and model._model.preprocessing["dropped"] == ["nothing"]
    wanted = other.predict_proba(plain)
    for fitted in (model, other):
        np.testing.assert_array_equal(fitted.predict_proba(arrow), wanted)
        np.testing.assert_allclose(fitted.fast().predict_proba(arrow), wanted, atol=1e-5)


def test_halves_can_be_categories():
    """pandas has no index of them."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 2)), np.arange(60) % 2
    model = classifier(categorical_features=[1]).fit(X.astype(np.float16), y)
    other = classifier(categorical_features=[1]).fit(X, y)
    assert categories(model) == ["x1"]
    for fitted in (model, other):
        np.testing.assert_array_equal(
            fitted.predict_proba(X.astype(np.float16)), other.predict_proba(X)
        )


@pytest.mark.parametrize(
    ("chosen", "fragment"),
    [
        ("from_dtype", "is 'from_dtype', but must be a list of names or positions, or a mask"),
        (1, "is 1, but must be a list of names or positions"),
        ([7], "names the column 7, which X does not have. Whole numbers are positions, from 0."),
        (["color"], "Did you mean 'colour'?"),
    ],
    ids=str,
)
def test_categorical_features_that_name_no_column(chosen, fragment):
    with pytest.raises(ValueError, match=fragment.replace("?", r"\?")):
        classifier(categorical_features=chosen).fit(*table())


LISTS = {
    "lists": pd.Series([[1], [2]] * 30),
    "beside numbers": pd.Series([[1], 2] * 30, dtype=object),
    "arrow": pd.Series(pd.array([[1], [2]] * 30, dtype=pd.ArrowDtype(pa.list_(pa.int64())))),
}


@pytest.mark.parametrize("case", LISTS)
def test_lists_are_no_categories(case):
    X, y = table()
    with pytest.raises(ValueError, match="'colour' holds values of type"):
        classifier(categorical_features=["colour"]).fit(X.assign(colour=LISTS[case]), y)
    with pytest.raises(ValueError, match="'colour' holds values of type"):
        classifier().fit(X.assign(colour=LISTS[case]), y)
    model = classifier().fit(X, y)
    with pytest.raises(ValueError, match="'colour' holds values of type"):
        model.predict(X.assign(colour=LISTS[case]))
    with pytest.raises(ValueError, match="'size' held numbers in fit, "):
        model.predict(X.assign(size=LISTS[case]))


def test_complex_numbers_are_no_numbers():
    X, y = table()
    model = classifier().fit(X, y)
    for forms in (X["size"] + 1j, (X["size"] + 1j).astype(object)):
        with pytest.raises(ValueError, match="'size' held numbers in fit, "):
            model.predict(X.assign(size=forms))
