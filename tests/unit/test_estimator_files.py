"""Saved classifiers: equal bits, no rows, nothing executed, and no damage unnoticed."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from iunet import IUNetClassifier
from iunet.artifacts import read_arrays_and_metadata, write_arrays
from iunet.errors import UserError
from iunet.estimator.fast import FastClassifier

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
    fast = FastClassifier.load(saved)
    assert list(fast.classes_) == list(fitted.classes_)
    np.testing.assert_allclose(fast.predict_proba(X), fitted.predict_proba(X), atol=1e-5)


def test_a_saved_model_keeps_what_effort_sets(tmp_path):
    small = {"width": 3, "depth": 1, "ratio": 2, "supernet_epochs": 1, "first_cycle_epochs": 1}
    model = IUNetClassifier(effort="quick", **small).fit(*table())
    model.save(tmp_path / "model")
    again = IUNetClassifier.load(tmp_path / "model").get_params()
    assert again == model.get_params() | {"random_state": None}
    assert (again["effort"], again["batch_size"], again["supernet_epochs"]) == ("quick", None, 1)


def content(model: IUNetClassifier) -> tuple:
    """All that a damaged file could change."""
    shipped = model._model
    arrays = [*shipped.masks.items(), *shipped.members[0].items(), *shipped.members[1].items()]
    values = [(name, array.tobytes()) for name, array in arrays]
    return repr(model.get_params()), repr(shipped.preprocessing), model.history_, values


def test_every_truncation_and_every_flipped_byte_is_refused_by_name(saved):
    """A byte may differ only where it says nothing, as in the name that the file had."""
    whole, expected, harmless = saved.read_bytes(), content(IUNetClassifier.load(saved)), 0
    for place in range(0, len(whole), 37):
        saved.write_bytes(whole[:place])
        with pytest.raises(UserError, match=saved.name):
            IUNetClassifier.load(saved)
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            assert content(IUNetClassifier.load(saved)) == expected
            harmless += 1
        except UserError as error:
            assert saved.name in str(error) and "\n" not in str(error)
    assert harmless < 5  # in the name of the file, and the checksum of what it says of itself


def test_reading_executes_nothing(saved):
    """Python tells of every `exec`, `compile` and unpickling; reading causes none."""
    code = f"""
import sys
import safetensors.numpy
from iunet.artifacts import read_arrays_and_metadata
happened = []
sys.addaudithook(lambda event, _: happened.append(event))
read_arrays_and_metadata({str(saved)!r})
print(sorted({{"exec", "compile", "import", "pickle.find_class"}} & set(happened)))
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert output.stdout == "[]\n", output.stdout + output.stderr


CHANGES = {
    "not a saved model: its header": {"format": "something else"},
    "version 99 of the format": {"version": 99},
    "number of labels is not the number of outputs": {"model": {"classes": ["one"]}},
    "its parts do not fit together": {"model": {"shapes": {}}},
    "can read .*unexpected keyword argument 'depths'": {
        "model": {"classifier": {"parameters": {"depths": 3}}}
    },
}


@pytest.mark.parametrize("said", CHANGES)
def test_files_that_are_no_model_are_refused(saved, said):
    arrays, about = read_arrays_and_metadata(saved)
    for key, change in CHANGES[said].items():
        about[key] = about[key] | change if isinstance(change, dict) else change
    write_arrays(saved, arrays, **about)
    with pytest.raises(UserError, match=f"{saved.name} .*{said}"):
        IUNetClassifier.load(saved)
    saved.unlink()
    with pytest.raises(UserError, match="does not exist"):
        IUNetClassifier.load(saved)


ABSURD = {
    "features": {"n_inputs": 10**12},
    "classes": {"n_classes": 10**12},
    "width": {"options": {"width": 1e12, "depth": 2}},
    "depth": {"options": {"width": 3, "depth": 10**9}},
}


@pytest.mark.parametrize("case", [*ABSURD, "mask"])
def test_sizes_that_the_file_cannot_have_are_refused_before_anything_is_made(saved, case):
    """Under valid checksums."""
    arrays, about = read_arrays_and_metadata(saved)
    about["model"]["network"] |= ABSURD.get(case, {})
    if case == "mask":
        about["model"]["shapes"] = {name: [10**13] for name in about["model"]["shapes"]}
    write_arrays(saved, arrays, **about)
    with pytest.raises(UserError, match=f"{saved.name} is not a saved model: its parts do not fit"):
        IUNetClassifier.load(saved)


def test_a_billion_threads_are_refused(saved):
    arrays, about = read_arrays_and_metadata(saved)
    about["model"]["classifier"]["parameters"]["n_threads"] = 10**9
    write_arrays(saved, arrays, **about)
    with pytest.raises(ValueError, match="'n_threads' is 1000000000, but must be at most 1024"):
        IUNetClassifier.load(saved).predict(table()[0])


def test_it_holds_no_rows_and_does_not_grow_with_them(tmp_path):
    sizes = []
    for n in (60, 600):
        X, y = table(n)
        X["size"] = X["size"].round(3) + 0.123456
        model = IUNetClassifier(**TINY, random_state=0).fit(X, y)
        model.save(tmp_path / "model")
        text = (tmp_path / "model").read_bytes().decode(errors="replace")
        found = [value for value in X["size"].dropna() if repr(float(value)) in text]
        assert len(found) <= 1  # the median may be one of them
        sizes.append((tmp_path / "model").stat().st_size)
    assert abs(sizes[1] - sizes[0]) < 200  # digits of numbers


def test_only_a_model_is_replaced(fitted, saved, tmp_path):
    before = saved.read_bytes()
    fitted.save(saved)  # its own, with the same bytes
    assert saved.read_bytes() == before
    (tmp_path / "thesis.tex").write_text("years of work")
    (tmp_path / "photos").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for place, said in (
        ("thesis.tex", "another kind of file"),
        ("photos", "is a folder"),
        ("pipe", "another kind of file"),
        ("x" * 300, "cannot be written to .* too long"),
    ):
        with pytest.raises(UserError, match=said):
            fitted.save(tmp_path / place)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_of_two_saves_at_once_one_wins_whole(fitted, tmp_path):
    other = IUNetClassifier(**TINY, random_state=2).fit(*table())
    X, _ = table()
    wanted = [fitted.predict_proba(X).tolist(), other.predict_proba(X).tolist()]
    for _ in range(20):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda model: model.save(tmp_path / "model"), (fitted, other)))
        assert IUNetClassifier.load(tmp_path / "model").predict_proba(X).tolist() in wanted
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_pickles_of_others_work_and_hold_the_kept_weights_only(fitted):
    X, _ = table()
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.predict_proba(X), fitted.predict_proba(X))
    assert "_networks" not in fitted.__getstate__()
