"""β-LASSO (Neyshabur 2020): training that makes weights exactly zero.

    θ ← θ − η (∇L + l1 · sign θ), then every encoder weight with |θ| < β · l1 becomes 0

after every step. A weight at zero may come back when its gradient carries it over the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

PIECE = 2**16  # numbers per thread that are worked on at a time


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
        self.thresholded = {id(parameter) for parameter in thresholded}
        self.l1, self.limit = l1, hardshrink_limit(beta * l1)

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            with_gradient = [p for p in group["params"] if p.grad is not None]
            cut = [p for p in with_gradient if id(p) in self.thresholded]
            on_gpu = bool(cut) and cut[0].is_cuda
            together = [p for p in with_gradient if on_gpu or id(p) not in self.thresholded]
            if together:
                self._move(together, group["lr"])
            for parameter in cut:
                if on_gpu:
                    _hardshrink(parameter, self.limit)
                else:
                    self._move_and_cut(parameter, group["lr"])

    def _move(self, parameters: list[Tensor], lr: float) -> None:
        """All tensors in a few kernels, for which torch has no public call: fast on a GPU."""
        steps = torch._foreach_sign(parameters)
        torch._foreach_mul_(steps, self.l1)
        torch._foreach_add_(steps, [p.grad for p in parameters])
        torch._foreach_add_(parameters, steps, alpha=-lr)

    def _move_and_cut(self, parameter: Tensor, lr: float) -> None:
        """On a CPU: piece by piece, so that each stays in the cache for all that is done to it."""
        pieces = [(parameter, parameter.grad)]
        if parameter.is_contiguous() and parameter.grad.is_contiguous():
            size = PIECE * torch.get_num_threads()
            flat = parameter.view(-1), parameter.grad.view(-1)
            pieces = zip(*(tensor.split(size) for tensor in flat), strict=True)
        for weight, gradient in pieces:
            step = torch.sign(weight)
            torch.add(gradient, step, alpha=self.l1, out=step)
            weight.add_(step, alpha=-lr)
            _hardshrink(weight, self.limit)


def hardshrink_limit(bound: float) -> float:
    """The limit at which `hardshrink` sets to zero what is smaller than the bound.

    It removes what equals its limit, too, where β-LASSO keeps a weight at the bound. So the limit
    is the next smaller number in the precision of the weights.
    """
    single = torch.tensor(bound, dtype=torch.float32)
    return torch.nextafter(single, torch.zeros_like(single)).item()


def _hardshrink(weight: Tensor, limit: float) -> None:
    torch.ops.aten.hardshrink.out(weight, limit, out=weight)


def cosine_to_zero(lr: float, epochs: int) -> Callable[[float], float]:
    """The learning rate at an epoch with fraction."""
    return lambda epoch: lr / 2 * (1 + math.cos(math.pi * min(epoch / epochs, 1.0)))
