"""The command `iunet`, in this process."""

from __future__ import annotations

import io
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from iunet import IUNetClassifier
from iunet.estimator.command import main
from iunet.estimator.score import with_interval

SMALL = {"width": 16, "depth": 2, "supernet_epochs": 2, "first_cycle_epochs": 2, "cycles": 2}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """The command has the paper's settings; here they are small."""
    defaults = IUNetClassifier.__init__.__kwdefaults__
    monkeypatch.setattr(IUNetClassifier.__init__, "__kwdefaults__", defaults | SMALL)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with a table, and a file of new rows of it, in another order."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(size=120), "zip": rng.choice([8001, 3012], 120)})
    frame["id"] = range(120)
    frame["label"] = np.where(frame["zip"] == 8001, "stays", "leaves")
    frame.to_csv("data.csv", index=False)
    new = frame.head(7)[["label", "zip", "age"]].astype({"zip": object})
    new.loc[2, "zip"], new.loc[3, "age"] = None, np.nan
    new.to_csv("new.csv", index=False)
    new[["zip", "age"]].to_csv("bare.csv", index=False)
    new.assign(label=["stays", None] + ["leaves"] * 5).to_csv("gaps.csv", index=False)
    new.assign(label="returns").to_csv("other.csv", index=False)
    return tmp_path


FIT = "fit data.csv --target label --out model --categorical zip --leave-out id"


def test_fit_and_predict(folder, capsys):
    assert main([*FIT.split(), "--structure", "unit", "--ratio", "2"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "120 rows, 2 classes; columns: 1 numeric, 1 categorical" in said.err
    assert "model: " in said.err and "kept per network; networks in the ensemble: 2" in said.err
    score = said.err.splitlines()[-1]
    assert re.search(r"on the held-out tenth: balanced accuracy \S+ % \[.*\(12 rows;", score)
    assert main(["predict", "model", "new.csv"]) == 0
    said = capsys.readouterr()
    assert "ignoring columns of new.csv that the model does not use: label" in said.err
    printed = pd.read_csv(io.StringIO(said.out))
    model = IUNetClassifier.load("model")
    assert (model.ratio, model.structure) == (2.0, "unit")
    new = pd.read_csv("new.csv")[["age", "zip"]]
    assert printed["prediction"].tolist() == model.predict(new).tolist()
    assert main(["predict", "model", "new.csv", "--probabilities", "--out", "told.csv"]) == 0
    told = pd.read_csv(folder / "told.csv")
    columns = ["prediction", "probability of leaves", "probability of stays"]
    assert told.columns.tolist() == columns
    assert np.allclose(told[columns[1:]], model.predict_proba(new), atol=1e-6)


def test_the_score_is_of_rows_that_were_not_trained_on(folder, capsys, monkeypatch):
    trained = []
    fit = IUNetClassifier.fit

    def fit_and_note(self, X, y):
        trained.append(set(X["id"]))
        return fit(self, X, y)

    monkeypatch.setattr(IUNetClassifier, "fit", fit_and_note)
    monkeypatch.setattr(IUNetClassifier, "predict", lambda self, X: asked.append(set(X["id"])) or y)
    asked, y = [], np.full(12, "stays")
    plain = "fit data.csv --target label --out model"
    assert main(plain.split()) == 0
    assert len(trained) == 2 and not trained[0] & asked[0]
    assert trained[0] | asked[0] == trained[1] == set(range(120))
    frame = pd.read_csv("data.csv")
    frame.iloc[:30, ::-1].to_csv("valid.csv", index=False)
    right = frame["label"][:30] == "stays"
    y = np.full(30, "stays")
    assert main([*plain.split(), "--valid", "valid.csv"]) == 0
    assert len(trained) == 3 and asked[1] == set(range(30))
    score = capsys.readouterr().err.splitlines()[-1]
    assert "on valid.csv: balanced accuracy 50.0 %" in score
    assert f"accuracy {100 * right.mean():.1f} % [" in score
    assert main([*plain.split(), "--no-valid"]) == 0
    assert len(trained) == 4 and len(asked) == 2


def test_the_interval_of_a_score():
    """In one group it is Jeffreys' interval of a share; a group of few rows makes a wide one."""
    right = np.arange(10) < 7
    mean, *ends = with_interval(np.ones(10), right, np.zeros(10))
    assert mean == pytest.approx(70)
    assert ends == pytest.approx(100 * beta.ppf([0.025, 0.975], 7.5, 3.5), abs=1)
    labels = np.array(["common"] * 98 + ["rare"] * 2)
    mean, low, high = with_interval(labels, labels, labels)
    assert mean == high == 100 and 60 < low < 80


@pytest.mark.parametrize(
    ("command", "fragment"),
    [
        ("fit absent.csv --target label --out model", "The file absent.csv does not exist"),
        ("fit data.csv --target lable --out model", "Did you mean 'label'?"),
        ("fit data.csv --target age --out model", "is continuous"),
        ("fit data.csv --target label --out data.csv", "another kind of file"),
        ("fit data.csv --target label --out model --leave-out ID", "no column 'ID' to leave out"),
        ("fit data.csv --target label --out model --ratio 0.1", "'ratio' is 0.1"),
        ("fit data.csv --target label --out model --threads 0", "'n_threads' is 0"),
        (
            f"{FIT} --valid bare.csv",
            "bare.csv lacks 1 of the 3 columns that the model needs: label",
        ),
        (f"{FIT} --valid gaps.csv", "gaps.csv has no value of 'label' in row 2"),
        (f"{FIT} --valid other.csv", "other.csv has the label 'returns' in 'label', which is not"),
        ("predict absent new.csv", "The model absent does not exist"),
        ("export new.csv --to shipped", "new.csv cannot be read as safetensors"),
        (f"{FIT} --out .", "which is a folder. Name a file"),
        (f"{FIT} --out /proc/x/m", "cannot be written to /proc/x/m"),
        ("fit dates.parquet --target label --out model", "label"),
        ("fit bytes.parquet --target label --out model", "label"),
        ("predict old data.csv --out data.csv/x.csv", "data.csv"),
        ("predict unnamed data.csv", "data.csv has 4 columns, but the model was fitted on 2."),
        ("export old --to data.csv", "data.csv"),
        ("export old --to /proc/x", "/proc/x"),
    ],
)
def test_what_the_user_can_put_right_is_2(folder, capsys, command, fragment):
    frame = pd.read_csv("data.csv")
    if "parquet" in command:
        days = pd.to_datetime(np.where(frame["age"] > 0, "2020-01-01", "2021-01-01"))
        frame.assign(label=days).to_parquet("dates.parquet")
        frame.assign(label=[text.encode() for text in frame["label"]]).to_parquet("bytes.parquet")
    for name in {"old", "unnamed"} & set(command.split()):
        X = frame[["age", "zip"]]
        IUNetClassifier().fit(X if name == "old" else X.to_numpy(), frame["label"]).save(name)
    assert main(command.split()) == 2
    said = capsys.readouterr().err
    assert fragment in said and "Traceback" not in said
    assert not (folder / "model").exists()


@pytest.fixture
def fitted(folder, capsys) -> Path:
    assert main(FIT.split()) == 0
    capsys.readouterr()
    return folder


@pytest.mark.parametrize("name", ["new.csv", "./new.csv", "link", "hard", "model"])
def test_an_input_is_no_output(fitted, capsys, name):
    (fitted / "link").symlink_to("new.csv")
    (fitted / "hard").hardlink_to("new.csv")
    before = (fitted / "new.csv").read_bytes(), (fitted / "model").read_bytes()
    assert main(["predict", "model", "new.csv", "--out", name]) == 2
    assert "is an input of the prediction" in capsys.readouterr().err
    assert ((fitted / "new.csv").read_bytes(), (fitted / "model").read_bytes()) == before


def test_only_regular_files_are_replaced(fitted, capsys):
    predict = ["predict", "model", "new.csv", "--out"]
    assert main([*predict, "-"]) == 0
    wanted = capsys.readouterr().out
    assert wanted.startswith("prediction\n") and not (fitted / "-").exists()
    os.mkfifo("pipe")
    with ThreadPoolExecutor() as pool:
        reader = pool.submit(Path("pipe").read_text)
        assert main([*predict, "pipe"]) == 0
        assert reader.result() == wanted
    assert Path("pipe").is_fifo()
    Path("told.csv").write_text("old")
    Path("link").symlink_to("told.csv")
    assert main([*predict, "link"]) == 0
    assert Path("link").is_symlink() and Path("told.csv").read_text() == wanted
    assert main([*predict, "/dev/null"]) == 0 and Path("/dev/null").is_char_device()
    assert main([*predict, "/dev/full"]) == 2
    assert "/dev/full cannot be written to" in capsys.readouterr().err


def test_labels_and_categories_come_back_as_they_were_written(folder, capsys):
    """Of `001` and `1`, or `01234` and `1234`, pandas would make one."""
    rng = np.random.default_rng(0)
    zips, sizes = rng.choice(["01234", "1234"], 160), rng.normal(size=160).round(3)
    labels = np.where(zips == "01234", "001", "1")
    rows = zip(zips, sizes, labels, strict=True)
    Path("data.csv").write_text("zip,size,label\n" + "".join(f"{z},{s},{y}\n" for z, s, y in rows))
    assert main(["fit", "data.csv", "--target", "label", "--out", "m", "--categorical", "zip"]) == 0
    assert "2 classes" in capsys.readouterr().err
    assert IUNetClassifier.load("m").classes_.tolist() == ["001", "1"]
    Path("new.csv").write_text("zip,size\n01234,0.1\n1234,0.1\n")
    assert main(["predict", "m", "new.csv", "--out", "-"]) == 0
    assert set(capsys.readouterr().out.split()[1:]) <= {"001", "1"}
    model = IUNetClassifier.load("m")._model.preprocessing
    assert model["categorical"][0]["levels"] == ["01234", "1234"]
    Path("new.csv").write_text("zip,size\n0001234,0.1\n")
    assert main(["predict", "m", "new.csv"]) == 0
    assert "'zip' holds '0001234', which is read as the level '1234'" in capsys.readouterr().err


def test_hidden_characters_of_a_file_are_shown_as_escapes(folder, capsys):
    Path("data.csv").write_text('"a\x1b[31m\nb",c,label\n1,2,x\n2,1,y\n3,1,x\n')
    assert main(["fit", "data.csv", "--target", "label", "--out", "m"]) == 0
    assert main(["fit", "data.csv", "--target", "lable", "--out", "m2"]) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said and "a\\x1b[31m\\nb" in said
    assert all(line.startswith("iunet: ") for line in said.splitlines())


def test_warnings_are_said_once_as_the_commands_own(folder, capsys):
    frame = pd.read_csv("data.csv")
    frame["rooms"] = [str(i % 9) for i in range(119)] + ["?"]
    frame.to_csv("data.csv", index=False)
    assert main(["fit", "data.csv", "--target", "label", "--out", "model"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert all(line.startswith("iunet: ") for line in said)
    warned = [line for line in said if line.startswith("iunet: warning: ")]
    assert len(warned) == 2
    assert "The column 'id' grows from row to row" in warned[0]
    assert "Treating column 'rooms' as categorical" in warned[1] and "'?'" in warned[1]


def test_a_model_of_a_gpu_predicts_on_a_cpu(fitted):
    IUNetClassifier.load("model").set_params(device="cuda").save("model")
    assert main(["predict", "model", "new.csv", "--out", "told.csv"]) == 0


def test_missing_columns_are_named(folder, capsys):
    assert main(FIT.split()) == 0
    pd.DataFrame({"agee": [1], "size": [2]}).to_csv("new.csv", index=False)
    assert main(["predict", "model", "new.csv"]) == 2
    said = capsys.readouterr().err
    assert (
        "lacks 2 of the 2 columns that the model needs" in said
        and "age, zip. Did you mean 'agee'?" in said
    )


def test_a_bug_keeps_its_traceback(folder, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("iunet.estimator.command.read_file", broken)
    with pytest.raises(ZeroDivisionError):
        main(FIT.split())


@pytest.mark.parametrize("command", [[], ["fit"], ["predict"], ["export"]], ids=str)
def test_help_says_what_there_is(capsys, command):
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "usage: iunet" in shown
    wanted = {"fit": "--target", "predict": "--probabilities", "export": "--to"}
    assert wanted[command[0]] in shown if command else all(name in shown for name in wanted)
