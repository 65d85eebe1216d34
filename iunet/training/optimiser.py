"""The SGD of the supernet and of the fine-tuning on images."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn


def fused_sgd(
    parameters: Iterable[nn.Parameter],
    lr: float,
    momentum: float,
    nesterov: bool,
    weight_decay: float = 0.0,
) -> torch.optim.SGD:
    """torch's fused SGD, with a momentum of zero from the start.

    Left alone, its first step allocates the momentum without setting it, and relies on that very
    step to fill it. If GradScaler skips the step because a 16-bit gradient overflowed, whatever lay
    in memory stays there as momentum. From zero, an ordinary first step gives the same bits:
    momentum · 0 + gradient.
    """
    optimiser = torch.optim.SGD(
        parameters,
        lr=lr,
        momentum=momentum,
        nesterov=nesterov,
        weight_decay=weight_decay,
        fused=True,
    )
    if momentum:
        for group in optimiser.param_groups:
            for parameter in group["params"]:
                optimiser.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
    return optimiser
