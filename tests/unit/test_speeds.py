"""What estimates are made of: kernels of a step, sizes of subsets."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from iunet.data.load import Part, TrainingData, make_inputs
from iunet.data.preprocess import Categorical, Numeric, Preprocessing
from iunet.data.registry import read_registry
from iunet.data.sizes import Data, data_size
from iunet.machine import resources
from iunet.machine.resources import kernels
from iunet.method.catalog import LASSO, OBJECTIVES, objective_entry
from iunet.networks.catalog import network_entry
from iunet.networks.network import NetworkSpec, build_network, state_tensors
from iunet.training import loop
from iunet.training.supernet import SupernetSettings, fit_supernet

REGISTRY = read_registry([Path(__file__).resolve().parents[2] / "config" / "datasets.csv"])
NO_KERNEL = ("empty", "detach", "lift", "alias", "_unsafe_view", "profiler")


class Count(TorchDispatchMode):
    """Operations that would each start a kernel."""

    def __init__(self):
        super().__init__()
        self.operations = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.name()
        self.operations += not function.is_view and not any(word in name for word in NO_KERNEL)
        return function(*args, **(kwargs or {}))


def operations_of_a_step(monkeypatch, objective: str, depth: int, words: int) -> int:
    """Of a supernet of a table with so many columns of words, in the loop that trains it."""
    counts, batches = [], loop.batches

    def counted(*arguments):
        for rows in batches(*arguments):
            with Count() as count:
                yield rows
            counts.append(count.operations)

    monkeypatch.setattr(loop, "batches", counted)
    part = Part(torch.arange(240.0).reshape(24, 10) % 3, torch.arange(24) % 3)
    numbers = [Numeric(f"x{i}", 0.0, 0.0, 1.0) for i in range(10 - words)]
    one_hot = [Categorical(f"c{i}", ["a", "b", "d"], False) for i in range(words)]
    preprocessing = {"kind": "tabular", **Preprocessing(numbers, one_hot, []).to_json()}
    inputs = make_inputs(preprocessing, torch.device("cpu"), {"corruption": 0.6}, part)
    options = {"width": 8, "depth": depth}
    spec = NetworkSpec("mlp_tab", 3, n_inputs=10 + 2 * words, options=options)
    network = build_network(spec)
    lasso = {"l1": 1e-4, "beta": 50} if objective == "lasso" else {"momentum": 0.9}
    settings = SupernetSettings(0.25, objective, 1, 8, lr=0.01, seed=0, weight=1.0, **lasso)
    fit_supernet(network, state_tensors(network), TrainingData(part, inputs, None), settings)
    monkeypatch.undo()
    return counts[1]  # the first sets up the optimiser


@pytest.mark.parametrize("objective", [*OBJECTIVES, LASSO])
@pytest.mark.parametrize("depth", [3, 9])
def test_kernels_of_a_step_are_counted_right(monkeypatch, objective, depth):
    """A table of numbers has the fewest, one with words some more; the estimate lies between."""
    few, many = (operations_of_a_step(monkeypatch, objective, depth, words) for words in (0, 1))
    if objective == "lasso":  # on a GPU three of a layer's four are one kernel of all layers
        few, many = few - 3 * depth, many - 3 * depth
    size = network_entry("mlp_tab").size({"width": 8, "depth": depth}, Data(24, 0, 0, 10, 3))
    assert size.layers == depth + 1
    assert few - 1 <= kernels(size.layers, objective_entry(objective)) <= many


def test_a_small_network_costs_its_launches_on_a_gpu():
    data = Data(12_800, 100, 100, 20, 2)
    small, deep = (
        network_entry("mlp_tab").size({"width": 8, "depth": depth}, data) for depth in (4, 9)
    )
    epochs, start_s = resources.Epochs(100, 128), resources.SPEEDS["cuda"].start_s
    costs = [
        resources.training_cost(data, size, epochs, OBJECTIVES[name], "cuda").seconds - start_s
        for size, name in ((small, "sup"), (deep, "sup"), (deep, "ilo"))
    ]
    assert costs == sorted(costs) and costs[2] > 1.9 * costs[1]


def test_subsets_of_a_mirror_count_with_their_own_size(tmp_path):
    for kind, head, row in (
        ("vision", "name,file,sha256,n_train,n_test", "cifar10,c.npz,0,10000,3000"),
        ("tabular", "name,file,sha256,n_rows", "vehicle,v.parquet,0,100"),
    ):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "index.csv").write_text(f"{head}\n{row}\n")
    images = data_size(REGISTRY["cifar10"], "", str(tmp_path))
    assert (images.n_train, images.n_valid, images.n_test) == (8_000, 2_000, 3_000)
    table = data_size(REGISTRY["vehicle"], "", str(tmp_path))
    assert (table.n_train, table.n_valid, table.n_test) == (60, 20, 20)
    assert data_size(REGISTRY["kc1"], "", str(tmp_path)) == data_size(REGISTRY["kc1"], "")
    assert data_size(REGISTRY["cifar10"], "").n_train == 40_000
