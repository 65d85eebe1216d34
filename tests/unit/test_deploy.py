"""Shipped models: the same function folded, without dead units, and in the exported files."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from deployed import CLASSES, TABULAR, VISION, awkward_table, fitted_on, model_for, random_model
from toy_run import Toy

from iunet.artifacts import read_arrays, read_json, sign, write_arrays, write_json
from iunet.deploy.export import export_model
from iunet.deploy.model import fold, in_label_order, read_model, write_model
from iunet.deploy.report import dense_bytes, dense_torch, report_on, report_text
from iunet.deploy.run import read_run
from iunet.errors import UserError
from iunet.method.masks import compress_weights
from iunet.networks.folded import Layer, without_dead_units
from iunet.networks.network import NetworkSpec
from iunet.runs import paths

NETWORKS = {"mlp_tab": TABULAR, "mlp_vis": VISION}


def some_inputs(layers: list[Layer], rows: int = 20) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(rows, layers[0].n_inputs)).astype(np.float32)


# ---- folding


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("density", [0.0, 0.05, 0.4, 1.0])
def test_folded_models_compute_the_same(network, density):
    model = random_model(NETWORKS[network], density=density)
    folded = fold(model)
    smaller = without_dead_units(folded)
    inputs = some_inputs(folded)
    expected = model.probabilities(inputs)
    assert density < 1 or expected.std(axis=0).max() > 0.01  # not of a constant
    for form in (folded, smaller):
        np.testing.assert_allclose(dense_torch(form)(inputs), expected, atol=2e-6)


def test_dead_units_go():
    folded = fold(random_model(TABULAR, density=1.0))
    first, second, third, decoder = (layer.mask for layer in without_dead_units(folded))
    assert len(first) == 24 - 6 and len(second) == 24 - 6 and len(third) == 24 - 2
    assert second.shape[1] == len(first) and decoder.shape == (3, len(third))


def test_networks_that_are_not_fully_connected_are_refused():
    for spec in (
        NetworkSpec("cnn", 3, side=16, options={"alpha": 1}),
        NetworkSpec("resnet18", 3, side=32, options={"width": 0.125}),
    ):
        with pytest.raises(UserError, match=f"'{spec.name}' cannot be exported"):
            fold(replace(random_model(TABULAR), network=spec.to_json()))


# ---- the file


@pytest.mark.parametrize("network", NETWORKS)
def test_the_file_is_small(network, tmp_path):
    """At r = 8 at most a sixth of the same members stored dense; here of narrower networks."""
    spec = {"mlp_tab": {**TABULAR, "options": {"width": 384, "depth": 9}}}
    spec["mlp_vis"] = {**VISION, "side": 16}
    model = random_model(spec[network], density=1.0)
    rng = np.random.default_rng(0)
    masks = {n: rng.random(m.shape) < 1 / 8 for n, m in model.masks.items()}
    members = [compress_weights(state, masks) for state in model.states()]
    model = replace(model, masks=masks, members=members)
    write_model(tmp_path / "model", model)
    layers = fold(model)
    assert dense_bytes(layers) == 12 * sum(x.mask.size + len(x.mask) for x in layers)
    assert (tmp_path / "model").stat().st_size <= dense_bytes(layers) / 6


# ---- export


def test_export(tmp_path):
    pytest.importorskip("onnx")
    model = random_model(VISION, {"kind": "vision", "mean": [0.5] * 3, "std": [0.25] * 3})
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    report = export_model(model, tmp_path / "out", repeats=2)
    assert torch.get_num_threads() == threads and torch.equal(torch.get_rng_state(), state)
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"model.safetensors", "model.onnx", "report.json", "report.md"}
    stored = json.loads((tmp_path / "out/report.json").read_text())
    assert stored["sizes"]["kept_encoder_weights"] == sum(m.sum() for m in model.masks.values())
    assert stored["sizes"]["flops_sparse"] < stored["sizes"]["flops_dense"]
    assert stored["bytes"]["compact"] == (tmp_path / "out/model.safetensors").stat().st_size
    assert set(stored["milliseconds"]) == {"1", "256"} == set(report["speedup"])
    assert max(stored["largest_difference"].values()) < 1e-5
    text = (tmp_path / "out/report.md").read_text()
    assert text == report_text(report) and "its size is dense" in text


def test_the_report_says_what_onnx_takes(tmp_path):
    pytest.importorskip("onnx")
    model = model_for(fitted_on(awkward_table(), 60))
    report = export_model(model, tmp_path / "out", repeats=1)
    inputs = {entry["name"]: entry for entry in read_json(tmp_path / "out/report.json")["inputs"]}
    assert list(inputs) == [name for name in awkward_table().column_names if name != "nothing"]
    assert inputs["size"] == {"name": "size", "kind": "numeric"}
    for column in model.preprocessing["categorical"]:
        assert inputs[column["name"]]["levels"] == column["levels"]
        assert inputs[column["name"]]["n_infrequent"] == len(column["infrequent"])
    text = report_text(report)
    assert "| count of/things | numeric |  |" in text
    assert (
        '| often missing | categorical | "v' in text and "7 rare ones that share one place" in text
    )


def test_an_export_that_fails_leaves_nothing(tmp_path, monkeypatch):
    pytest.importorskip("onnx")
    model = model_for(fitted_on(awkward_table(), 60))
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file/below", Path("/proc/x")):
        with pytest.raises(UserError, match=f"cannot be exported to {place} "):
            export_model(model, place, repeats=1)
    nameless = awkward_table().rename_columns(["", *awkward_table().column_names[1:]])
    with pytest.raises(UserError, match="the name of a column is empty"):
        export_model(model_for(fitted_on(nameless, 60)), tmp_path / "new", repeats=1)
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr("iunet.deploy.export.report_on", broken)
    with pytest.raises(UserError, match="No space left"):
        export_model(model, tmp_path / "new", repeats=1)
    (tmp_path / "old").mkdir()
    with pytest.raises(UserError, match="No space left"):
        export_model(model, tmp_path / "old", repeats=1)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "old"]


def test_only_an_older_export_is_replaced(tmp_path, monkeypatch):
    pytest.importorskip("onnx")
    model = model_for(fitted_on(awkward_table(), 60))
    export_model(model, tmp_path / "out", repeats=1)

    def meanwhile(*arguments):
        """Another process exports to the same folder, while this one measures."""
        monkeypatch.undo()
        other = replace(model, classes=[f"other {name}" for name in model.classes])
        export_model(other, tmp_path / "out", repeats=1)
        return report_on(*arguments)

    monkeypatch.setattr("iunet.deploy.export.report_on", meanwhile)
    export_model(model, tmp_path / "out", repeats=1)
    assert read_model(tmp_path / "out/model.safetensors").classes == in_label_order(model).classes
    read_json(tmp_path / "out/report.json")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    for name in ("report.md", "notes.txt"):
        (tmp_path / "mine").mkdir(exist_ok=True)
        (tmp_path / "mine" / name).write_text("my own")
        with pytest.raises(UserError, match=r"mine, which holds other files \(.*report\.md"):
            export_model(model, tmp_path / "mine", repeats=1)
    (tmp_path / "out" / "notes.txt").touch()
    with pytest.raises(UserError, match=r"out, which holds other files"):
        export_model(model, tmp_path / "out", repeats=1)


def broken(*_):
    raise OSError(28, "No space left on device")


# ---- runs of the workflow

WHERE = {"dataset": "toy", "network": "mlp_tab", "supernet": "kappa0.25-ilo", "seed": "0"}
WHERE |= {"initial": "initial", "cut": "ratio4", "options": "-weight_decay0.1", "dense": "dense"}


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """A run of a subnetwork and of a dense network, where the workflow would put them."""
    folder = tmp_path_factory.mktemp("toy")
    toy = Toy(folder / "stages")
    toy.initialise()
    toy.supernet(epochs=1)
    toy.prune(4)
    toy.finetune()
    toy.finetune("dense", dense=True)
    classes = [{"name": name} for name in CLASSES]
    write_json(toy.path("split.json"), {"classes": classes})
    places = {
        "finetune/weights": paths.SUBNETWORK_WEIGHTS,
        "mask/mask": paths.MASK,
        "mask/report": paths.MASK_REPORT,
        "dense/weights": paths.DENSE_WEIGHTS,
        "initial/description": paths.INITIAL_REPORT,
        "preprocessing.json": paths.PREPROCESSING,
        "split.json": paths.SPLIT_REPORT,
    }
    for name, path in places.items():
        target = place(folder / "results", path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(toy.path(name), target)
    return folder / "results"


def place(root: Path, path: str) -> Path:
    return Path(paths.fill(path, str(root), **WHERE))


@pytest.mark.parametrize("path", [paths.SUBNETWORK_WEIGHTS, paths.DENSE_WEIGHTS])
def test_a_run_predicts_what_it_stored(results, path):
    model = read_run(place(results, path).parent)
    assert bool(model.masks) == (path == paths.SUBNETWORK_WEIGHTS)
    assert model.classes == CLASSES and model.origin["dataset"] == "toy" and len(model.members) == 3
    stages = results.parent / "stages"
    valid = read_arrays(stages / "valid.safetensors")["numeric"]
    predicted = model.probabilities(valid).argmax(axis=1)
    folder = "finetune" if model.masks else "dense"
    stored = read_arrays(stages / folder / "predictions")["predicted"]
    np.testing.assert_array_equal(predicted, stored)
    np.testing.assert_array_equal(dense_torch(fold(model))(valid).argmax(axis=1), stored)


def test_files_of_another_run_are_refused(results, tmp_path):
    root = tmp_path / "results"
    shutil.copytree(results, root)
    path = place(root, paths.PREPROCESSING)
    sign({"wildcards": {"dataset": "wine"}})
    try:
        write_json(path, read_json(path))
    finally:
        sign({})
    with pytest.raises(
        UserError, match=r"preprocessing.json belongs to a different run: dataset is 'wine'"
    ):
        read_run(place(root, paths.SUBNETWORK_WEIGHTS).parent)


def test_failed_runs_are_refused(results, tmp_path):
    root = tmp_path / "results"
    shutil.copytree(results, root)
    path = place(root, paths.SUBNETWORK_WEIGHTS)
    write_arrays(path, {})
    with pytest.raises(UserError, match="the run failed"):
        read_run(path.parent)


def test_folders_that_are_no_run(tmp_path):
    with pytest.raises(UserError, match="not the folder of a fine-tuned or dense network"):
        read_run(tmp_path)
    folder = tmp_path / "kappa0.25-ilo/seed0/ratio8"
    folder.mkdir(parents=True)
    (folder / "subnetwork.safetensors").touch()
    with pytest.raises(UserError, match="is not in a folder of results"):
        read_run(folder)
