"""Fast prediction agrees with the network, for every number of rows, with either kernels."""

from __future__ import annotations

import importlib.util
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from deployed import TABULAR, VISION, random_model

from iunet.deploy.fast import FastModel
from iunet.deploy.model import fold
from iunet.errors import UserError

NUMBA = pytest.param(
    "numba",
    marks=pytest.mark.skipif(not importlib.util.find_spec("numba"), reason="numba is not there"),
)
KERNELS = pytest.mark.parametrize("kernels", [NUMBA, "torch"])
IMAGES = {**VISION, "side": 16}  # 768 inputs: two tiles
WIDE = {**TABULAR, "options": {"width": 200, "depth": 4}}


def inputs_for(layers, rows: int) -> np.ndarray:
    """Some of them zeros, as one-hot inputs are."""
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(rows, layers[0].n_inputs)).astype(np.float32)
    return inputs * (rng.random(inputs.shape) < 0.7)


def agrees(probabilities: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)
    second, first = np.sort(expected, axis=1)[:, -2:].T
    clear = first - second > 1e-4
    labels, wanted = probabilities.argmax(axis=1), expected.argmax(axis=1)
    np.testing.assert_array_equal(labels[clear], wanted[clear])


@KERNELS
@pytest.mark.parametrize("density", [0.0, 0.125, 1.0])
@pytest.mark.parametrize(("network", "members"), [(TABULAR, 3), (WIDE, 2), (IMAGES, 1)])
def test_fast_prediction_agrees(kernels, density, network, members):
    model = random_model(network, density=density, members=members)
    folded = fold(model)
    fast = FastModel(folded, kernels)
    inputs = inputs_for(folded, 2100)
    expected = model.probabilities(inputs)
    for rows in (1, 2, 8, 9, 31, 32, 33, 256, 2100):  # one, blocks of both kinds, several chunks
        agrees(fast.probabilities(inputs[:rows]), expected[:rows])


@KERNELS
def test_no_rows_and_wrong_inputs(kernels):
    folded = fold(random_model(TABULAR))
    fast = FastModel(folded, kernels)
    assert fast.probabilities(np.empty((0, 7))).shape == (0, 3)
    for shape in ((7,), (2, 8)):
        with pytest.raises(UserError, match=r"inputs of shape \[rows, 7\]"):
            fast.probabilities(np.zeros(shape))
    with pytest.raises(UserError, match="kernels 'cuda' do not exist"):
        FastModel(folded, "cuda")


@KERNELS
def test_inputs_in_any_order_in_memory(kernels):
    folded = fold(random_model(TABULAR))
    fast = FastModel(folded, kernels)
    inputs = inputs_for(folded, 80)
    expected = fast.probabilities(inputs)
    for same in (np.asfortranarray(inputs), inputs.astype(np.float64)):
        np.testing.assert_array_equal(fast.probabilities(same), expected)
    np.testing.assert_array_equal(
        fast.probabilities(inputs[::2]),
        FastModel(folded, kernels).probabilities(inputs[::2].copy()),
    )


@KERNELS
def test_threads_share_a_model(kernels):
    folded = fold(random_model(WIDE))
    fast = FastModel(folded, kernels)
    inputs = inputs_for(folded, 64)
    expected = [fast.probabilities(inputs[i : i + 1]) for i in range(64)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: fast.probabilities(inputs[i : i + 1]), range(64)))
    np.testing.assert_array_equal(found, expected)


def test_torch_takes_over_without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)  # as if it were not installed
    assert FastModel(fold(random_model(TABULAR))).kernels == "torch"
