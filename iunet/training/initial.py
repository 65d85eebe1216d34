"""θ†: the initial weights of a network, shared by every κ, objective and ratio of a seed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from iunet.artifacts import read_json, write_json, write_tensors
from iunet.networks.network import (
    Network,
    NetworkSpec,
    encoder_weights,
    initialise,
    scaled_weights,
    state_tensors,
)

FRESH = 1_000_003  # added to the seed for fresh initial weights: beyond any seed of a config


def network_spec(name: str, options: dict[str, Any], split: dict[str, Any]) -> NetworkSpec:
    """The network that fits a data set's split."""
    shape = ("n_classes", "n_inputs", "channels", "side")
    facts = {key: split[key] for key in shape if key in split}
    return NetworkSpec(name, **facts, options=options)


def describe_network(network: Network) -> dict[str, Any]:
    """What later stages need to know of a network's weights without building it."""
    weights = encoder_weights(network)
    return {
        "encoder_weights": list(weights),
        "scaled_weights": list(scaled_weights(network)),
        "n_encoder_weights": sum(weight.numel() for weight in weights.values()),
        "n_parameters": sum(weight.numel() for weight in network.parameters()),
    }


def fresh_weights(
    description: dict[str, Any], device: torch.device, draw: int = 1
) -> dict[str, Tensor]:
    """Other initial weights than θ†, drawn like it; the first, second, … draw of the seed."""
    spec, seed = NetworkSpec(**description["network"]), description["seed"] + draw * FRESH
    drawn = state_tensors(initialise(spec, description["init"], seed))
    return {name: tensor.to(device) for name, tensor in drawn.items()}


def write_initial(
    split_path: str,
    output: dict[str, str],
    network: dict[str, Any],
    init: str,
    seed: int,
) -> None:
    """Draw θ† and write it, with what later stages need to know of the network."""
    split = read_json(split_path)
    spec = network_spec(network["name"], network["options"], split)
    drawn = initialise(spec, init, seed)
    write_tensors(output["weights"], state_tensors(drawn))
    head = {"network": spec.to_json(), "dataset": split["dataset"], "init": init, "seed": seed}
    write_json(output["description"], head | describe_network(drawn))
