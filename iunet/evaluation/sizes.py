"""Sizes: parameters kept, compression, and floating-point operations, dense and sparse."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from iunet.networks.network import Network, NetworkSpec, encoder_weights


@torch.no_grad()
def positions(network: Network, spec: NetworkSpec) -> dict[str, int]:
    """How often each Linear and Conv weight is used for one sample (pixels of a Conv's output)."""
    used: dict[str, int] = {}
    hooks = []
    for name, module in network.named_modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):

            def count(_, __, out, name=f"{name}.weight"):
                used[name] = out[0, 0].numel() if out.dim() == 4 else 1

            hooks.append(module.register_forward_hook(count))
    network.eval()
    network(torch.zeros(1, *spec.input_shape(), device=next(network.parameters()).device))
    for hook in hooks:
        hook.remove()
    return used


def sizes(
    network: Network, spec: NetworkSpec, kept: dict[str, int], members: int
) -> dict[str, Any]:
    """What a network costs; `kept` counts the weights that a mask leaves, by name.

    Operations are those of Linear and Conv for one sample, a multiplication and an addition per
    weight and position. The ensemble's figures count all its members.
    """
    weights = {name: w.numel() for name, w in encoder_weights(network).items()}
    remaining = {name: kept.get(name, n) for name, n in weights.items()}
    n_encoder, n_kept = sum(weights.values()), sum(remaining.values())
    n_total = sum(parameter.numel() for parameter in network.parameters())
    n_left = n_total - n_encoder + n_kept
    used = positions(network, spec)
    all_weights = {f"{n}.weight": m.weight.numel() for n, m in _layers(network)}
    dense = sum(2 * n * used[name] for name, n in all_weights.items())
    sparse = sum(2 * remaining.get(name, n) * used[name] for name, n in all_weights.items())
    return {
        "encoder_weights": n_encoder,
        "kept_encoder_weights": n_kept,
        "encoder_compression": n_encoder / n_kept if n_kept else None,
        "parameters": n_total,
        "kept_parameters": n_left,
        "model_compression": n_total / n_left,
        "flops_dense": dense,
        "flops_sparse": sparse,
        "members": members,
        "ensemble_kept_parameters": members * n_left,
        "ensemble_flops_sparse": members * sparse,
    }


def _layers(network: Network):
    kinds = (nn.Linear, nn.Conv2d)
    return [(name, m) for name, m in network.named_modules() if isinstance(m, kinds)]
