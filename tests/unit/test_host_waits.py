"""No training step makes the host wait for the device, or copies between them.

No GPU is needed for that: on a CPU a guard sees every operation of a step, and refuses those that
would wait on CUDA. What happens once per epoch (reading the loss) is outside of a step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from iunet.baselines import tabnet
from iunet.baselines.cocktail.settings import Cocktail
from iunet.baselines.cocktail.train import fit
from iunet.baselines.tabnet import TabNetLogits
from iunet.data.load import Part, TrainingData, make_inputs
from iunet.data.preprocess import Categorical, Numeric, Preprocessing
from iunet.networks.network import NetworkSpec, build_network, encoder_weights, state_tensors
from iunet.training import loop
from iunet.training.decoder import fit_decoder
from iunet.training.finetune import FinetuneSettings, fit_subnetwork
from iunet.training.loop import stream
from iunet.training.supernet import SupernetSettings, fit_supernet

CPU = torch.device("cpu")
# Operations whose result the host must know: a number, or how many rows there will be.
READ = ("_local_scalar_dense", "nonzero", "masked_select", "unique", "is_nonzero", "equal.default")
# Functions that move data between host and device. On a CPU they may be no operation at all.
MOVE = ("tensor", "as_tensor", "from_numpy", "cpu", "cuda", "numpy", "tolist", "asarray")


class HostWait(AssertionError):
    pass


class Operations(TorchDispatchMode):
    """Refuses to read a tensor, but for those that lie on the host, and their parts."""

    def __init__(self, on_host: list[torch.Tensor]):
        super().__init__()
        self.on_host = {_memory(tensor) for tensor in on_host}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.name().removeprefix("aten::")
        if name.startswith(READ) and _memory(args[0]) not in self.on_host:
            raise HostWait(f"{name} waits for the device")
        by_mask = name.startswith(("index", "_index_put")) and any(
            isinstance(place, torch.Tensor) and place.dtype == torch.bool for place in args[1]
        )
        # One number in place of all that a mask picks is a masked_fill: its size need not be known.
        if by_mask and not (name.startswith("index_put") and args[2].numel() == 1):
            raise HostWait(f"{name} by a mask waits for the device, to know its size")
        return function(*args, **(kwargs or {}))


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


class Functions(TorchFunctionMode):
    """Refuses to move data: tensors made of Python's numbers, `.to(device)`, `.cpu()`, …"""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name in MOVE or _is_move(name, args, kwargs or {}):
            raise HostWait(f"{name} copies between host and device")
        return function(*args, **(kwargs or {}))


def _is_move(name: str, args: tuple, kwargs: dict) -> bool:
    """Whether it is `.to` with a device, and not with another type of numbers alone."""
    given = [*args[1:], *kwargs.values()]
    return name == "to" and any(isinstance(g, str | torch.device) for g in given)


@contextlib.contextmanager
def guard(optimiser: torch.optim.Optimizer, network: nn.Module | None = None) -> Iterator[None]:
    """Around a step. Adam's steps lie on the host, unless it is fused; and so do tensors that are
    neither parameters nor buffers of a network (TabNet's list of continuous columns)."""
    fused = optimiser.defaults.get("fused")
    on_host = [s["step"] for s in optimiser.state.values() if "step" in s and not fused]
    for module in network.modules() if network is not None else ():
        on_host += [value for value in vars(module).values() if isinstance(value, torch.Tensor)]
    with Functions(), Operations(on_host):
        yield


@pytest.fixture
def guarded(monkeypatch) -> dict[str, int]:
    """Guards the body of the loop, from the second step: the first sets up the optimiser."""
    counted = {"steps": 0}
    batches, train_epoch = loop.batches, loop._train_epoch
    current: dict[str, Any] = {}

    def guarded_batches(*arguments):
        for rows in batches(*arguments):
            if current["begun"]:
                with guard(current["training"].optimiser, current["training"].network):
                    yield rows
                counted["steps"] += 1
            else:
                yield rows
            current["begun"] = True

    def remember(training, *arguments):
        if training is not current.get("training"):
            current.update(training=training, begun=False)
        return train_epoch(training, *arguments)

    monkeypatch.setattr(loop, "batches", guarded_batches)
    monkeypatch.setattr(loop, "_train_epoch", remember)
    return counted


def table() -> TrainingData:
    """Two numeric columns and a categorical one with a level that train never had."""
    generator = torch.Generator().manual_seed(0)
    numeric = torch.randn(40, 2, generator=generator)
    codes = torch.arange(40).remainder(4)[:, None] - 1
    part = Part(torch.cat([numeric, codes.float()], dim=1), torch.arange(40) % 3)
    columns = [Numeric(f"x{i}", 0.0, 0.0, 1.0) for i in range(2)]
    fitted = Preprocessing(columns, [Categorical("c", ["a", "b", "d"], False)], []).to_json()
    preprocessing = {"kind": "tabular", **fitted}
    return TrainingData(part, make_inputs(preprocessing, CPU, {"corruption": 0.6}, part), part)


def images() -> TrainingData:
    generator = torch.Generator().manual_seed(0)
    raw = torch.randint(0, 256, (24, 3, 16, 16), generator=generator, dtype=torch.uint8)
    part = Part(raw, torch.arange(24) % 3)
    augment = {
        "resize": {"scale": [0.08, 1.0], "ratio": [0.75, 1.3333333333333333]},
        "horiz": {"p": 0.5},
        "color": {"p": 0.8, "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1},
        "graysc": {"p": 0.2},
    }
    preprocessing = {"kind": "vision", "mean": [0.5] * 3, "std": [0.2] * 3}
    return TrainingData(part, make_inputs(preprocessing, CPU, augment, part), part)


def network_for(data: TrainingData):
    if data.train.raw.ndim == 2:
        return build_network(NetworkSpec("mlp_tab", 3, n_inputs=5, options=SMALL))
    return build_network(NetworkSpec("cnn", 3, side=16, options={"alpha": 1}))


SMALL = {"width": 8, "depth": 2}
SGD = {"lr": 0.01, "batch_size": 8, "seed": 0, "momentum": 0.9, "nesterov": True}


# ---- the guard itself


@pytest.mark.parametrize(
    "wait",
    [
        lambda x: x.sum().item(),
        lambda x: float(x.sum()),
        lambda x: bool(x.sum() > 0),
        lambda x: x[x > 0],
        lambda x: x.nonzero(),
        lambda x: torch.tensor(0.5, device=x.device),
        lambda x: x.to("cpu"),
        lambda x: x.cpu(),
        lambda x: x.tolist(),
    ],
)
def test_the_guard_refuses_what_waits(wait):
    optimiser = torch.optim.SGD([torch.ones(1)], lr=0.1)
    with pytest.raises(HostWait), guard(optimiser):
        wait(torch.ones(3))
    with guard(optimiser):
        torch.ones(3).mul(2).sum().to(torch.float64)


# ---- the steps


@pytest.mark.parametrize(
    ("make", "objective"),
    [(table, "sup"), (table, "scl"), (table, "ilo"), (table, "lasso"), (images, "ilo")],
)
def test_supernets(guarded, make, objective):
    data = make()
    network = network_for(data)
    lasso = {"momentum": 0.0, "nesterov": False, "l1": 1e-4, "beta": 50}
    settings = SupernetSettings(
        kappa=0.25, objective=objective, epochs=2, weight=1.0,
        **(SGD | lasso if objective == "lasso" else SGD),
    )  # fmt: skip
    fit_supernet(network, state_tensors(network), data, settings)
    assert guarded["steps"] >= 5


@pytest.mark.parametrize(
    ("optimiser", "class_weights"), [("sgd", "balanced"), ("adamw", "unweighted")]
)
def test_fine_tunings(guarded, optimiser, class_weights):
    data = table()
    network = network_for(data)
    masks = {name: (w > 0).float() for name, w in encoder_weights(network).items()}
    sgd = SGD if optimiser == "sgd" else {"lr": 0.01, "batch_size": 8, "seed": 0}
    cycles = {"epochs": 2} if optimiser == "sgd" else {"first_cycle_epochs": 1, "cycles": 2}
    settings = FinetuneSettings(optimiser=optimiser, class_weights=class_weights, **sgd, **cycles)
    start = {name: tensor.clone() for name, tensor in state_tensors(network).items()}
    fit_subnetwork(network, start, masks, data, settings)
    assert guarded["steps"] >= 5


def test_decoders(guarded):
    data = table()
    network = network_for(data)
    settings = FinetuneSettings(optimiser="sgd", epochs=2, **SGD)
    fit_decoder(network, state_tensors(network), data, settings)
    assert guarded["steps"] >= 5


@pytest.mark.parametrize(
    ("augmentation", "branch"),
    [
        ("none", "none"),
        ("mixup", "shake_shake"),
        ("cutmix", "shake_drop"),
        ("cutout", "none"),
        ("fgsm", "none"),
    ],
)
def test_cocktails(guarded, augmentation, branch):
    data = table()
    cocktail = Cocktail(
        batch_norm=True, weight_decay=0.01, dropout=0.5, snapshot_ensemble=True, swa=True,
        lookahead=True, lookahead_steps=5, skip_connection=True, branch=branch,
        augmentation=augmentation, width=8, batch_size=8, first_cycle_epochs=1, cycles=2,
    )  # fmt: skip
    fit(cocktail, data.train, data.inputs, 3, 0, "toy", quiet=True)
    assert guarded["steps"] >= 5


def test_tabnet(guarded, monkeypatch):
    """Its library makes constants (1 and 0.5) on the host and moves them: those, and no more."""
    moved = []

    class Counting(Functions):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            if _is_move(getattr(function, "__name__", ""), args, kwargs or {}):
                moved.append(args[0])
                return function(*args, **(kwargs or {}))
            return super().__torch_function__(function, types, args, kwargs)

    monkeypatch.setattr("test_host_waits.Functions", Counting)
    data = table()
    inputs = tabnet.EmbeddedInputs(2)
    network = TabNetLogits(
        tabnet.TabNet(3, 3, n_steps=3, cat_idxs=[2], cat_dims=[5], cat_emb_dim=[1],
                      virtual_batch_size=8, group_attention_matrix=torch.eye(3))
    )  # fmt: skip

    def loss(rows):
        logits, sparsity = network.with_sparsity(inputs.prepare(data.train.raw[rows]))
        return torch.nn.functional.cross_entropy(logits, data.train.labels[rows]) - sparsity, {}

    adam = tabnet.ClippedAdam(network.parameters(), lr=0.01)
    order = {"order": stream(0, "tabnet/order", CPU)}
    loop.train(loop.Training("toy", network, adam, 2, 16, 40, loss, None, order))
    assert guarded["steps"] >= 3
    # A norm of gradients is moved to the device on which it is: no copy.
    constants = [tensor for tensor in moved if tensor.ndim > 0]
    assert constants and all(((t == 1) | (t == 0.5)).all() for t in constants)
