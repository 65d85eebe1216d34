"""β-LASSO: its step, its failures, and that the common stages pass them on."""

from __future__ import annotations

import pytest
import torch
from toy_run import NETWORK, SUPERNET, Toy

from iunet.artifacts import read_arrays, read_json
from iunet.method import beta_lasso
from iunet.method.beta_lasso import BetaLasso, cosine_to_zero
from iunet.networks.network import NetworkSpec, build_network, encoder_weights
from iunet.training.supernet import SupernetSettings, make_optimiser

LASSO = {"objective": "lasso", "l1": 1e-3, "beta": 50, "lr": 0.1, "weight": 0.0}
LASSO |= {"momentum": 0.0, "nesterov": False}


def test_the_step_is_the_formula():
    """Against the two lines of the paper, written out entry by entry."""
    generator = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    weight, bias = torch.nn.Parameter(draw(5, 4)), torch.nn.Parameter(draw(5))
    weight.data[0, 0] = 0.0
    before = weight.detach().clone(), bias.detach().clone()
    weight.grad, bias.grad = draw(5, 4), draw(5)
    l1, lr, beta = 0.01, 0.1, 50
    BetaLasso([weight, bias], [weight], lr=lr, l1=l1, beta=beta).step()
    for after, old, thresholded in ((weight, before[0], True), (bias, before[1], False)):
        for new, value, gradient in zip(
            after.flatten(), old.flatten(), after.grad.flatten(), strict=True
        ):
            sign = (value > 0).float() - (value < 0).float()
            expected = value - lr * (gradient + l1 * sign)
            if thresholded and abs(expected) < beta * l1:
                expected = torch.tensor(0.0)
            assert torch.allclose(new, expected, atol=1e-7)
    assert (weight == 0).any() and (weight != 0).any()


def obvious_step(parameters, thresholded, lr, l1, beta) -> None:
    """The formula, tensor by tensor."""
    with torch.no_grad():
        for parameter in parameters:
            parameter.add_(l1 * torch.sign(parameter) + parameter.grad, alpha=-lr)
        for weight in thresholded:
            weight[weight.abs() < beta * l1] = 0.0


@pytest.mark.parametrize("channels_last", [False, True])
def test_many_steps_are_the_formula_bit_by_bit(channels_last, monkeypatch):
    """With tensors of several pieces, with a last piece that is smaller, and with small ones."""
    monkeypatch.setattr(beta_lasso, "PIECE", 1000)
    shapes = [(70, 33), (40, 7, 3, 3), (5,), (3, 70)]

    def parameters():
        generator = torch.Generator().manual_seed(0)
        drawn = [0.01 * torch.randn(*shape, generator=generator) for shape in shapes]
        if channels_last:
            drawn[1] = drawn[1].to(memory_format=torch.channels_last)
        return [torch.nn.Parameter(tensor) for tensor in drawn]

    ours, theirs = parameters(), parameters()
    assert ours[1].is_contiguous() is not channels_last
    optimiser = BetaLasso(ours, ours[:2], lr=0.1, l1=1e-4, beta=50)
    generator = torch.Generator().manual_seed(1)
    for _ in range(10):
        for one, other in zip(ours, theirs, strict=True):
            one.grad = 0.01 * torch.randn(one.shape, generator=generator)
            other.grad = one.grad.clone()
        optimiser.step()
        obvious_step(theirs, theirs[:2], 0.1, 1e-4, 50)
        for one, other in zip(ours, theirs, strict=True):
            assert torch.equal(one, other)
    assert 0.1 < (ours[0] == 0).float().mean() < 0.9
    assert (ours[2] != 0).all()


@pytest.mark.parametrize("l1", [1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 0.0])
def test_a_weight_at_the_threshold_stays(l1):
    """|θ| < β · l1 becomes zero, and nothing else: the neighbours of the bound, and the bound."""
    bound = torch.tensor(50 * l1)
    below, above = (torch.nextafter(bound, torch.tensor(t)) for t in (-1.0, 1.0))
    values = torch.stack([below, bound, above, -below, -bound, -above, 0 * bound])
    weight = torch.nn.Parameter(values.clone())
    weight.grad = -l1 * values.sign()  # no move: only the threshold acts
    BetaLasso([weight], [weight], lr=0.1, l1=l1, beta=50).step()
    assert torch.equal(weight, torch.where(values.abs() < 50 * l1, 0.0, values))
    assert (weight[[1, 4]].abs() == bound).all()


def test_a_weight_that_is_no_number_is_not_hidden():
    weight = torch.nn.Parameter(torch.tensor([float("nan"), 1.0]))
    weight.grad = torch.zeros(2)
    BetaLasso([weight], [weight], lr=0.1, l1=0.001, beta=50).step()
    assert weight.isnan().tolist() == [True, False]


def test_the_threshold_cuts_the_encoder_alone():
    """With one that no weight reaches, the decoder and BatchNorm are as they were."""
    network = build_network(NetworkSpec("mlp_tab", 3, n_inputs=4, options=NETWORK))
    optimiser = make_optimiser(network, SupernetSettings(**SUPERNET | LASSO | {"beta": 1e5}))
    for parameter in network.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    weights = encoder_weights(network)
    assert all((weight == 0).all() for weight in weights.values())
    others = {n: p for n, p in network.named_parameters() if n not in weights and "weight" in n}
    assert "decoder.weight" in others and all((p != 0).all() for p in others.values())


def test_a_weight_at_zero_can_come_back():
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.tensor([-10.0])
    BetaLasso([weight], [weight], lr=0.1, l1=0.001, beta=50).step()
    assert weight.item() == 1.0


def test_the_rate_falls_to_zero():
    rate = cosine_to_zero(0.1, 100)
    assert (rate(0), rate(50), rate(100)) == pytest.approx((0.1, 0.05, 0.0))


@pytest.fixture
def toy(tmp_path) -> Toy:
    toy = Toy(tmp_path / "toy")
    toy.initialise()
    return toy


def stages(toy: Toy) -> tuple[dict, dict, dict]:
    """Prune, fine-tune and evaluate; their reports."""
    toy.prune(None)
    toy.finetune()
    return (
        read_json(toy.path("mask/report")),
        read_json(toy.path("finetune/report")),
        toy.evaluate(),
    )


def test_survivors_are_fine_tuned_and_evaluated(toy):
    toy.supernet(**LASSO)
    weights = read_arrays(toy.path("supernet/weights"))
    report, tuned, subnetwork = stages(toy)
    zeros = sum((weights[layer["weight"]] == 0).sum() for layer in report["layers"])
    assert 0 < zeros == report["encoder_weights"] - report["kept_weights"]
    smallest = min(
        abs(weights[layer["weight"]][weights[layer["weight"]] != 0]).min()
        for layer in report["layers"]
    )
    assert smallest >= 0.05 * (1 - 1e-6)
    assert (subnetwork["stage"], subnetwork["ratio"]) == ("subnetwork", None)
    assert subnetwork["failed"] is None
    assert subnetwork["metrics"]["test_accuracy"] > 60
    assert subnetwork["sizes"]["kept_encoder_weights"] == report["kept_weights"]
    assert tuned["history"][-1]["valid_accuracy"] > 60


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"l1": 10.0}, "every weight died"), ({"lr": 1e30}, "diverged")],
    ids=["dead", "diverged"],
)
def test_a_failed_run_is_reported_by_every_stage(toy, changes, reason):
    toy.supernet(**LASSO | changes)
    report, tuned, evaluated = stages(toy)
    for failed in (report["failed"], tuned["failed"], evaluated["failed"]):
        assert reason in failed
    assert (tuned["history"], evaluated["metrics"], evaluated["consistency"]) == ([], {}, {})
    for name in ("weights", "predictions"):
        assert read_arrays(toy.path(f"finetune/{name}")) == {}
    supernet = toy.evaluate("supernet")
    assert (
        supernet["failed"] is None
        if reason == "every weight died"
        else reason in supernet["failed"]
    )
