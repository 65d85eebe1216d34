"""MixUp, CutMix, CutOut and FGSM on a batch of prepared inputs, and the loss each trains with.

What is random is drawn in one function (`draw_…`) and used in another. Every draw stays on the
device, as a tensor: nothing waits for the host.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from iunet.baselines.cocktail.settings import Cocktail

Forward = Callable[[Tensor], Tensor]  # inputs to logits

# ---- draws


def draw_order(n_rows: int, generator: Generator) -> Tensor:
    """The row that each row of a batch is mixed with."""
    return torch.randperm(n_rows, generator=generator, device=generator.device)


def draw_beta(alpha: float, generator: Generator) -> Tensor:
    """λ ~ Beta(α, α), and 1 for α = 0 as in the original (so MixUp changes nothing).

    λ = g₁ / (g₁ + g₂) with g ~ Gamma(α), by Gamma(α) = Gamma(α + 1) · U^(1/α) in logarithms: for a
    small α both g are too small for a float.
    """
    device = generator.device
    if alpha == 0:
        return torch.ones((), device=device)
    shapes = torch.full((2,), alpha + 1, dtype=torch.float64, device=device)
    # torch.distributions.Gamma calls it too, but takes no generator.
    gamma = torch._standard_gamma(shapes, generator=generator)
    uniform = torch.rand(2, dtype=torch.float64, generator=generator, device=device)
    logarithms = gamma.log() + uniform.clamp(min=1e-300).log() / alpha
    return (logarithms[0] - logarithms[1]).sigmoid().float()


def draw_columns(n_columns: int, share: Tensor, probability: float, generator: Generator) -> Tensor:
    """A mask of ⌊share · n⌋ random columns, at least 1; with 1 − probability, of none.

    All columns can be drawn; the original never draws the first one, by an off-by-one.
    """
    order = torch.randperm(n_columns, generator=generator, device=generator.device)
    happens = torch.rand((), generator=generator, device=generator.device) < probability
    return (order < (share * n_columns).floor().clamp(min=1)) & happens


def draw_cutmix(n_columns: int, probability: float, generator: Generator) -> Tensor:
    """The columns that come from other rows: a share ~ U(0, 1) of them, for the whole batch."""
    share = torch.rand((), generator=generator, device=generator.device)
    return draw_columns(n_columns, share, probability, generator)


def draw_cutout(n_columns: int, ratio: float, probability: float, generator: Generator) -> Tensor:
    """The columns that become 0, for the whole batch."""
    share = torch.full((), ratio, dtype=torch.float64, device=generator.device)
    return draw_columns(n_columns, share, probability, generator)


# ---- what they do to the inputs


def mixup(x: Tensor, order: Tensor, lam: Tensor) -> Tensor:
    """λ·x + (1 − λ)·x[order]."""
    return torch.lerp(x[order], x, lam)


def cutmix(x: Tensor, order: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """The columns of `x[order]` in place of its own; and λ, the share of columns that stay."""
    return torch.where(columns, x[order], x), 1 - columns.float().mean()


def cutout(x: Tensor, columns: Tensor) -> Tensor:
    return x.masked_fill(columns, 0.0)


def fgsm_step(x: Tensor, gradient: Tensor, epsilon: float) -> Tensor:
    """A step uphill. (The original then clamps to [0, 1], which is meant for images.)"""
    return x + epsilon * gradient.sign()


# ---- losses


def mixed_loss(
    logits: Tensor, labels: Tensor, others: Tensor, lam: Tensor, weights: Tensor | None
) -> Tensor:
    """λ times the loss for the own labels, 1 − λ times that for the other rows'."""
    own, other = (F.cross_entropy(logits, y, weights) for y in (labels, others))
    return torch.lerp(other, own, lam)


def fgsm_loss(forward: Forward, x: Tensor, labels: Tensor, weights: Tensor | None, epsilon: float):
    """Half the loss for x, half that for its adversarial neighbour.

    The step uses the gradient of the clean pass that is trained on, with its dropout mask; the
    original makes another pass for it.
    """
    x = x.detach().requires_grad_()
    clean = F.cross_entropy(forward(x), labels, weights)
    (gradient,) = torch.autograd.grad(clean, x, retain_graph=True)
    adversarial = fgsm_step(x.detach(), gradient, epsilon)
    return (clean + F.cross_entropy(forward(adversarial), labels, weights)) / 2


def augmented_loss(
    cocktail: Cocktail,
    forward: Forward,
    x: Tensor,
    labels: Tensor,
    weights: Tensor | None,
    generator: Generator,
) -> Tensor:
    """The loss of a batch with the cocktail's augmentation; weighted means over the batch."""
    n_rows, n_columns = x.shape
    kind = cocktail.augmentation
    if kind == "mixup":
        lam = draw_beta(cocktail.mixup_alpha, generator)
        order = draw_order(n_rows, generator)
        return mixed_loss(forward(mixup(x, order, lam)), labels, labels[order], lam, weights)
    if kind == "cutmix":
        columns = draw_cutmix(n_columns, cocktail.cutmix_probability, generator)
        order = draw_order(n_rows, generator)
        mixed, lam = cutmix(x, order, columns)
        return mixed_loss(forward(mixed), labels, labels[order], lam, weights)
    if kind == "cutout":
        ratio, probability = cocktail.cutout_ratio, cocktail.cutout_probability
        x = cutout(x, draw_cutout(n_columns, ratio, probability, generator))
    if kind == "fgsm":
        return fgsm_loss(forward, x, labels, weights, cocktail.fgsm_epsilon)
    return F.cross_entropy(forward(x), labels, weights)
