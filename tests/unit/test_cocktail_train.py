"""Fitting MLP+C: members, determinism, checkpoints, odd data, and what a fit leaves behind."""

from __future__ import annotations

import gc
import logging
import weakref
from dataclasses import dataclass

import pytest
import torch
from test_training import interrupt_after
from torch import nn

from iunet.baselines.cocktail import train as module
from iunet.baselines.cocktail.settings import Cocktail
from iunet.baselines.cocktail.train import Model, fit
from iunet.data.load import Part, TabularInputs
from iunet.data.preprocess import Categorical, Numeric, Preprocessing
from iunet.errors import UserError
from iunet.scoring.prediction import predict
from iunet.training.loop import Trained
from iunet.training.support.checkpoint import Checkpoint

CPU = torch.device("cpu")
SMALL = {"width": 16, "batch_size": 16, "first_cycle_epochs": 2, "lr": 0.01}
STRONG = {
    "batch_norm": True,
    "weight_decay": 0.01,
    "dropout": 0.3,
    "dropout_shape": "triangle",
    "snapshot_ensemble": True,
    "swa": True,
    "lookahead": True,
    "lookahead_steps": 5,
    "skip_connection": True,
}
AUGMENTED = {
    "mixup": {"augmentation": "mixup", "mixup_alpha": 0.4},
    "cutmix": {"augmentation": "cutmix", "cutmix_probability": 0.5},
    "cutout": {"augmentation": "cutout", "cutout_probability": 0.5, "cutout_ratio": 0.3},
    "fgsm": {"augmentation": "fgsm"},
}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@dataclass
class Fitted:
    model: Model
    trained: Trained
    valid_probabilities: torch.Tensor


class Table:
    """Gaussian clouds in three numeric columns, and a categorical one of three levels."""

    def __init__(self, n_train: int = 100, n_classes: int = 3, n_seen: int | None = None):
        rng = torch.Generator().manual_seed(0)
        centres = 2 * torch.randn(n_classes, 3, generator=rng)
        self.n_classes = n_classes

        def part(n: int, classes: int) -> Part:
            labels = torch.arange(n) % classes
            numeric = centres[labels] + torch.randn(n, 3, generator=rng)
            codes = torch.randint(3, (n, 1), generator=rng).float()
            return Part(torch.cat([numeric, codes], dim=1), labels)

        self.train, self.valid = part(n_train, n_seen or n_classes), part(40, n_classes)
        columns = [Numeric(f"x{i}", 0.0, 0.0, 1.0) for i in range(3)]
        fitted = Preprocessing(columns, [Categorical("c", ["a", "b", "c"])], [])
        self.prepare = TabularInputs(fitted.to_json(), CPU)

    def fit(self, seed: int = 0, checkpoint: Checkpoint | None = None, **changes):
        cocktail = Cocktail(**SMALL | changes)
        parts = self.train, self.prepare
        model, trained = fit(cocktail, *parts, self.n_classes, seed, "toy/mlp_c", checkpoint)
        return Fitted(model, trained, model.probabilities(self.prepare, self.valid))


@pytest.fixture(scope="module")
def table():
    return Table()


def equal(one, two) -> bool:
    """The same bits in all members, the history and the predictions."""
    a, b = one.model.members, two.model.members
    return (
        len(a) == len(b)
        and all(m.keys() == n.keys() for m, n in zip(a, b, strict=True))
        and all(torch.equal(m[k], n[k]) for m, n in zip(a, b, strict=True) for k in m)
        and one.trained.history == two.trained.history
        and torch.equal(one.valid_probabilities, two.valid_probabilities)
    )


# ---- results


def softmax_of(state, cocktail, table):
    network = module.CocktailNetwork(cocktail, 6, 3, None)
    network.load_state_dict(state)
    return predict(network, table.prepare, table.valid).softmax(dim=1)


@pytest.mark.parametrize("batch_norm", [False, True])
def test_members_of_snapshots_and_averages(table, batch_norm):
    """The same training, with different networks kept of it."""
    shared = {"batch_norm": batch_norm, "first_cycle_epochs": 1}
    last = table.fit(**shared).model.members
    ends = table.fit(snapshot_ensemble=True, **shared)
    swa = table.fit(swa=True, **shared).model.members
    both = table.fit(snapshot_ensemble=True, swa=True, **shared).model.members
    assert [len(m) for m in (last, ends.model.members, swa, both)] == [1, 3, 1, 3]
    states = ends.model.members
    first_cycle = table.fit(cycles=1, **shared).model.members
    for name, tensor in last[0].items():
        assert torch.equal(tensor, states[2][name])
        assert torch.equal(first_cycle[0][name], states[0][name])
        assert torch.equal(both[0][name], states[0][name])
        assert torch.equal(both[1][name], states[1][name])
        assert torch.equal(both[2][name], swa[0][name])
        if tensor.is_floating_point() and "running" not in name:
            mean = (states[0][name] + states[1][name] + states[2][name]) / 3
            torch.testing.assert_close(swa[0][name], mean)
    cocktail = ends.model.cocktail
    mean = sum(softmax_of(state, cocktail, table) for state in states) / 3
    torch.testing.assert_close(ends.valid_probabilities, mean)


def test_batchnorm_of_the_average_is_estimated_anew(table):
    (state,) = table.fit(swa=True, batch_norm=True).model.members
    x = table.prepare.prepare(table.train.raw)
    h = nn.functional.linear(x, state["first.weight"], state["first.bias"])
    found = state["blocks.0.layers.0.running_mean"], state["blocks.0.layers.0.running_var"]
    torch.testing.assert_close(found[0], h.mean(dim=0), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found[1], h.var(dim=0), atol=1e-5, rtol=1e-4)


# ---- odd data


@pytest.mark.parametrize(
    ("shape", "changes", "augmentation"),
    [
        ({"n_train": 5}, {"batch_size": 128}, "mixup"),
        ({"n_train": 17}, {}, "fgsm"),
        ({"n_train": 30, "n_seen": 2}, {}, "mixup"),
        ({"n_train": 20, "n_classes": 1}, {}, "fgsm"),
    ],
    ids=["few rows", "batch of one", "unseen class", "one class"],
)
def test_odd_data_train(shape, changes, augmentation):
    fitted = Table(**shape).fit(**STRONG, **AUGMENTED[augmentation], **changes, cycles=2)
    assert torch.isfinite(fitted.valid_probabilities).all()


def test_divergence_names_the_run(table):
    with pytest.raises(UserError, match="Run toy/mlp_c diverged: in epoch"):
        table.fit(lr=1e30)


# ---- determinism


@pytest.mark.parametrize(
    ("augmentation", "branch"),
    [
        ("mixup", "none"),
        ("cutmix", "shake_shake"),
        ("cutout", "shake_drop"),
        ("fgsm", "shake_shake"),
    ],
)
def test_everything_at_once_trains_and_a_resumed_fit_ends_with_the_same_bits(
    table, tmp_path, augmentation, branch
):
    # One end of a cycle (epoch 2) lies before the interruptions, and Lookahead's counter within k.
    changes = STRONG | AUGMENTED[augmentation] | {"branch": branch, "cycles": 2}
    whole = table.fit(**changes)
    assert len(whole.model.members) == 2 and whole.model.n_inputs == 6
    for member in whole.model.members:
        assert all(torch.isfinite(tensor.double()).all() for tensor in member.values())
    torch.testing.assert_close(whole.valid_probabilities.sum(dim=1), torch.ones(40))
    assert [set(entry) for entry in whole.trained.history] == [{"epoch", "loss"}] * 6
    assert whole.trained.history[-1]["loss"] < whole.trained.history[0]["loss"]
    assert whole.trained.resumed_at == [] and whole.trained.seconds > 0
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", {"run": "toy"}, every_s=0)
    for epochs in (2, 1):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            interrupt_after(patch, epochs)
            table.fit(checkpoint=checkpoint, **changes)
    resumed = table.fit(checkpoint=checkpoint, **changes)
    assert resumed.trained.resumed_at == [3, 4]
    assert equal(resumed, whole)


def test_same_seed_same_bits_whatever_the_global_generator(table):
    changes = STRONG | AUGMENTED["mixup"] | {"branch": "shake_drop", "cycles": 1}
    torch.manual_seed(1)
    one = table.fit(**changes)
    torch.manual_seed(2)
    state = torch.get_rng_state()
    two = table.fit(**changes)
    assert torch.equal(torch.get_rng_state(), state)
    assert equal(one, two)
    assert not equal(one, table.fit(seed=1, **changes))


def test_regularisers_do_not_disturb_each_others_draws(table):
    """The initial weights and the order of rows are those of the plain network."""
    plain = module.initial_network(Cocktail(**SMALL), 6, 3, 0, None)
    dropped = module.initial_network(Cocktail(dropout=0.5, **SMALL), 6, 3, 0, None)
    assert torch.equal(plain.first.weight, dropped.first.weight)
    assert torch.equal(plain.last[1].weight, dropped.last[1].weight)
    # Augmentation that does nothing draws, and changes nothing.
    idle = table.fit(augmentation="cutout", cutout_probability=0.0, cycles=1)
    assert equal(idle, table.fit(cycles=1))


# ---- what a fit leaves behind


def test_a_fit_frees_its_network(table, monkeypatch):
    networks = []

    def remembered(*arguments):
        network = original(*arguments)
        networks.append(weakref.ref(network))
        return network

    original = module.initial_network
    monkeypatch.setattr(module, "initial_network", remembered)
    gc.collect()
    gc.disable()  # nothing may need the collector: large networks would wait for it
    try:
        table.fit(**STRONG, branch="shake_shake", **AUGMENTED["fgsm"], cycles=1)
        assert len(networks) == 1 and networks[0]() is None
    finally:
        gc.enable()


def test_epoch_lines_can_be_switched_off(table, caplog):
    parts = table.train, table.prepare
    with caplog.at_level(logging.INFO):
        fit(Cocktail(cycles=1, **SMALL), *parts, 3, 0, "toy", quiet=True)
        assert not caplog.messages
        table.fit(cycles=1)
    assert caplog.messages[-1].startswith("epoch 2/2  loss ")
    assert "valid" not in caplog.messages[-1] and "()" not in caplog.messages[-1]
