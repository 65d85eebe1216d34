"""AdamW, also with Lookahead; and stochastic weight averaging."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from iunet.baselines.cocktail.settings import Cocktail


class Lookahead(torch.optim.AdamW):
    """AdamW that pulls its weights back every k steps (Zhang et al. 2019).

    slow ← slow + α·(fast − slow); fast ← slow. The slow weights are part of the optimiser's state,
    and the counter is AdamW's own, so checkpoints hold both. Predictions use the fast weights, as
    in the original.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], steps: int, alpha: float, **settings):
        super().__init__(parameters, **settings)
        self.steps, self.alpha = steps, alpha
        self.done = 0

    @torch.no_grad()
    def step(self, closure=None):
        weights = [p for group in self.param_groups for p in group["params"]]
        # AdamW sets up the state of a parameter only if it is empty: ours joins it afterwards.
        initial = [p.clone() for p in weights] if self.done == 0 else []
        loss = super().step(closure)
        for p, slow in zip(weights, initial, strict=False):
            self.state[p]["slow"] = slow
        self.done += 1
        if self.done % self.steps == 0:
            for p in weights:
                p.copy_(self.state[p]["slow"].lerp_(p, self.alpha))
        return loss

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        entries = list(self.state.values())
        self.done = int(entries[0]["step"].item()) if entries else 0


def make_optimiser(network: nn.Module, cocktail: Cocktail) -> torch.optim.AdamW:
    """Decay acts on all parameters, biases and BatchNorm included, as in the original."""
    settings = {"lr": cocktail.lr, "weight_decay": cocktail.weight_decay or 0.0, "fused": True}
    if cocktail.lookahead:
        steps, alpha = cocktail.lookahead_steps, cocktail.lookahead_alpha
        return Lookahead(network.parameters(), steps, alpha, **settings)
    return torch.optim.AdamW(network.parameters(), **settings)


def average_weights(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """SWA: the mean of each weight over the networks; BatchNorm's statistics are the last one's.

    They do not fit the averaged network and must be estimated again.
    """
    return {
        name: torch.stack([state[name] for state in states]).mean(dim=0)
        if last.is_floating_point() and "running_" not in name
        else last.clone()
        for name, last in states[-1].items()
    }
