"""The network of MLP+C, and the regularisers that live in it.

    Linear(inputs, 512) → 2 groups × 2 blocks → [BN] ReLU → Linear(classes)
    block: [BN] ReLU Linear [BN] ReLU [dropout] Linear

With a skip connection a block adds to its input. Random draws come from one generator that the
network is given, not from torch's global one, so that a checkpoint can hold its state.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor, nn
from torch.autograd import Function

from iunet.baselines.cocktail.settings import DROPOUT_SHAPES, Cocktail

BLOCKS = 2  # in each of two groups, which differ in their dropout rate


class CocktailNetwork(nn.Module):
    def __init__(
        self, cocktail: Cocktail, n_inputs: int, n_classes: int, generator: Generator | None
    ):
        """`generator` is needed for training only, on the network's device."""
        super().__init__()
        parts = DROPOUT_SHAPES[cocktail.dropout_shape]
        rates = [None if cocktail.dropout is None else cocktail.dropout * part for part in parts]
        rate_of_block = [rate for rate in rates for _ in range(BLOCKS)]
        self.first = nn.Linear(n_inputs, cocktail.width)
        self.blocks = nn.Sequential(
            *(
                Block(cocktail, rate, (i + 1) / len(rate_of_block), generator)
                for i, rate in enumerate(rate_of_block)
            )
        )
        self.last = nn.Sequential(*_activation(cocktail), nn.Linear(cocktail.width, n_classes))

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.blocks(self.first(x)))


class Block(nn.Module):
    """Two linear layers, or what the branch makes of them; with a skip connection if it is on."""

    def __init__(
        self, cocktail: Cocktail, rate: float | None, depth: float, generator: Generator | None
    ):
        """`depth` is the block's place in the network: 1 for the last one."""
        super().__init__()
        self.skip = cocktail.skip_connection
        if cocktail.branch == "shake_shake":
            both = [_layers(cocktail, rate, generator) for _ in range(2)]
            self.layers: nn.Module = ShakeShake(*both, generator)
        elif cocktail.branch == "shake_drop":
            layers = _layers(cocktail, rate, generator)
            self.layers = ShakeDrop(layers, depth * cocktail.shake_drop_probability, generator)
        else:
            self.layers = _layers(cocktail, rate, generator)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.skip else self.layers(x)


def _layers(cocktail: Cocktail, rate: float | None, generator: Generator | None) -> nn.Sequential:
    width = cocktail.width
    dropout = [] if rate is None else [Dropout(rate, generator)]
    return nn.Sequential(
        *_activation(cocktail),
        nn.Linear(width, width),
        *_activation(cocktail),
        *dropout,
        nn.Linear(width, width),
    )


def _activation(cocktail: Cocktail) -> list[nn.Module]:
    norm = [nn.BatchNorm1d(cocktail.width)] if cocktail.batch_norm else []
    return [*norm, nn.ReLU()]


# ---- random draws


class Dropout(nn.Module):
    """torch's dropout, with draws from a generator."""

    def __init__(self, rate: float, generator: Generator | None):
        super().__init__()
        self.rate, self.generator = rate, generator

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        keep = 1 - self.rate
        return x * torch.empty_like(x).bernoulli_(keep, generator=self.generator).div_(keep)


class ShakeShake(nn.Module):
    """α·one(x) + (1 − α)·two(x), with an independent β in place of α for the gradient.

    α, β ~ U(0, 1), one of each per batch as in the original; both are 1/2 in eval mode. (The
    published set-up of the original fixes them at 1/2 in training too, `even-even`, which shakes
    nothing.)
    """

    def __init__(self, one: nn.Module, two: nn.Module, generator: Generator | None):
        super().__init__()
        self.one, self.two, self.generator = one, two, generator

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return (self.one(x) + self.two(x)) / 2
        alpha, beta = torch.rand(2, generator=self.generator, device=x.device)
        return scale(self.one(x), alpha, beta) + scale(self.two(x), 1 - alpha, 1 - beta)


class ShakeDrop(nn.Module):
    """(b + α − bα)·layers(x), with β in place of α for the gradient.

    b is 0 with the block's probability, else 1; α, β ~ U(0, 1); one of each per batch, as in the
    original. In eval mode the factor is its expectation.
    """

    def __init__(self, layers: nn.Module, probability: float, generator: Generator | None):
        super().__init__()
        self.layers, self.probability, self.generator = layers, probability, generator

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return (1 - self.probability / 2) * self.layers(x)
        drawn, alpha, beta = torch.rand(3, generator=self.generator, device=x.device)
        shaken = drawn < self.probability
        return scale(
            self.layers(x), torch.where(shaken, alpha, 1.0), torch.where(shaken, beta, 1.0)
        )


class _Scale(Function):
    @staticmethod
    def forward(ctx, x: Tensor, forward: Tensor, backward: Tensor) -> Tensor:
        ctx.save_for_backward(backward)
        return x * forward

    @staticmethod
    def backward(ctx, gradient: Tensor):
        (backward,) = ctx.saved_tensors
        return gradient * backward, None, None


def scale(x: Tensor, forward: Tensor, backward: Tensor) -> Tensor:
    """x times one factor, and its gradient times another."""
    return _Scale.apply(x, forward, backward)
