"""Artifacts that are not what they should be: each reader names the file, and what to do."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from toy_run import Toy

from iunet.artifacts import (
    check_inputs,
    read_arrays,
    read_description,
    read_json,
    write_arrays,
    write_json,
    write_text,
)
from iunet.baselines.learner import Machine, Table, learner_module
from iunet.baselines.study import Budget, Worker, open_study
from iunet.data.registry import Dataset
from iunet.data.sizes import TYPICAL, data_size
from iunet.errors import UserError
from iunet.method.masks import read_masks
from iunet.training.support.checkpoint import Checkpoint

BROKEN_JSON = {  # what may stand in a file, and what its reader says
    "empty": (b"", "cannot be read as JSON"),
    "cut": (b'{"layers": [', "cannot be read as JSON"),
    "binary": (b"\xff\xfe\0", "cannot be read as JSON"),
    "null": (b"null", "must hold a JSON object"),
    "a list": (b"[]", "must hold a JSON object"),
    "a number": (b"7", "must hold a JSON object"),
    "too many digits": (b"9" * 5000, "cannot be read as JSON"),
    "nested": (b"[" * 100_000, "cannot be read as JSON"),
    "nested object": (b'{"a":' * 100_000, "cannot be read as JSON"),
    "damaged": (b'{"made_by": {"content": "0"}}', "does not match its checksum"),
}


@pytest.mark.parametrize("case", BROKEN_JSON)
def test_json(tmp_path, case):
    (tmp_path / "mask.json").write_bytes(BROKEN_JSON[case][0])
    with pytest.raises(UserError, match=BROKEN_JSON[case][1]) as caught:
        read_json(tmp_path / "mask.json")
    assert "mask.json" in str(caught.value) and "run the same command again" in str(caught.value)


def test_a_directory_or_nothing_in_the_place_of_a_json(tmp_path):
    (tmp_path / "mask.json").mkdir()
    with pytest.raises(UserError, match=r"mask\.json cannot be read as JSON"):
        read_json(tmp_path / "mask.json")
    with pytest.raises(UserError, match=r"mask\.json is a directory, but a file must be"):
        write_json(tmp_path / "mask.json", {})
    with pytest.raises(UserError, match=r"other\.json does not exist"):
        read_json(tmp_path / "other.json")


@pytest.mark.parametrize("written", [b"", b"\0" * 100, b"not safetensors", b"\xff" * 8])
def test_safetensors(tmp_path, written):
    (tmp_path / "mask.safetensors").write_bytes(written)
    with pytest.raises(UserError, match=r"mask\.safetensors cannot be read as safetensors"):
        read_arrays(tmp_path / "mask.safetensors")


# ---- masks


REPORTS = {
    "nothing": {},
    "no layers": {"layers": None},
    "layers that are text": {"layers": ["encoder.0"]},
    "layers without a shape": {"layers": [{"weight": "a"}]},
    "layers of another network": {"layers": [{"weight": "b", "shape": [2, 2]}]},
    "another shape": {"layers": [{"weight": "a", "shape": [1000, 1000]}]},
    "a shape below 0": {"layers": [{"weight": "a", "shape": [-3, 2]}]},
    "a shape of text": {"layers": [{"weight": "a", "shape": ["x"]}]},
    "a shape beyond all": {"layers": [{"weight": "a", "shape": [10**30]}]},
    "a list for a name": {"layers": [{"weight": [], "shape": [2]}]},
}


@pytest.mark.parametrize("case", REPORTS)
def test_masks(tmp_path, case):
    write_arrays(tmp_path / "mask.safetensors", {"a": np.packbits(np.ones(4, bool))})
    write_json(tmp_path / "mask.json", REPORTS[case])
    with pytest.raises(UserError, match=r"mask\.json are not a mask and its report") as caught:
        read_masks(tmp_path / "mask.safetensors", tmp_path / "mask.json")
    assert "mask.safetensors" in str(caught.value)


def test_a_mask_of_numbers_is_none(tmp_path):
    write_arrays(tmp_path / "mask.safetensors", {"a": np.ones(4, np.float32)})
    write_json(tmp_path / "mask.json", {"layers": [{"weight": "a", "shape": [4]}]})
    with pytest.raises(UserError, match="are not a mask and its report"):
        read_masks(tmp_path / "mask.safetensors", tmp_path / "mask.json")


# ---- provenance


@pytest.mark.parametrize(
    "made_by",
    [None, 7, [], {}, {"id": 3}, {"id": "x", "file": 9}, {"id": "x", "file": "a.json", "code": 1}],
)
def test_what_a_file_says_of_itself_may_be_anything(tmp_path, made_by):
    (tmp_path / "a.json").write_text(json.dumps({"made_by": made_by}))
    expected = {str(tmp_path / "a.json"): {"id": "y", "rule": "prune"}}
    with pytest.raises(UserError, match=r"a\.json"):
        check_inputs(expected)


def test_checksums_of_files_beside_that_are_none(tmp_path):
    """Also a name that leads out of the folder."""
    made_by = {"id": "x", "file": "a.json", "code": [], "files": {"../../b.csv": "0"}}
    (tmp_path / "a.json").write_text(json.dumps({"made_by": made_by}))
    path = str(tmp_path / "a.json")
    assert check_inputs({path: {"id": "x"}}) == {}
    (tmp_path / "b.csv").write_text("x")
    with pytest.raises(UserError, match=r"b\.csv is not the file that .*a\.json describes"):
        check_inputs({path: {"id": "x"}, str(tmp_path / "b.csv"): {"id": "x"}})


def test_a_description_of_nothing(tmp_path):
    write_json(tmp_path / "data.json", {"dataset": "wine"})
    with pytest.raises(UserError, match=r"data\.json does not describe a data set: no 'kind'"):
        read_description(tmp_path / "data.json", tmp_path / "data.parquet")
    write_json(tmp_path / "data.json", {"dataset": "wine", "kind": "tabular", "sha256": "0"})
    with pytest.raises(UserError, match=r"data\.parquet cannot be read"):
        read_description(tmp_path / "data.json", tmp_path / "data.parquet")


# ---- planning reads the sizes of splits


@pytest.mark.parametrize(
    "text", ["", "null", "{}", '{"n_train": "many"}', "[" * 100_000, "\ufeff[1]", '{"n_train": -1}']
)
def test_a_split_that_cannot_be_read_gives_a_typical_size(tmp_path, text):
    """Planning goes on; whoever needs the split's rows refuses it by name."""
    write_text(tmp_path / "splits" / "mine" / "split.json", text)
    dataset = Dataset("mine", "tabular", "file", "mine.csv", "label")
    assert data_size(dataset, str(tmp_path)) == TYPICAL["tabular", False]


# ---- studies


JOURNALS = {
    "garbage": b"not a journal\n",
    "garbage after a study": None,
    "binary": b"\xff\xfe\0\n",
    "an object": b"{}\n",
    "an unknown operation": b'{"op_code": 99, "worker_id": "x"}\n',
}


@pytest.mark.parametrize("case", JOURNALS)
def test_journals(tmp_path, case):
    journal = tmp_path / "study.journal"
    if JOURNALS[case] is None:
        open_study(journal, "s")
        journal.write_bytes(journal.read_bytes() + b"garbage\n" + journal.read_bytes())
    else:
        journal.write_bytes(JOURNALS[case])
    with pytest.raises(UserError, match=r"study\.journal cannot be read as the journal") as caught:
        open_study(journal, "s")
    journal.unlink()
    assert "Delete it and run the same command again" in str(caught.value)
    assert open_study(journal, "s").get_trials() == []  # what it says is true


def test_a_directory_in_the_place_of_a_journal(tmp_path):
    (tmp_path / "study.journal").mkdir()
    with pytest.raises(UserError, match=r"study\.journal, the journal of a study, cannot be"):
        open_study(tmp_path / "study.journal", "s")


@pytest.mark.parametrize("starts", ["many", None, 1.5, []])
def test_a_marker_that_counts_nothing(tmp_path, starts):
    write_json(tmp_path / "begun", {"study": "s", "trial": 0, "starts": starts})
    study = open_study(tmp_path / "study.journal", "s")

    def try_out(parameters):
        raise ValueError("not tried")

    Worker(study, lambda trial: {}, try_out, Budget(1), 0, tmp_path / "begun").run()
    assert len(study.get_trials()) == 1


# ---- models of another learner, checkpoints


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Table:
    toy = Toy(tmp_path_factory.mktemp("learners"))
    return Table(toy.inputs() | {"split": toy.path("split.json")})


SETTINGS = {
    "xgb": {"max_rounds": 2, "max_rounds_dart": 2, "trial_minutes": None},
    "tabnet": {"max_epochs": 1, "trial_minutes": None},
    "mlp_c": {"width": 4, "first_cycle_epochs": 1, "cycle_factor": 1, "cycles": 1},
}
MODELS = {
    "of XGB": {"booster.ubj": np.zeros(9, np.uint8)},
    "of a network": {"encoder.weight": np.zeros((2, 2), np.float32)},
    "of no one": {},
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("learner", SETTINGS)
def test_a_model_of_another_learner(tmp_path, table, learner, model):
    path = str(tmp_path / "model.safetensors")
    write_arrays(path, MODELS[model])
    found = learner_module(learner).Learner(table, SETTINGS[learner], Machine("cpu", 1))
    with pytest.raises(UserError, match=r"model\.safetensors is no model of"):
        found.predict(path, {"parameters": {}, "model": {}}, "test")


@pytest.mark.parametrize("written", [b"", b"garbage", None])
def test_a_checkpoint_that_is_none_is_told_in_the_log(tmp_path, caplog, written):
    path = tmp_path / "supernet.checkpoint"
    write_arrays(path, {"a": np.zeros(2)}, facts=7) if written is None else path.write_bytes(
        written
    )
    assert Checkpoint(path, {"id": "x"}).load(torch.device("cpu")) is None
    assert "supernet.checkpoint" in caplog.text and "starting over" in caplog.text


def test_delete_it_and_run_the_same_command_again(tmp_path):
    """A stage whose input was refused makes it anew, with the same bytes."""
    toy = Toy(tmp_path)
    toy.initialise()
    toy.supernet(epochs=1)
    toy.prune(4)
    mask, report = (Path(toy.path(f"mask/{name}")) for name in ("mask", "report"))
    before = mask.read_bytes(), report.read_bytes()
    for path in (mask, report):
        path.write_bytes(b"null")
        with pytest.raises(UserError, match=str(path)):
            toy.finetune(cycles=1)
        path.unlink()
        toy.prune(4)
        assert (mask.read_bytes(), report.read_bytes()) == before
    toy.finetune(cycles=1, first_cycle_epochs=1)
