"""Masks by sorting, and everything that is made of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from iunet.artifacts import read_arrays, write_arrays, write_json
from iunet.method.masks import (
    compress_weights,
    expand_weights,
    mask_report,
    pack_masks,
    unpack_masks,
)
from iunet.method.pruning import Cut, lottery_ticket, magnitude_masks, prune_supernet

SHAPES = {"a": (3, 4), "b": (5, 3), "c": (2, 2, 2)}


def by_sorting(weights, keep):
    """Sort all magnitudes, larger first and of equals the earlier first; take the first."""
    flat = [(-abs(v), i, name) for name, w in weights.items() for i, v in enumerate(w.reshape(-1))]
    order = {name: place for place, name in enumerate(weights)}
    chosen = sorted(flat, key=lambda entry: (entry[0], order[entry[2]], entry[1]))[:keep]
    masks = {name: np.zeros(w.size, dtype=bool) for name, w in weights.items()}
    for _, i, name in chosen:
        masks[name][i] = True
    return {name: masks[name].reshape(w.shape) for name, w in weights.items()}


VALUES = st.floats(-2, 2, width=32) | st.sampled_from([0.0, -0.0, 0.5, -0.5])  # ties are likely


@settings(deadline=None, max_examples=100)
@given(data=st.data(), ratio=st.sampled_from([1, 1.5, 2, 4, 8, 16, 35, 1000]))
def test_exactly_the_largest_stay(data, ratio):
    weights = {
        n: data.draw(arrays.arrays(np.float32, s, elements=VALUES)) for n, s in SHAPES.items()
    }
    keep = round(35 / ratio)
    masks = magnitude_masks(weights, list(weights), ratio)
    assert sum(mask.sum() for mask in masks.values()) == keep
    expected = by_sorting(weights, keep)
    assert all(np.array_equal(masks[name], expected[name]) for name in weights)


def test_only_named_weights_are_pruned():
    weights = {"a": np.ones((2, 2), np.float32), "decoder": np.zeros((2, 2), np.float32)}
    assert list(magnitude_masks(weights, ["a"], 2)) == ["a"]


@given(mask=arrays.arrays(bool, (5, 7)))
def test_packed_masks_come_back(mask):
    packed = pack_masks({"a": mask})
    assert packed["a"].nbytes == 5
    assert np.array_equal(unpack_masks(packed, {"a": [5, 7]})["a"], mask)


def test_report():
    masks = {
        "first": np.array([[True, False], [False, False]]),
        "last": np.array([[True, True], [True, False]]),
    }
    initial = {"first": np.array([[True, True], [False, False]]), "last": ~masks["last"]}
    report = mask_report(masks, initial, n_other_parameters=4)
    assert (report["encoder_weights"], report["kept_weights"]) == (8, 4)
    assert (report["encoder_compression"], report["model_compression"]) == (2.0, 12 / 8)
    assert report["overlap_with_initial_mask"] == 1 / 4
    assert report["layers"][0]["dead_units"] == 1 and report["layers"][1]["dead_units"] == 0
    assert report["layers"][0]["density"] == 0.25
    assert report["disconnected"] is False


def test_dead_units_keep_no_incoming_weight():
    mask = np.array([[True, True, True], [False] * 3, [False] * 3])
    (layer,) = mask_report({"a": mask}, {"a": mask}, 0)["layers"]
    assert (layer["units"], layer["dead_units"]) == (3, 2)


def test_a_layer_without_weights_is_reported():
    masks = {"a": np.zeros((2, 2), bool), "b": np.ones((2, 2), bool)}
    report = mask_report(masks, masks, 1)
    assert report["disconnected"] is True
    assert report["layers"][0]["dead_units"] == 2
    empty = mask_report({"a": masks["a"]}, {"a": masks["a"]}, 1)
    assert empty["encoder_compression"] is None and empty["overlap_with_initial_mask"] is None
    json.dumps(empty)


def test_lottery_ticket_zeroes_what_is_pruned_and_nothing_else():
    initial = {"w": np.array([[1.0, 2.0]]), "bias": np.array([3.0])}
    ticket = lottery_ticket(initial, {"w": np.array([[True, False]])})
    assert ticket["w"].tolist() == [[1.0, 0.0]] and ticket["bias"].tolist() == [3.0]


@given(
    weight=arrays.arrays(np.float32, (4, 6), elements=st.floats(-5, 5, width=32)),
    mask=arrays.arrays(bool, (4, 6)),
)
def test_compressed_weights_come_back(weight, mask):
    state = {"w": np.where(mask, weight, np.float32(0)), "bias": np.ones(3, np.float32)}
    compressed = compress_weights(state, {"w": mask})
    assert compressed["w"].size == mask.sum()
    expanded = expand_weights(compressed, {"w": mask})
    assert all(np.array_equal(expanded[name], state[name]) for name in state)


def prune_toy(folder: Path, trained: np.ndarray, ratio: float | None, failed=None) -> dict:
    rng = np.random.default_rng(0)
    write_arrays(folder / "initial", {"encoder.0.weight": rng.normal(size=(6, 4)).astype("f4")})
    write_arrays(folder / "supernet", {"encoder.0.weight": trained.astype(np.float32)})
    write_json(folder / "supernet_report", {"failed": failed})
    facts = {"dataset": "d", "seed": 0, "n_parameters": 30, "n_encoder_weights": 24}
    facts["network"] = {"name": "mlp_tab"}
    write_json(folder / "description", facts | {"encoder_weights": ["encoder.0.weight"]})
    names = ("supernet", "supernet_report", "initial", "description")
    inputs = {name: str(folder / name) for name in names}
    output = {"mask": str(folder / "mask"), "report": str(folder / "report")}
    prune_supernet(inputs, output, "r", Cut(ratio))
    return json.loads((folder / "report").read_text())


def read_mask(folder: Path) -> np.ndarray:
    masks = unpack_masks(read_arrays(folder / "mask"), {"encoder.0.weight": [6, 4]})
    return masks["encoder.0.weight"]


def test_prune_stage(tmp_path):
    report = prune_toy(tmp_path, np.arange(24).reshape(6, 4), 8.0)
    assert report["kept_weights"] == 3 and report["run"] == "r" and report["failed"] is None
    assert read_mask(tmp_path).sum() == 3


def test_without_a_ratio_the_survivors_stay(tmp_path):
    trained = np.zeros((6, 4))
    trained[[0, 3, 5], [1, 2, 0]] = [0.1, -1e-9, 2.0]
    report = prune_toy(tmp_path, trained, None)
    assert np.array_equal(read_mask(tmp_path), trained != 0)
    assert report["ratio"] is None and report["encoder_compression"] == 8.0
    assert report["overlap_with_initial_mask"] is not None


@pytest.mark.parametrize("failed", [None, "diverged in epoch 3"])
def test_a_mask_of_nothing_is_a_failure(tmp_path, failed):
    report = prune_toy(tmp_path, np.zeros((6, 4)), None, failed)
    assert report["failed"] == (failed or "every weight died")
    assert report["kept_weights"] == 0 and report["disconnected"]
