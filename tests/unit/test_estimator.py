"""IUNetClassifier: what it accepts, what it predicts, and what it says of itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from sklearn.datasets import load_wine
from small_classifier import learner as classifier

from iunet import IUNetClassifier
from iunet.estimator.classifier import DisconnectedWarning
from iunet.method.masks import cut_off_at, used_inputs


def table(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Numbers, text, categories, booleans, missing values; the label follows from two of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n),
            "rooms": rng.integers(1, 6, n),
            "city": rng.choice(["Bern", "Genf", "Basel"], n),
            "grade": pd.Categorical(rng.choice(["a", "b"], n)),
            "paid": rng.random(n) < 0.5,
        }
    )
    label = np.where((frame["age"] > 50) | (frame["city"] == "Bern"), "stays", "leaves")
    frame.loc[::9, "age"] = np.nan
    frame.loc[::8, "city"] = None
    return frame, pd.Series(label, name="label")


@pytest.fixture(scope="module")
def fitted() -> IUNetClassifier:
    return classifier(first_cycle_epochs=10).fit(*table())


# ---- what it learns from, and predicts


def test_it_learns_a_table_of_mixed_kinds(fitted):
    X, y = table(400, seed=1)
    assert fitted.score(X, y) > 0.8
    probabilities = fitted.predict_proba(X)
    assert probabilities.shape == (400, 2) and probabilities.dtype == np.float32
    assert np.allclose(probabilities.sum(axis=1), 1)
    kinds = {c["name"] for c in fitted._model.preprocessing["categorical"]}
    assert kinds == {"city", "grade", "paid"}


def test_one_row_is_predicted_as_in_a_batch(fitted):
    X, _ = table(50, seed=2)
    whole = fitted.predict_proba(X)
    alone = np.concatenate([fitted.predict_proba(X.iloc[[i]]) for i in range(50)])
    assert np.allclose(alone, whole, atol=1e-6)


def test_unseen_levels_and_missing_values(fitted):
    X, _ = table(20, seed=3)
    unseen = X.assign(city="Paris", grade="z", age=None, rooms=np.nan)
    assert np.isfinite(fitted.predict_proba(unseen)).all()
    other = fitted.predict_proba(X.assign(city="Rome", grade="y", age=None, rooms=np.nan))
    assert np.array_equal(fitted.predict_proba(unseen), other)  # both are no level


@pytest.mark.parametrize("empty", [None, np.nan, pd.NA])
@pytest.mark.parametrize("column", ["age", "city", "paid"])
def test_a_column_may_be_all_missing_in_new_rows(fitted, column, empty):
    """Alone it looks like another kind; it is read as what it was in fit."""
    X, _ = table(30, seed=4)
    gaps = X.astype({column: object})
    gaps[column] = empty
    few = pd.concat([X.iloc[:5], gaps]).iloc[5:]  # the same rows, beside others
    assert np.array_equal(fitted.predict_proba(gaps), fitted.predict_proba(few))


def test_new_values_are_read_as_the_fitted_kinds(fitted):
    X, _ = table(30, seed=5)
    expected = fitted.predict_proba(X)
    as_text = X.assign(rooms=X["rooms"].astype(str), age=X["age"].map(repr, na_action="ignore"))
    nullable = X.convert_dtypes()
    for same in (as_text, nullable, X.astype(object), pa.Table.from_pandas(X)):
        assert np.array_equal(fitted.predict_proba(same), expected)


@pytest.mark.parametrize(
    ("change", "fragment"),
    [
        (lambda X: X[X.columns[::-1]], "must be in the same order"),
        (lambda X: X.drop(columns="age"), "seen at fit time, yet now missing:\n- age"),
        (lambda X: X.assign(extra=1), "unseen at fit time:\n- extra"),
        (lambda X: X.assign(age="old"), "Column 'age' held numbers in fit, but row 1 holds 'old'"),
        (lambda X: X.assign(age=np.inf), "Column 'age' holds an infinite value in row 1"),
        (lambda X: X.assign(age=1e300), "Column 'age' has values so far from"),
        (lambda X: X.assign(age=pd.Timestamp("2020-01-01")), "'age' held numbers in fit, and"),
        (lambda X: X.iloc[:0], "0 sample"),
        (lambda X: X.to_numpy()[:, :2], "2 features, but IUNetClassifier is expecting 5"),
    ],
    ids=["order", "missing", "extra", "text", "infinite", "far", "dates", "empty", "narrow"],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rows_that_do_not_fit_are_refused(fitted, change, fragment):
    with pytest.raises(ValueError, match=fragment):
        fitted.predict(change(table(5)[0]))


def test_arrays_and_lists():
    X, y = load_wine(return_X_y=True)
    model = classifier(first_cycle_epochs=6).fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.array_equal(model.predict_proba(X.tolist()), model.predict_proba(X))
    mixed = [[1.5, "red"], [2.5, "blue"], [None, "red"], [0.5, None]] * 5
    labels = [0, 1, 0, 1] * 5
    model = classifier().fit(mixed, labels)
    assert [c["name"] for c in model._model.preprocessing["numeric"]] == ["x0"]
    assert [c["name"] for c in model._model.preprocessing["categorical"]] == ["x1"]
    assert model.predict(mixed[:2]).shape == (2,)


@pytest.mark.filterwarnings("ignore:X (has|does not have) .* feature names")
def test_a_frame_after_an_array_and_an_array_after_a_frame_go_by_place():
    X, y = load_wine(return_X_y=True, as_frame=True)
    of_frame, of_array = classifier().fit(X, y), classifier().fit(X.to_numpy(), y)
    wanted = of_frame.predict_proba(X)
    assert np.array_equal(of_frame.predict_proba(X.to_numpy()), wanted)
    assert np.array_equal(of_array.predict_proba(X), wanted)


@pytest.mark.parametrize("chosen", [["rooms"], [1], [False, True, False, False, False]], ids=str)
def test_a_column_of_numbers_can_be_categories(chosen):
    X, y = table()
    model = classifier(categorical_features=chosen).fit(X, y)
    names = [c["name"] for c in model._model.preprocessing["categorical"]]
    assert names == ["rooms", "city", "grade", "paid"]
    assert np.array_equal(
        model.predict(X.assign(rooms=X["rooms"].astype(float))), model.predict(X)
    )  # 3.0 is level 3


@pytest.mark.parametrize(
    ("y", "fragment"),
    [
        (["a"] * 40, "only one class"),
        ([None, "a"] * 20, "missing labels"),
        (np.linspace(0, 1, 40), "Unknown label type"),
        (["a", "b"] * 10, "inconsistent numbers of samples"),
    ],
    ids=["one", "missing", "continuous", "short"],
)
def test_labels_that_cannot_be_classes_are_refused(y, fragment):
    with pytest.raises(ValueError, match=fragment):
        classifier().fit(table(40)[0], y)


def test_a_column_without_a_value_is_dropped_and_unused():
    X, y = table()
    model = classifier().fit(X.assign(empty=np.nan), y)
    assert "empty" in model.unused_features_
    new = X.assign(empty="anything")
    assert np.array_equal(model.predict(new), model.predict(X.assign(empty=None)))


# ---- seeds


def test_the_seed_decides_whatever_other_code_draws():
    X, y = table(60)
    one = classifier(random_state=1).fit(X, y)
    torch.manual_seed(123)
    np.random.seed(5)
    same, other = (classifier(random_state=s).fit(X, y) for s in (1, 2))
    assert np.array_equal(one.predict_proba(X), same.predict_proba(X))
    assert not np.array_equal(one.predict_proba(X), other.predict_proba(X))
    drawn = classifier(random_state=np.random.RandomState(0)).fit(X, y)
    again = classifier(random_state=drawn.seed_).fit(X, y)
    assert np.array_equal(drawn.predict_proba(X), again.predict_proba(X))
    assert classifier(random_state=None).fit(X, y).seed_ >= 0


# ---- weights


def test_a_row_of_weight_0_is_left_out():
    X, y = table(80)
    weights = np.ones(80)
    weights[::4] = 0
    weighted = classifier().fit(X, y, sample_weight=weights)
    left = weights > 0
    fewer = classifier().fit(X[left], y[left], sample_weight=weights[left])
    assert np.array_equal(weighted.predict_proba(X), fewer.predict_proba(X))


def test_heavy_rows_and_classes_are_predicted_more_often():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)  # nothing to learn
    by_class = classifier(class_weight={0: 1, 1: 20}).fit(X, y)
    by_row = classifier().fit(X, y, sample_weight=np.where(y == 1, 20.0, 1.0))
    plain = classifier().fit(X, y)
    for model in (by_class, by_row):
        assert model.predict(X).mean() > plain.predict(X).mean() + 0.2
    # Of L_sup they are the same weights; only those of rows count in L_nce, too.
    assert not np.array_equal(
        by_class.masks_["encoder.0.weight"], by_row.masks_["encoder.0.weight"]
    )


def test_class_weights_of_labels_whose_order_differs():
    """Sorted, "10" stands before "2"; as outputs it stands behind."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.choice(["10", "2"], 200)
    model = classifier(class_weight={"10": 20, "2": 1}).fit(X, y)
    assert (model.predict(X) == "10").mean() > 0.8


# ---- what it says of itself


def test_masks_sizes_and_history(fitted):
    kept = sum(int(mask.sum()) for mask in fitted.masks_.values())
    n = sum(mask.size for mask in fitted.masks_.values())
    assert kept == round(n / 2) == fitted.sizes_["kept_encoder_weights"]
    assert [len(fitted.history_[k]) for k in ("supernet", "finetune")] == [5, 30]
    assert {"epoch", "loss", "sup", "nce"} <= set(fitted.history_["supernet"][0])
    for member in fitted._model.states():
        for name, mask in fitted.masks_.items():
            assert not member[name][~mask].any()


def test_changing_unused_columns_changes_nothing():
    rng = np.random.default_rng(0)
    names = [f"c{i}" for i in range(40)]
    X = pd.DataFrame(rng.normal(size=(150, 40)), columns=names)
    X["level"] = rng.choice(["u", "v"], 150)
    y = (X["c0"] > 0).astype(int)
    model = classifier(ratio=30).fit(X, y)
    unused = set(model.unused_features_)
    assert 0 < len(unused) < 41 and "c0" not in unused
    before = model.predict_proba(X)
    changed = X.copy()
    for name in unused:
        changed[name] = "w" if name == "level" else rng.normal(size=150)
    assert np.array_equal(model.predict_proba(changed), before)
    for name in set(names) - unused:
        moved = X.assign(**{name: X[name] + 5})
        assert not np.array_equal(model.predict_proba(moved), before), name


def test_paths_through_a_small_mask():
    first = np.array([[1, 0, 1], [0, 0, 1]], dtype=bool)  # unit 0: inputs 0, 2; unit 1: input 2
    second = np.array([[0, 1]], dtype=bool)  # only unit 1 goes on
    masks = {"first": first, "second": second}
    assert used_inputs(masks).tolist() == [False, False, True]
    assert cut_off_at(masks) is None
    # Every layer keeps a weight, but none of them is on a path.
    masks["first"] = np.array([[1, 1, 1], [0, 0, 0]], dtype=bool)
    assert cut_off_at(masks) == "second"
    assert not used_inputs(masks).any()
    assert cut_off_at({"first": ~np.ones((2, 3), dtype=bool), "second": second}) == "first"


def test_two_thousand_inputs_train_and_what_is_cut_off_is_named():
    """Weights of a wide layer start small: at κ = 1 none of the first layer's stays."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2000)), np.arange(120) % 3
    wide = {"width": 256, "depth": 5, "ratio": 8, "kappa": 1.0, "supernet_epochs": 1}
    with pytest.warns(DisconnectedWarning, match=r"'encoder\.0\.weight' .*\(0 of 512000 weights"):
        model = classifier(**wide, supernet_lr=1e-4).fit(X, y)
    assert len(model.unused_features_) == 2000
    assert len(np.unique(model.predict_proba(X), axis=0)) == 1


def test_whole_units_are_pruned():
    X, y = table()
    model = classifier(structure="unit", width=32, depth=3).fit(X, y)
    before = None
    for mask in model.masks_.values():
        units = mask.any(axis=1)
        inputs = mask.any(axis=0)
        assert np.array_equal(mask, np.outer(units, inputs))
        if before is not None:
            assert np.array_equal(inputs, before)
        before = units
    assert model.sizes_["encoder_compression"] >= 2


def test_consistency_is_the_share_of_predictions_that_stay(fitted):
    X, y = table()
    model = classifier(corruption=0.0).fit(X, y)
    assert model.consistency(X)["same"] == 100.0
    found = [fitted.consistency(X, random_state=np.random.RandomState(s)) for s in (0, 0, 1, 2, 3)]
    assert 40 < found[0]["same"] < 100 and found[0]["distinct_labels"] == 2
    assert found[0] == found[1] and len({result["same"] for result in found}) > 1


def test_progress_is_shown_when_asked_for(capsys):
    X, y = table(40)
    classifier().fit(X, y)
    assert capsys.readouterr().err == ""
    classifier(verbose=True).fit(X, y)
    shown = capsys.readouterr().err
    assert "supernet: 100%" in shown and "finetune: 100%" in shown


def test_pictures(fitted):
    import matplotlib

    matplotlib.use("agg")
    labels = fitted.plot_history().get_legend_handles_labels()[1]
    assert labels == ["supernet loss", "supernet sup", "supernet nce", "finetune loss"]
    ax = fitted.plot_mask()
    columns = [text.get_text() for text in ax.get_xticklabels()]
    assert columns == ["age", "rooms", "city", "grade", "paid"]
    assert np.array_equal(ax.images[0].get_array(), fitted.masks_["encoder.0.weight"])
    with pytest.raises(ValueError, match="layer 7 does not exist"):
        fitted.plot_mask(7)
