"""β-LASSO (Neyshabur 2020): training that makes weights exactly zero.

    θ ← θ − η (∇L + l1 · sign θ), then every encoder weight with |θ| < β · l1 becomes 0

after every step. A weight at zero may come back when its gradient carries it over the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
from torch import nn


class BetaLasso(torch.optim.Optimizer):
    """The two lines above; l1 pulls at all parameters, the threshold cuts the encoder's weights."""

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        thresholded: Iterable[nn.Parameter],
        lr: float,
        l1: float,
        beta: float,
    ):
        super().__init__(parameters, {"lr": lr})
        self.thresholded = list(thresholded)
        self.l1, self.beta = l1, beta

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            with_gradient = [p for p in group["params"] if p.grad is not None]
            steps = torch._foreach_sign(with_gradient)
            torch._foreach_mul_(steps, self.l1)
            torch._foreach_add_(steps, [p.grad for p in with_gradient])
            torch._foreach_add_(with_gradient, steps, alpha=-group["lr"])
        for weight in self.thresholded:
            weight.masked_fill_(weight.abs() < self.beta * self.l1, 0.0)


def cosine_to_zero(lr: float, epochs: int) -> Callable[[float], float]:
    """The learning rate at an epoch with fraction."""
    return lambda epoch: lr / 2 * (1 + math.cos(math.pi * min(epoch / epochs, 1.0)))
