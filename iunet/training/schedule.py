"""Cosine annealing with restarts."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Restarts:
    """Cycles of a learning rate, each `cycle_factor` times as long as the one before."""

    lr: float
    first_cycle_epochs: int
    cycle_factor: int
    cycles: int

    def ends(self) -> list[int]:
        """The epochs after which a cycle ends: 15, 45, 105."""
        ends, total = [], 0
        for k in range(self.cycles):
            total += self.first_cycle_epochs * self.cycle_factor**k
            ends.append(total)
        return ends

    def lr_at(self, epoch: float) -> float:
        """From lr to 0 in each cycle, at an epoch with fraction."""
        start = 0
        for end in self.ends():
            if epoch < end:
                return self.lr / 2 * (1 + math.cos(math.pi * (epoch - start) / (end - start)))
            start = end
        return 0.0
