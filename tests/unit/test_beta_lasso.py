"""β-LASSO: its step, its failures, and that the common stages pass them on."""

from __future__ import annotations

import pytest
import torch
from toy_run import Toy

from iunet.artifacts import read_arrays, read_json
from iunet.method.beta_lasso import BetaLasso, cosine_to_zero

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
