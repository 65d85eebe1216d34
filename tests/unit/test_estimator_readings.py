"""The same rows in other forms: files, arrays, wider types, and whatever torch is set to around."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from small_classifier import LEARNS
from small_classifier import learner as classifier

from iunet import IUNetClassifier
from iunet.errors import DataError
from iunet.estimator.command import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    """In a folder of its own, where the command's classifier is a small one."""
    monkeypatch.chdir(tmp_path)
    defaults = IUNetClassifier.__init__.__kwdefaults__
    monkeypatch.setattr(IUNetClassifier.__init__, "__kwdefaults__", defaults | LEARNS)
    return tmp_path


def flags(n: int = 160) -> tuple[pd.DataFrame, np.ndarray]:
    """A boolean that decides, and a number that does not."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"flag": rng.random(n) < 0.5, "noise": rng.normal(size=n)})
    return frame, np.where(frame["flag"], "yes", "no")


@pytest.fixture(scope="module")
def fitted() -> IUNetClassifier:
    return classifier().fit(*flags())


def test_a_file_of_one_row_is_read_as_the_file_that_was_fitted(here, capsys):
    """Of `true` alone pandas makes a boolean, of `01` alone a number."""
    rng = np.random.default_rng(0)
    code = rng.choice(["01", "A2"], 200)
    frame = pd.DataFrame({"flag": rng.choice(["true", "false", "unknown"], 200), "code": code})
    frame["label"] = np.where((frame["flag"] == "true") | (code == "01"), "yes", "no")
    frame.to_csv("data.csv", index=False)
    assert main(["fit", "data.csv", "--target", "label", "--out", "model"]) == 0
    model = IUNetClassifier.load("model")
    for flag, code in (("true", "A2"), ("false", "01")):
        (here / "one.csv").write_text(f"flag,code\n{flag},{code}\n")
        capsys.readouterr()
        assert main(["predict", "model", "one.csv", "--probabilities"]) == 0
        told = pd.read_csv(io.StringIO(capsys.readouterr().out))
        wanted = model.predict_proba(pd.DataFrame({"flag": [flag], "code": [code]}))
        assert told["probability of yes"][0] == pytest.approx(wanted[0, 1], abs=1e-6)
        assert told["prediction"][0] == "yes"


def test_levels_that_a_reader_made_are_found_again_from_text(here):
    """Fitted on booleans and on numbers that are categories, asked with their text."""
    X, y = flags()
    X["zip"] = np.where(X["flag"], 8001, 3012)
    model = classifier(categorical_features=["zip"]).fit(X, y)
    for texts in (("true", "false"), ("TRUE", "FALSE"), ("True", "False")):
        as_text = X.assign(
            flag=np.where(X["flag"], *texts), zip=X["zip"].map({8001: "08001", 3012: "3012.0"})
        )
        np.testing.assert_array_equal(model.predict_proba(as_text), model.predict_proba(X))


def test_booleans_as_zeros_and_ones_in_any_container(fitted):
    X, y = flags()
    wanted = fitted.predict_proba(X)
    assert (fitted.predict(X) == y).mean() > 0.95
    numbers = X.astype({"flag": int})
    for same in (numbers, X.to_numpy(float), X.to_numpy().tolist(), X.astype({"flag": "Int64"})):
        np.testing.assert_array_equal(fitted.predict_proba(same), wanted)
    with_gap = X.assign(flag=[1.0, np.nan] + [0.0] * (len(X) - 2))
    assert fitted.predict_proba(with_gap).shape == wanted.shape


@pytest.mark.parametrize(
    ("no", "yes", "kind"),
    [
        (0, 1, object),
        (0, 1, "category"),
        (0, 1, "float32"),
        ("0", "1", str),
        ("0.0", "1.0", object),
        ("FALSE", "1", "category"),
    ],
)
def test_booleans_are_read_by_their_value_whatever_their_type(fitted, no, yes, kind):
    X, _ = flags()
    wanted = fitted.predict_proba(X)
    same = X.assign(flag=X["flag"].map({False: no, True: yes}).astype(kind))
    np.testing.assert_array_equal(fitted.predict_proba(same), wanted)
    np.testing.assert_allclose(fitted.fast().predict_proba(same), wanted, atol=1e-5)


@pytest.mark.parametrize("strange", ["2", "maybe", "", 0.5, 2], ids=repr)
def test_what_is_no_boolean_is_refused_by_row(fitted, strange):
    X, _ = flags()
    column = pd.Series(["1", "true", None, strange] + ["0"] * (len(X) - 4), dtype=object)
    with pytest.raises(ValueError, match=f"held booleans in fit, but row 4 holds '{strange}' now"):
        fitted.predict(X.assign(flag=column))


def test_codes_that_python_reads_as_numbers_are_other_codes():
    X, y = flags()
    X["code"] = np.where(X["flag"], 1000, 10)
    model = classifier(categorical_features=["code"]).fit(X.drop(columns="flag"), y)
    new = X.head(6).drop(columns="flag")
    unseen = model.predict_proba(new.assign(code="unseen"))
    for code in ("1e3", "1_0", " 10", "1E1", "inf", "nan "):
        np.testing.assert_array_equal(model.predict_proba(new.assign(code=code)), unseen)
    wanted = model.predict_proba(new.assign(code=10))
    assert not np.array_equal(wanted, unseen)
    for code in ("10.00", "010", "+10"):
        np.testing.assert_array_equal(model.predict_proba(new.assign(code=code)), wanted)


def test_large_codes_stay_apart():
    """As floats, 2⁵³ + 1 would be 2⁵³."""
    X, y = flags()
    X["code"] = np.where(X["flag"], 2**53, 2**53 + 2)
    model = classifier(categorical_features=["code"]).fit(X, y)
    unseen = model.predict_proba(X.assign(code="unseen"))
    np.testing.assert_array_equal(model.predict_proba(X.assign(code=str(2**53 + 1))), unseen)


def test_numbers_for_text_and_text_for_numbers_are_warned_of_once():
    X, y = flags()
    X["code"] = np.where(X["flag"], "01234", "A5")
    model = classifier().fit(X, y)
    for change, warned in (
        (
            {"code": [1234, 5678]},
            ["Column 'code' held text in fit, such as '01234', and holds num"],
        ),
        (
            {"noise": ["0.5", "1"]},
            ["Column 'noise' held numbers in fit, and holds text now, which"],
        ),
        ({"noise": [0.5, None], "code": [np.nan, np.nan]}, []),
    ):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model.predict(X.head(2).assign(**change))
        assert [str(w.message)[: len(t)] for w, t in zip(heard, warned, strict=True)] == warned
    numbers = classifier(categorical_features=["code"]).fit(X.assign(code=X["flag"] + 1), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an unseen number among numbers is a level not seen
        numbers.predict(X.head(2).assign(code=[1, 7]))


def test_the_fast_form_takes_what_the_classifier_takes():
    X, y = flags()
    array = X.to_numpy(float)
    unnamed = classifier().fit(array, y)
    fast = unnamed.fast()
    wanted = unnamed.predict_proba(array)
    for same in (array, pd.DataFrame(array), X.astype(float), array.tolist()):
        np.testing.assert_allclose(fast.predict_proba(same), wanted, atol=1e-5)
    with pytest.raises(DataError, match="X has 3 columns, but the model was fitted on 2"):
        fast.predict(np.ones((2, 3)))
    named = classifier().fit(X, y)
    fast = named.fast()
    for same in (X, X[["noise", "flag"]], pa.Table.from_pandas(X), array):
        np.testing.assert_allclose(fast.predict_proba(same), named.predict_proba(X), atol=1e-5)
    with pytest.raises(DataError, match="two columns named 'flag'"):
        fast.predict(X.set_axis(["flag", "flag"], axis="columns"))


@pytest.mark.parametrize("kind", ["Int64", "boolean", "int64[pyarrow]"])
def test_nullable_labels_keep_their_kind(kind):
    X, y = flags()
    labels = pd.Series(y == "yes").astype(int if kind != "boolean" else bool).astype(kind)
    model = classifier().fit(X, labels)
    assert model.classes_.dtype.kind == ("b" if kind == "boolean" else "i")
    with pytest.raises(ValueError, match="missing labels"):
        classifier().fit(X, labels.mask([True] + [False] * (len(X) - 1)))


def test_large_nullable_labels_stay_apart():
    X, y = flags()
    labels = pd.Series(np.where(y == "yes", 2**60, 2**60 + 1)).astype("Int64")
    assert classifier().fit(X, labels).classes_.tolist() == [2**60, 2**60 + 1]


def test_missing_values_beside_numbers_in_objects_and_wide_floats():
    X, y = flags()
    X["mixed"] = pd.Series([1, pd.NA] * (len(X) // 2), dtype=object)
    X["wide"] = np.linspace(0, 1, len(X)).astype(np.longdouble)
    model = classifier().fit(X, y)
    plain = X.assign(mixed=[1.0, np.nan] * (len(X) // 2), wide=X["wide"].astype(float))
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(plain))


def test_what_torch_is_set_to_around_a_fit_does_not_matter():
    X, y = flags()
    wanted = classifier().fit(X, y).predict_proba(X)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        np.testing.assert_array_equal(classifier().fit(X, y).predict_proba(X), wanted)
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(before)
    for around in (torch.no_grad(), torch.inference_mode(), torch.autocast("cpu", torch.bfloat16)):
        with around:
            np.testing.assert_array_equal(classifier().fit(X, y).predict_proba(X), wanted)


def test_a_fit_on_a_cpu_does_not_seed_the_gpus(monkeypatch):
    seeded = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeded.append)
    X, y = flags()
    classifier(device="cpu").fit(X, y)
    assert seeded == []


# ---- files of models


def test_all_forms_of_categorical_features_are_saved(tmp_path):
    X, y = flags()
    X["zip"] = np.where(X["flag"], 8001, 3012)
    for chosen in (pd.Index(["zip"]), pd.Series(["zip"]), {"zip"}, range(2, 3)):
        classifier(categorical_features=chosen, supernet_epochs=1).fit(X, y).save(tmp_path / "m")
        assert IUNetClassifier.load(tmp_path / "m").categorical_features == list(chosen)


def test_a_link_to_a_model_stays_a_link(fitted, tmp_path):
    X, y = flags()
    fitted.save(tmp_path / "first")
    (tmp_path / "link").symlink_to(tmp_path / "first")
    classifier(random_state=1).fit(X, y).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "link"]
    assert IUNetClassifier.load(tmp_path / "first").random_state == 1
