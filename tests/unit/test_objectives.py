"""The objectives against slow, obvious versions."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from iunet.method.catalog import OBJECTIVES, load
from iunet.method.objectives import Batch, nce_loss, supervised, supervised_loss
from iunet.networks.network import NetworkSpec, initialise


def cosine(a, b) -> float:
    return float(a @ b / (a.norm() * b.norm()))


def equation_9(h, h_g, labels) -> float:
    """By loops, as the paper writes it."""
    terms = []
    for i in range(len(h)):
        negatives = [j for j in range(len(h)) if labels[j] != labels[i]]
        if negatives:
            denominator = sum(math.exp(cosine(h[i], h_g[j])) for j in negatives)
            terms.append(-math.log(math.exp(cosine(h[i], h_g[i])) / denominator))
    return sum(terms) / len(terms) if terms else 0.0


@settings(deadline=None, max_examples=100)
@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=12), seed=st.integers(0, 2**16))
def test_nce_is_equation_9(labels, seed):
    g = torch.Generator().manual_seed(seed)
    h, h_g = torch.randn(2, len(labels), 5, generator=g, dtype=torch.float64)
    labels = torch.tensor(labels)
    assert nce_loss(h, h_g, labels).item() == pytest.approx(equation_9(h, h_g, labels), abs=1e-9)


@pytest.mark.parametrize("labels", [[1, 1, 1, 1], [0, 0, 0, 1], [3]])
def test_gradients_are_finite_with_few_or_no_negatives(labels):
    h = torch.randn(len(labels), 5, requires_grad=True)
    h_g = torch.randn(len(labels), 5, requires_grad=True)
    loss = nce_loss(h, h_g, torch.tensor(labels))
    loss.backward()
    assert torch.isfinite(loss) and torch.isfinite(h.grad).all() and torch.isfinite(h_g.grad).all()
    if len(set(labels)) == 1:
        assert loss == 0 and (h.grad == 0).all()


def test_dead_representations_give_no_nan():
    """ReLU may leave h = 0 for a sample: its cosine is 0, its gradient finite behind the ReLU."""
    before = torch.randn(6, 5) - 10 * torch.eye(6)[:, :1]
    before[0] = -1.0
    before.requires_grad_()
    h = before.relu()
    loss = nce_loss(h, h.roll(1, 0), torch.arange(6) % 2)
    loss.backward()
    assert torch.isfinite(loss) and torch.isfinite(before.grad).all()


@pytest.mark.parametrize(
    ("objective", "parts"), [("sup", {"sup"}), ("scl", {"nce"}), ("ilo", {"sup", "nce"})]
)
def test_objectives(objective, parts):
    network = initialise(
        NetworkSpec("mlp_tab", 3, n_inputs=4, options={"width": 8, "depth": 2}), "torch_default", 0
    )
    x, labels = torch.randn(10, 4), torch.arange(10) % 3
    x_g = torch.randn(10, 4)
    loss, found = load(OBJECTIVES[objective].loss)(network, Batch(x, labels, lambda: x_g, 0.5))
    assert set(found) == parts
    h = network.encoder(x)
    sup = supervised_loss(network.decoder(h), labels)
    nce = nce_loss(h, network.encoder(x_g), labels)
    expected = {"sup": sup, "scl": nce, "ilo": sup + 0.5 * nce}[objective]
    assert loss.item() == pytest.approx(expected.item(), abs=1e-6)


def test_sup_makes_no_transform():
    network = initialise(
        NetworkSpec("mlp_tab", 3, n_inputs=4, options={"width": 8, "depth": 2}), "torch_default", 0
    )
    supervised(network, Batch(torch.randn(4, 4), torch.arange(4) % 3, pytest.fail))


def test_sample_weights_are_those_of_the_mean():
    """In L_sup, times the class's weight, and over the anchors in L_nce."""
    g = torch.Generator().manual_seed(0)
    h, h_g = torch.randn(2, 6, 5, generator=g, dtype=torch.float64)
    logits = torch.randn(6, 3, generator=g, dtype=torch.float64)
    labels = torch.tensor([0, 1, 2, 1, 1, 0])
    weights = torch.tensor([1.0, 2.0, 0.5, 3.0, 1.0, 0.25], dtype=torch.float64)
    classes = torch.tensor([1.0, 4.0, 2.0], dtype=torch.float64)
    each = [supervised_loss(logits[i : i + 1], labels[i : i + 1]).item() for i in range(6)]
    both = [float(w * classes[k]) for w, k in zip(weights, labels, strict=True)]
    for found, wanted in [
        (supervised_loss(logits, labels, None, weights), weights.tolist()),
        (supervised_loss(logits, labels, classes, weights), both),
        (supervised_loss(logits, labels, classes), [float(classes[k]) for k in labels]),
    ]:
        mean = sum(w * x for w, x in zip(wanted, each, strict=True)) / sum(wanted)
        assert found.item() == pytest.approx(mean)

    def term(i: int) -> float:
        negatives = [j for j in range(6) if labels[j] != labels[i]]
        return math.log(sum(math.exp(cosine(h[i], h_g[j])) for j in negatives)) - cosine(
            h[i], h_g[i]
        )

    mean = sum(w * term(i) for i, w in enumerate(weights.tolist())) / weights.sum().item()
    assert nce_loss(h, h_g, labels, weights).item() == pytest.approx(mean)
    ones = torch.ones(6, dtype=torch.float64)
    assert nce_loss(h, h_g, labels, ones).item() == pytest.approx(nce_loss(h, h_g, labels).item())
    assert nce_loss(h, h_g, torch.zeros(6), weights) == 0  # no anchor has a negative
