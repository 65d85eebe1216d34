"""BatchNorm that keeps the two views of ILO apart."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class _ViewsMixin:
    """BatchNorm that treats the halves of a batch as two forward passes, when asked to.

    ILO needs the encoder's output for x and for g(x). One forward of [x; g(x)] does each matrix
    product once and is faster than two, but plain BatchNorm would mix the statistics of both: then
    L_sup would see other activations than under `sup`, and the running statistics would be those of
    no data set. Here each view is normalised by its own statistics, as in two forwards, and only
    the first, untransformed view moves the running statistics, which evaluation uses on such data.
    So `ilo` with λ = 0 is `sup` exactly.
    """

    views = 1

    def forward(self, x: Tensor) -> Tensor:
        x = x.float() if x.dtype == torch.float16 else x  # 16 bit except BatchNorm
        if self.views == 1 or not self.training:
            return super().forward(x)
        clean, transformed = x.chunk(2)
        normalised = F.batch_norm(
            transformed, None, None, self.weight, self.bias, training=True, eps=self.eps
        )
        return torch.cat([super().forward(clean), normalised])


class BatchNorm1d(_ViewsMixin, nn.BatchNorm1d):
    pass


class BatchNorm2d(_ViewsMixin, nn.BatchNorm2d):
    pass


@contextlib.contextmanager
def two_views(network: nn.Module) -> Iterator[None]:
    """Inside, a batch is [x; g(x)] and BatchNorm keeps the two apart."""
    norms = [module for module in network.modules() if isinstance(module, _ViewsMixin)]
    for norm in norms:
        norm.views = 2
    try:
        yield
    finally:
        for norm in norms:
            norm.views = 1
