"""Saved classifiers: equal bits, no rows, nothing executed, and no damage unnoticed."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from iunet import IUNetClassifier
from iunet.deploy.sealed import read_sealed, write_sealed
from iunet.errors import UserError

TINY = {
    "width": 3,
    "depth": 2,
    "ratio": np.int64(2),  # as a grid search over np.arange sets it
    "supernet_epochs": 1,
    "first_cycle_epochs": 1,
    "cycles": 2,
    "cycle_factor": 1,
}


def table(n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"size": rng.normal(size=n), "colour": rng.choice(["red", "blue", "green"], n)}
    )
    frame.loc[::7, "size"] = np.nan
    frame.loc[::5, "colour"] = None
    return frame, np.where(frame["colour"] == "red", "stays", "leaves")


@pytest.fixture(scope="module")
def fitted() -> IUNetClassifier:
    weights = {"stays": 2.0, "leaves": 1}
    return IUNetClassifier(**TINY, random_state=np.int64(1), class_weight=weights).fit(*table())


@pytest.fixture
def saved(fitted, tmp_path) -> Path:
    fitted.save(tmp_path / "model")
    return tmp_path / "model"


def test_load_gives_the_same_model(fitted, saved):
    loaded = IUNetClassifier.load(saved)
    X, _ = table(200, seed=1)
    assert np.array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert np.array_equal(loaded.predict(X), fitted.predict(X))
    assert loaded.get_params() == fitted.get_params()
    assert list(loaded.feature_names_in_) == ["size", "colour"]
    for name in ("history_", "sizes_", "seed_", "n_features_in_"):
        assert getattr(loaded, name) == getattr(fitted, name)
    for name, mask in fitted.masks_.items():
        assert np.array_equal(loaded.masks_[name], mask)
    assert loaded.classes_.dtype == fitted.classes_.dtype


@pytest.mark.parametrize(
    "labels", [[3, 10, 20], [0.0, 1.0, 2.0], ["b", "a", "ü"], [True, False, True]], ids=str
)
def test_labels_come_back_as_they_were(tmp_path, labels):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = IUNetClassifier(**TINY, random_state=0).fit(X, np.array(labels * 10))
    model.save(tmp_path / "model")
    loaded = IUNetClassifier.load(tmp_path / "model")
    assert loaded.classes_.dtype == model.classes_.dtype
    assert np.array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("name", ["model.json", "weights.safetensors"])
def test_every_truncation_and_every_flipped_byte_is_refused_by_name(saved, name, monkeypatch):
    content = {path.name: path.read_bytes() for path in saved.iterdir()}
    monkeypatch.setattr(Path, "read_bytes", lambda path: content[path.name])  # no disk: fast
    assert IUNetClassifier.load(saved).seed_ == 1
    whole = content[name]
    cut_off = (whole[:length] for length in range(len(whole)))
    flipped = (
        whole[:place] + bytes([byte ^ 0xFF]) + whole[place + 1 :]
        for place, byte in enumerate(whole)
    )
    for damaged in (*cut_off, *flipped):
        content[name] = damaged
        with pytest.raises(UserError, match=name):
            IUNetClassifier.load(saved)


def test_a_missing_file_and_another_version_are_refused(saved):
    arrays, content = read_sealed(saved / "weights.safetensors", "weights")
    write_sealed(saved / "weights.safetensors", arrays, content | {"version": 99})
    with pytest.raises(UserError, match="version 99 of the format"):
        IUNetClassifier.load(saved)
    (saved / "weights.safetensors").unlink()
    with pytest.raises(UserError, match=r"weights\.safetensors is missing"):
        IUNetClassifier.load(saved)


def test_it_holds_no_rows_and_does_not_grow_with_them(tmp_path):
    sizes = []
    for n in (60, 600):
        X, y = table(n)
        X["size"] = X["size"].round(3) + 0.123456
        model = IUNetClassifier(**TINY, random_state=0).fit(X, y)
        model.save(tmp_path / "model")
        text = (tmp_path / "model" / "model.json").read_text()
        found = [value for value in X["size"].dropna() if repr(float(value)) in text]
        assert len(found) <= 1  # the median may be one of them
        sizes.append(sum(path.stat().st_size for path in (tmp_path / "model").iterdir()))
    assert abs(sizes[1] - sizes[0]) < 200  # digits of numbers


def test_only_a_model_is_replaced(fitted, saved, tmp_path):
    fitted.save(saved)  # its own
    (saved / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match=r"thesis\.tex"):
        fitted.save(saved)
    assert (saved / "thesis.tex").exists()
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="is a file"):
        fitted.save(tmp_path / "file")


def test_the_same_model_is_saved_as_the_same_bytes(fitted, saved, tmp_path):
    fitted.save(tmp_path / "again")
    for name in ("model.json", "weights.safetensors"):
        assert (saved / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert json.loads((saved / "model.json").read_text())["format"] == "iunet-classifier"


def test_pickles_of_others_work_and_hold_the_kept_weights_only(fitted):
    X, _ = table()
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.predict_proba(X), fitted.predict_proba(X))
    assert "_ensemble" not in fitted.__getstate__()
