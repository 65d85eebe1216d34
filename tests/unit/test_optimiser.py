"""Fused SGD against the plain one, with and without steps that a GradScaler skips."""

from __future__ import annotations

import pytest
import torch

from iunet.networks.network import NetworkSpec, build_network
from iunet.training.finetune import FinetuneSettings
from iunet.training.finetune import make_optimiser as finetune_optimiser
from iunet.training.supernet import SupernetSettings
from iunet.training.supernet import make_optimiser as supernet_optimiser
from iunet.training.support.checkpoint import optimiser_tensors, restore_optimiser

NETWORK = NetworkSpec(
    "mlp_tab", 3, n_inputs=7, options={"width": 33, "depth": 2}
)  # 33: no multiple of a vector
STEPS = 12
LR = 0.125


def network():
    torch.manual_seed(0)
    return build_network(NETWORK)


def supernet(of, momentum=0.9, nesterov=True):
    settings = SupernetSettings(0.25, "sup", 1, 8, LR, 0, momentum=momentum, nesterov=nesterov)
    return supernet_optimiser(of, settings)


def finetune(of, momentum=0.9, nesterov=True):
    settings = FinetuneSettings("sgd", LR, 8, 0, momentum=momentum, nesterov=nesterov)
    return finetune_optimiser(of, settings)


def torchs_fused(of, momentum=0.9, nesterov=True):
    return torch.optim.SGD(of.parameters(), LR, momentum, nesterov=nesterov, fused=True)


def plain(of, momentum=0.9, nesterov=True):
    return torch.optim.SGD(of.parameters(), LR, momentum, nesterov=nesterov, foreach=False)


def weights_after(make, overflows=(), scaled=True, resume_after=None, **settings) -> torch.Tensor:
    """All weights after some steps, of which some have an infinite gradient and are skipped."""
    trained = network()
    optimiser = make(trained, **settings)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16, enabled=scaled)
    draws = torch.Generator().manual_seed(1)
    for step in range(STEPS):
        x = torch.randn(8, NETWORK.n_inputs, generator=draws)
        loss = torch.nn.functional.cross_entropy(trained(x), torch.arange(8) % 3)
        optimiser.zero_grad()
        scaler.scale(loss).backward()
        if step in overflows:
            trained.encoder[0].weight.grad[0, 0] = float("inf")
        scaler.step(optimiser)
        scaler.update()
        if step == resume_after:
            saved = {name: tensor.clone() for name, tensor in optimiser_tensors(optimiser).items()}
            optimiser = make(trained, **settings)
            restore_optimiser(optimiser, saved)
    return torch.cat([parameter.detach().flatten() for parameter in trained.parameters()])


@pytest.fixture(autouse=True)
def memory_holds_garbage(monkeypatch):
    """What `empty_like` returns is what memory held; here always the worst."""

    def garbage(like, **options):
        return torch.full_like(like, 1e30, **options)

    monkeypatch.setattr(torch, "empty_like", garbage)


@pytest.mark.parametrize("make", [supernet, finetune])
@pytest.mark.parametrize("nesterov", [True, False])
def test_ordinary_training_is_unchanged(make, nesterov):
    ours = weights_after(make, scaled=False, nesterov=nesterov)
    assert torch.equal(ours, weights_after(torchs_fused, scaled=False, nesterov=nesterov))


@pytest.mark.parametrize("make", [supernet, finetune])
@pytest.mark.parametrize("nesterov", [True, False])
@pytest.mark.parametrize(
    "overflows", [(), (0,), (4,), (0, 1, 2, 5, 6, 9)], ids=["none", "first", "later", "many"]
)
def test_skipped_steps_leave_no_trace(make, nesterov, overflows):
    """Against plain SGD. The fused one rounds once where that rounds twice, except by powers of 2.

    So the bits are compared with momentum 0.5, and the values with 0.9.
    """
    ours, theirs = (
        weights_after(m, overflows, momentum=0.5, nesterov=nesterov) for m in (make, plain)
    )
    assert torch.equal(ours, theirs)
    ours, theirs = (weights_after(m, overflows, nesterov=nesterov) for m in (make, plain))
    assert torch.allclose(ours, theirs, rtol=0, atol=1e-6)


def test_torchs_own_would_keep_the_garbage():
    """The reason of it all; once torch sets the momentum itself, `fused_sgd` can go."""
    assert weights_after(torchs_fused, (0,)).abs().max() > 1e20


@pytest.mark.parametrize("make", [supernet, finetune])
@pytest.mark.parametrize("resume_after", [0, 5])
def test_a_resumed_training_ends_with_the_same_bits(make, resume_after):
    whole = weights_after(make, overflows=(0, 7))
    assert torch.equal(whole, weights_after(make, (0, 7), resume_after=resume_after))


def test_without_momentum_nothing_is_kept():
    assert optimiser_tensors(supernet(network(), momentum=0.0, nesterov=False)) == {}
