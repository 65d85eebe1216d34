"""Sizes: parameters kept, compression, and floating-point operations, dense and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from iunet.networks.catalog import network_entry
from iunet.networks.network import NetworkSpec


def sizes(spec: NetworkSpec, masks: dict[str, np.ndarray], members: int) -> dict[str, Any]:
    """What a network costs under a mask, or without one.

    Operations are those of Linear and Conv for one sample, a multiplication and an addition per
    weight and position. The ensemble's figures count all its members.
    """
    whole, layers = network_entry(spec.name).size(spec.options, spec.data()), spec.layers()
    remaining = [int(mask.sum()) for mask in masks.values()] or [layer.weights for layer in layers]
    pruned = [layer.weights - n for layer, n in zip(layers, remaining, strict=True)]
    n_encoder, n_kept = sum(layer.weights for layer in layers), sum(remaining)
    n_left = whole.parameters - sum(pruned)
    dense = whole.linear_flops + whole.conv_flops
    sparse = dense - 2 * sum(n * layer.pixels for n, layer in zip(pruned, layers, strict=True))
    return {
        "encoder_weights": n_encoder,
        "kept_encoder_weights": n_kept,
        "encoder_compression": n_encoder / n_kept if n_kept else None,
        "parameters": whole.parameters,
        "kept_parameters": n_left,
        "model_compression": whole.parameters / n_left,
        "flops_dense": dense,
        "flops_sparse": sparse,
        "members": members,
        "ensemble_kept_parameters": members * n_left,
        "ensemble_flops_sparse": members * sparse,
    }
