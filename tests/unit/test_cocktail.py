"""MLP+C's network and regularisers, each against a plain version of what it should do."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy import stats
from torch import nn

from iunet.baselines.cocktail import augmenters
from iunet.baselines.cocktail.network import CocktailNetwork, Dropout, ShakeDrop, ShakeShake
from iunet.baselines.cocktail.optimisers import Lookahead, average_weights, make_optimiser
from iunet.baselines.cocktail.settings import DROPOUT_SHAPES, Cocktail


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)  # the layers and inputs that the tests make


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# ---- the network


def layer_names(module: nn.Module) -> list[str]:
    leaves = [m for m in module.modules() if not list(m.children())]
    return [type(m).__name__.replace("BatchNorm1d", "BN") for m in leaves]


@pytest.mark.parametrize("batch_norm", [False, True])
@pytest.mark.parametrize("dropout", [None, 0.4])
def test_network_is_that_of_the_spec(batch_norm, dropout):
    network = CocktailNetwork(Cocktail(batch_norm=batch_norm, dropout=dropout), 7, 3, generator())
    activation = ["BN", "ReLU"] if batch_norm else ["ReLU"]
    drop = [] if dropout is None else ["Dropout"]
    block = [*activation, "Linear", *activation, *drop, "Linear"]
    assert layer_names(network) == ["Linear", *4 * block, *activation, "Linear"]
    linears = [m for m in network.modules() if isinstance(m, nn.Linear)]
    shapes = [(linear.in_features, linear.out_features) for linear in linears]
    assert shapes == [(7, 512), *8 * [(512, 512)], (512, 3)]
    assert all(linear.bias is not None for linear in linears)
    norms = [m for m in network.modules() if isinstance(m, nn.BatchNorm1d)]
    assert [norm.num_features for norm in norms] == [512] * (9 if batch_norm else 0)


def plain_block(layers: nn.Sequential, x):
    for layer in layers:
        x = layer(x)
    return x


@pytest.mark.parametrize("skip", [False, True])
def test_skip_connection_adds_the_input(skip):
    network = CocktailNetwork(Cocktail(skip_connection=skip, width=8), 5, 3, None)
    x = torch.randn(6, 5)
    h = network.first(x)
    for block in network.blocks:
        h = plain_block(block.layers, h) + (h if skip else 0)
    assert torch.equal(network(x), network.last[1](h.relu()))


def test_branches_are_two_sets_of_layers_or_one():
    def count(**changes):
        network = CocktailNetwork(Cocktail(skip_connection=True, **changes), 7, 3, generator())
        return layer_names(network).count("Linear")

    assert count() == 10 and count(branch="shake_drop") == 10 and count(branch="shake_shake") == 18


def test_everything_is_off_by_default():
    plain = Cocktail()
    assert not any((plain.batch_norm, plain.snapshot_ensemble, plain.swa, plain.lookahead))
    assert not plain.skip_connection and plain.weight_decay is None and plain.dropout is None
    assert plain.branch == plain.augmentation == "none"
    optimiser = make_optimiser(nn.Linear(2, 2), plain)
    assert type(optimiser) is torch.optim.AdamW
    assert optimiser.defaults["lr"] == 1e-3 and optimiser.defaults["weight_decay"] == 0


def test_weight_decay_acts_on_all_parameters():
    network = CocktailNetwork(Cocktail(batch_norm=True, width=4), 3, 2, None)
    optimiser = make_optimiser(network, Cocktail(weight_decay=0.03))
    (group,) = optimiser.param_groups
    assert group["weight_decay"] == 0.03 and len(group["params"]) == len([*network.parameters()])


# ---- dropout


def widths(shape: str, low: float, end: float, top: float, n: int) -> list[float]:
    """The shapes of layer widths as Talos and the original define them, with fractional steps."""
    if n <= 0:
        return []
    if n == 1:
        return [end]
    if shape == "brick":
        return [top] * (n - 1) + [end]
    if shape == "triangle":
        step = (top - low) / (n - 1)
        return [low + step * (i + 1) for i in range(n - 2)] + [top, end]
    if shape == "funnel":
        step = (top - end) / (n - 1)
        return [top - step * i for i in range(n - 1)] + [end]
    if shape == "long_funnel":
        half = n // 2
        return widths("brick", low, top, top, half) + widths("funnel", low, end, top, n - half)
    if shape == "diamond":
        up = widths("triangle", low, top, top, n // 2 + 1)[:-2]
        return up + widths("funnel", top, end, top, n - len(up))
    if shape == "hexagon":
        side = n // 3 + 1
        up = widths("triangle", low, top, top, side)
        flat = widths("brick", top, top, top, n - 2 * side)
        return up + flat + widths("funnel", top, end, top, side)
    steps = [top] * (2 if n % 2 else 1)
    for i in range(int(n / 2 - 1)):
        steps += 2 * [top - (i + 1) * 2 * (top - end) / (n - 1)]
    return [*steps, end]


@pytest.mark.parametrize("shape", DROPOUT_SHAPES)
def test_dropout_shapes(shape):
    assert list(DROPOUT_SHAPES[shape]) == pytest.approx(widths(shape, 0.0, 0.0, 1.0, 3)[:2])


def test_dropout_rates_reach_the_groups():
    network = CocktailNetwork(Cocktail(dropout=0.8, dropout_shape="funnel"), 4, 2, generator())
    rates = [m.rate for m in network.modules() if isinstance(m, Dropout)]
    assert rates == pytest.approx([0.8, 0.8, 0.4, 0.4])


def test_dropout_keeps_the_expectation_and_uses_only_its_generator():
    module = Dropout(0.3, generator())
    x = torch.ones(200, 500, requires_grad=True)
    before = torch.get_rng_state()
    y = module(x)
    assert torch.equal(torch.get_rng_state(), before)
    values, counts = y.unique(return_counts=True)
    assert values.tolist() == pytest.approx([0, 1 / 0.7])
    assert counts[0].item() / y.numel() == pytest.approx(0.3, abs=0.01)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())
    assert not torch.equal(module(x), y)
    assert torch.equal(Dropout(0.3, generator())(x), y)
    assert torch.equal(module.eval()(x), x)


# ---- shake-shake and shake-drop


def twins(draws: int):
    """Two linear layers, an input, and the first draws of a generator with seed 0."""
    layers = nn.Linear(4, 4), nn.Linear(4, 4)
    return layers, torch.randn(3, 4), torch.rand(draws, generator=generator())


def gradients(y, *parameters):
    return torch.autograd.grad(y.square().sum(), parameters)


def test_shake_shake_mixes_forward_and_backward_independently():
    (one, two), x, (alpha, beta) = twins(2)
    y = ShakeShake(one, two, generator())(x)
    torch.testing.assert_close(y, alpha * one(x) + (1 - alpha) * two(x))
    # The gradient is as if β had mixed, with what flows back taken from the forward pass.
    surrogate = beta * one(x) + (1 - beta) * two(x)
    expected = torch.autograd.grad(surrogate, (one.weight, two.weight), 2 * y.detach())
    for found, wanted in zip(gradients(y, one.weight, two.weight), expected, strict=True):
        torch.testing.assert_close(found, wanted)


def test_shake_shake_halves_in_eval_mode():
    (one, two), x, _ = twins(2)
    module = ShakeShake(one, two, None).eval()
    torch.testing.assert_close(module(x), 0.5 * one(x) + 0.5 * two(x))
    shaking = ShakeShake(one, two, generator())
    with torch.no_grad():
        mean = torch.stack([shaking(x) for _ in range(3000)]).mean(dim=0)
        torch.testing.assert_close(mean, module(x), atol=0.05, rtol=0)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_shake_drop_scales_forward_and_backward_independently(probability):
    (layers, _), x, (_, alpha, beta) = twins(3)
    y = ShakeDrop(layers, probability, generator())(x)
    forward, backward = (alpha, beta) if probability == 1 else (1.0, 1.0)
    torch.testing.assert_close(y, forward * layers(x))
    (expected,) = torch.autograd.grad(backward * layers(x), layers.weight, 2 * y.detach())
    torch.testing.assert_close(gradients(y, layers.weight)[0], expected)


@pytest.mark.parametrize("probability", [0.0, 0.3, 1.0])
def test_shake_drop_uses_the_expectation_in_eval_mode(probability):
    """b + α − bα has the mean (1 − p) + p / 2."""
    x = torch.ones(1, 1)
    assert ShakeDrop(nn.Identity(), probability, None).eval()(x).item() == pytest.approx(
        1 - probability + probability / 2
    )
    shaking = ShakeDrop(nn.Identity(), probability, generator())
    factors = torch.cat([shaking(x) for _ in range(4000)])
    assert factors.mean().item() == pytest.approx(1 - probability / 2, abs=0.02)
    assert (factors < 1).double().mean().item() == pytest.approx(probability, abs=0.03)


def test_shake_drop_grows_linearly_with_depth():
    cocktail = Cocktail(skip_connection=True, branch="shake_drop", shake_drop_probability=0.8)
    network = CocktailNetwork(cocktail, 4, 2, generator())
    assert [b.layers.probability for b in network.blocks] == pytest.approx([0.2, 0.4, 0.6, 0.8])


# ---- augmentation


@pytest.mark.parametrize("alpha", [0.01, 0.2, 1.0])
def test_beta_draws_follow_the_distribution(alpha):
    rng = generator()
    draws = torch.stack([augmenters.draw_beta(alpha, rng) for _ in range(3000)]).double().numpy()
    assert np.isfinite(draws).all() and draws.min() >= 0 and draws.max() <= 1
    if alpha > 0.1:  # below, single precision rounds most draws to 0 or 1, which scipy dislikes
        assert stats.kstest(draws, stats.beta(alpha, alpha).cdf).pvalue > 1e-3
    else:
        assert np.mean(draws < 0.5) == pytest.approx(0.5, abs=0.03)
        assert np.mean((draws > 0.01) & (draws < 0.99)) == pytest.approx(0.045, abs=0.02)


@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1e-3])
def test_beta_draws_of_tiny_alpha_are_numbers(alpha):
    rng = generator()
    draws = torch.stack([augmenters.draw_beta(alpha, rng) for _ in range(200)])
    assert torch.isfinite(draws).all()
    assert set(draws.round().tolist()) == ({1.0} if alpha == 0 else {0.0, 1.0})


def test_mixup_mixes_rows():
    x, order = torch.randn(5, 3), torch.tensor([2, 0, 1, 4, 3])
    mixed = augmenters.mixup(x, order, torch.tensor(0.3))
    for i in range(5):
        for j in range(3):
            expected = 0.3 * x[i, j].item() + 0.7 * x[order[i], j].item()
            assert mixed[i, j].item() == pytest.approx(expected, abs=1e-6)


def test_cutmix_takes_columns_of_other_rows():
    x, order = torch.randn(4, 5), torch.tensor([3, 2, 0, 1])
    columns = torch.tensor([True, False, False, True, False])
    mixed, lam = augmenters.cutmix(x, order, columns)
    for i in range(4):
        for j in range(5):
            assert mixed[i, j] == (x[order[i], j] if columns[j] else x[i, j])
    assert lam.item() == pytest.approx(3 / 5)


def test_cutout_sets_columns_to_zero():
    x, columns = torch.randn(4, 3), torch.tensor([False, True, True])
    cut = augmenters.cutout(x, columns)
    assert torch.equal(cut[:, 0], x[:, 0]) and (cut[:, 1:] == 0).all() and (x != 0).all()


@pytest.mark.parametrize(
    ("n", "ratio", "expected"), [(10, 0.35, 3), (10, 0.0, 1), (10, 1.0, 10), (1, 0.5, 1)]
)
def test_cutout_draws_that_many_columns(n, ratio, expected):
    rng = generator()
    drawn = torch.stack([augmenters.draw_cutout(n, ratio, 1.0, rng) for _ in range(400)])
    assert (drawn.sum(dim=1) == expected).all()
    assert (drawn.double().mean(dim=0) - expected / n).abs().max() < 0.1  # each equally often


@pytest.mark.parametrize("probability", [0.0, 0.25, 1.0])
def test_cut_augmentations_happen_with_their_probability(probability):
    rng = generator()
    draws = {
        "cutout": [augmenters.draw_cutout(9, 0.5, probability, rng) for _ in range(1000)],
        "cutmix": [augmenters.draw_cutmix(9, probability, rng) for _ in range(1000)],
    }
    for drawn in draws.values():
        share = torch.stack(drawn).any(dim=1).double().mean().item()
        assert share == pytest.approx(probability, abs=0.05)


def test_cutmix_draws_every_number_of_columns_but_all():
    """⌊9·U(0, 1)⌋, at least 1: one column twice as often as any other number."""
    rng = generator()
    sizes = torch.stack([augmenters.draw_cutmix(9, 1.0, rng) for _ in range(4000)]).sum(dim=1)
    shares = sizes.bincount(minlength=10).double() / len(sizes)
    expected = torch.tensor([0, 2, 1, 1, 1, 1, 1, 1, 1, 0]).double() / 9
    assert (shares - expected).abs().max() < 0.03


def test_mixed_loss_is_the_mixture_of_weighted_losses():
    logits, labels = torch.randn(6, 3), torch.tensor([0, 1, 2, 0, 0, 1])
    others, weights = labels.flip(0), torch.tensor([0.5, 1.0, 2.0])

    def plain(y):
        terms = [-F.log_softmax(row, 0)[c] * weights[c] for row, c in zip(logits, y, strict=True)]
        return sum(terms) / sum(weights[c] for c in y)

    found = augmenters.mixed_loss(logits, labels, others, torch.tensor(0.2), weights)
    torch.testing.assert_close(found, 0.2 * plain(labels) + 0.8 * plain(others))


def test_fgsm_step_goes_uphill_in_every_input():
    linear = nn.Linear(3, 2)
    x, labels, epsilon = torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1]), 0.1
    weights = torch.tensor([1.0, 2.0])
    probabilities = linear(x).softmax(dim=1)
    onehot = F.one_hot(labels, 2)
    # The gradient of each row's cross-entropy, by hand; class weights and the mean are positive.
    by_hand = (probabilities - onehot) @ linear.weight
    adversarial = x + epsilon * by_hand.sign()
    expected = sum(F.cross_entropy(linear(z), labels, weights) for z in (x, adversarial)) / 2
    found = augmenters.fgsm_loss(linear, x, labels, weights, epsilon)
    torch.testing.assert_close(found, expected)
    (wanted,) = torch.autograd.grad(  # the adversarial rows are constants
        sum(F.cross_entropy(linear(z.detach()), labels, weights) for z in (x, adversarial)) / 2,
        linear.weight,
    )
    torch.testing.assert_close(torch.autograd.grad(found, linear.weight)[0], wanted)
    assert torch.equal(augmenters.fgsm_step(x, by_hand, epsilon), adversarial)


@pytest.mark.parametrize("kind", ["mixup", "cutmix", "cutout", "fgsm", "none"])
def test_augmentations_that_do_nothing_leave_the_loss(kind):
    """α = 0, p = 0, ε = 0: the plain weighted cross-entropy, and x as it was."""
    off = {"mixup_alpha": 0.0, "cutmix_probability": 0.0, "cutout_probability": 0.0}
    cocktail = Cocktail(augmentation=kind, fgsm_epsilon=0.0, **off)
    linear, x, labels = nn.Linear(4, 2), torch.randn(6, 4), torch.tensor([0, 1, 0, 0, 1, 1])
    before, weights = x.clone(), torch.tensor([1.0, 3.0])
    found = augmenters.augmented_loss(cocktail, linear, x, labels, weights, generator())
    torch.testing.assert_close(found, F.cross_entropy(linear(x), labels, weights))
    assert torch.equal(x, before) and not x.requires_grad


@pytest.mark.parametrize("kind", ["mixup", "cutmix", "cutout", "fgsm"])
def test_augmentations_change_the_loss(kind):
    on = {"mixup_alpha": 1.0, "cutmix_probability": 1.0, "cutout_probability": 1.0}
    cocktail = Cocktail(augmentation=kind, cutout_ratio=0.5, **on)
    linear, x, labels = nn.Linear(4, 2), torch.randn(6, 4), torch.tensor([0, 1, 0, 0, 1, 1])
    weights = torch.ones(2)
    found = augmenters.augmented_loss(cocktail, linear, x, labels, weights, generator())
    assert found.item() != pytest.approx(F.cross_entropy(linear(x), labels).item(), abs=1e-6)


# ---- optimisers


@pytest.mark.parametrize(("steps", "alpha"), [(5, 0.5), (7, 0.8)])
def test_lookahead_pulls_the_weights_back(steps, alpha):
    torch.manual_seed(0)
    ours, plain = nn.Linear(3, 2), nn.Linear(3, 2)
    plain.load_state_dict(ours.state_dict())
    settings = {"lr": 0.01, "weight_decay": 0.1}
    lookahead = Lookahead(ours.parameters(), steps, alpha, fused=True, **settings)
    adamw = torch.optim.AdamW(plain.parameters(), **settings)
    slow = [p.detach().clone() for p in plain.parameters()]
    for i in range(3 * steps + 2):
        x = torch.randn(4, 3)
        for network, optimiser in ((ours, lookahead), (plain, adamw)):
            optimiser.zero_grad()
            network(x).square().sum().backward()
            optimiser.step()
        if (i + 1) % steps == 0:
            with torch.no_grad():
                for s, fast in zip(slow, plain.parameters(), strict=True):
                    s += alpha * (fast - s)
                    fast.copy_(s)
        for found, wanted in zip(ours.parameters(), plain.parameters(), strict=True):
            torch.testing.assert_close(found, wanted)


def test_cocktail_chooses_lookahead():
    cocktail = Cocktail(lookahead=True, lookahead_steps=9, lookahead_alpha=0.7, weight_decay=0.01)
    optimiser = make_optimiser(nn.Linear(2, 2), cocktail)
    assert isinstance(optimiser, Lookahead)
    assert (optimiser.steps, optimiser.alpha) == (9, 0.7)
    assert optimiser.defaults["weight_decay"] == 0.01 and optimiser.defaults["lr"] == 1e-3


def test_average_is_that_of_torch():
    networks = [CocktailNetwork(Cocktail(batch_norm=True, width=6), 4, 3, None) for _ in range(3)]
    reference = torch.optim.swa_utils.AveragedModel(networks[0])
    for i, network in enumerate(networks):
        for _ in range(i + 1):
            network(torch.randn(8, 4))  # BatchNorm's statistics
        reference.update_parameters(network)
    average = average_weights([network.state_dict() for network in networks])
    expected = reference.module.state_dict()
    assert average.keys() == expected.keys()
    for name, tensor in expected.items():
        assert average[name].dtype == tensor.dtype
        torch.testing.assert_close(average[name], tensor)
    assert math.isclose(
        average["first.bias"][0].item(),
        sum(network.first.bias[0].item() for network in networks) / 3,
        abs_tol=1e-6,
    )
