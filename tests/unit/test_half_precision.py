"""16-bit fine-tuning, as far as a CPU can do it: there it is switched on by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from toy_run import FINETUNE, Toy, result

from iunet.artifacts import read_arrays
from iunet.method.masks import read_masks
from iunet.networks import batchnorm
from iunet.training import finetune as module
from iunet.training.finetune import FinetuneSettings, in_half_precision
from iunet.training.members import read_members
from iunet.training.support.progress import Progress

SGD = {"optimiser": "sgd", "cycles": 0, "epochs": 4, "momentum": 0.9, "nesterov": True}
SGD |= {"half_precision": True, "weight_decay": 0.0, "lr": 0.05}


@pytest.fixture
def toy(tmp_path):
    torch.set_num_threads(1)
    toy = Toy(tmp_path / "toy")
    toy.initialise()
    toy.supernet(epochs=1)
    toy.prune(4)
    return toy


@pytest.fixture
def half(monkeypatch):
    monkeypatch.setattr(module, "in_half_precision", lambda settings, _: settings.half_precision)


def scale_gradients(monkeypatch, **settings) -> list[torch.amp.GradScaler]:
    """The scalers that are made, with other settings than torch's."""
    original, made = torch.amp.GradScaler, []

    def make(device: str) -> torch.amp.GradScaler:
        made.append(original(device, **settings))
        return made[-1]

    monkeypatch.setattr(module.torch.amp, "GradScaler", make)
    return made


def test_it_is_for_cuda_alone():
    settings = FinetuneSettings(**FINETUNE | {"half_precision": True})
    assert in_half_precision(settings, torch.device("cuda"))
    assert not in_half_precision(settings, torch.device("cpu"))
    assert not in_half_precision(FinetuneSettings(**FINETUNE), torch.device("cuda"))


def test_all_is_in_16_bits_but_batchnorm_and_the_loss(toy, half, monkeypatch):
    """What each layer gets and gives in training; weights, gradients and results have 32 bits."""
    seen: dict[str, set[torch.dtype]] = {}

    def note(name: str, tensor: torch.Tensor) -> None:
        seen.setdefault(name, set()).add(tensor.dtype)

    linear, norm = torch.nn.functional.linear, torch.nn.functional.batch_norm
    loss = module.supervised_loss

    def noted_linear(x, weight, bias=None):
        out = linear(x, weight, bias)
        if torch.is_grad_enabled():  # validation is not in 16 bits
            note("linear", out)
            note("weights", weight)
        return out

    def noted_norm(x, *others, **settings):
        if torch.is_grad_enabled():
            note("batchnorm", x)
        return norm(x, *others, **settings)

    def noted_loss(logits, *others):
        note("loss", logits)
        return loss(logits, *others)

    monkeypatch.setattr(torch.nn.functional, "linear", noted_linear)
    monkeypatch.setattr(batchnorm.F, "batch_norm", noted_norm)
    monkeypatch.setattr(module, "supervised_loss", noted_loss)
    folder = toy.finetune(**SGD)
    assert seen == {
        "linear": {torch.float16},
        "weights": {torch.float32},
        "batchnorm": {torch.float32},
        "loss": {torch.float32},
    }
    arrays = read_arrays(folder / "weights").values()
    assert {a.dtype for a in arrays} == {np.dtype("f4"), np.dtype("i8")}


def test_it_learns_what_32_bits_learn(toy, half, monkeypatch):
    """Nearly the same weights, and no pruned one comes back."""
    scale_gradients(monkeypatch, init_scale=2.0**8)  # from the start, so that no step is skipped
    masks = read_masks(toy.path("mask/mask"), toy.path("mask/report"))
    members = []
    for half_precision in (True, False):
        folder = toy.finetune(f"half{half_precision}", **SGD | {"half_precision": half_precision})
        (member,) = read_members(folder / "weights", masks, torch.device("cpu"))
        members.append(member)
        for name, mask in masks.items():
            assert (member[name].numpy()[~mask] == 0).all()
    ours, theirs = (torch.cat([m[name].flatten() for name in masks]) for m in members)
    assert not torch.equal(ours, theirs)
    assert (ours - theirs).norm() < 0.02 * theirs.norm()


def test_steps_that_16_bits_cannot_hold_are_skipped(toy, half, monkeypatch):
    """With a scale that is far too large, all of them; and each lowers it."""
    scalers = scale_gradients(monkeypatch, init_scale=2.0**120)
    folder = toy.finetune(**SGD)
    steps = 7 * len(json.loads((folder / "report").read_text())["history"])
    masks = read_masks(toy.path("mask/mask"), toy.path("mask/report"))
    (member,) = read_members(folder / "weights", masks, torch.device("cpu"))
    initial = read_arrays(toy.path("initial/weights"))
    for name, mask in masks.items():
        assert np.array_equal(member[name].numpy(), initial[name] * mask)
    (scaler,) = scalers
    assert scaler.get_scale() == 2.0 ** (120 - steps)


def test_a_resumed_run_ends_with_the_same_bytes(toy, half, monkeypatch):
    """The scale grows on the way, so a resumed run that forgets it would round differently."""
    scale_gradients(monkeypatch, init_scale=2.0**22, growth_interval=3)
    whole = result(toy.finetune("whole", **SGD))
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        epoch, done = Progress.epoch, []

        def interrupted(*arguments):
            epoch(*arguments)
            done.append(1)
            if len(done) == 3:
                raise KeyboardInterrupt

        patch.setattr(Progress, "epoch", interrupted)
        toy.finetune("resumed", **SGD)
    assert result(toy.finetune("resumed", **SGD)) == whole
