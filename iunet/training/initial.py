"""θ†: the initial weights of a network, shared by every κ, objective and ratio of a seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from iunet.artifacts import read_json, write_arrays, write_json
from iunet.networks import (
    NetworkSpec,
    encoder_weights,
    initialise,
    scaled_weights,
    state_tensors,
)


def network_spec(name: str, options: dict[str, Any], split: dict[str, Any]) -> NetworkSpec:
    """The network that fits a data set's split."""
    shape = ("n_classes", "n_inputs", "channels", "side")
    return NetworkSpec(name, **{key: split[key] for key in shape if key in split}, **options)


def write_initial(
    name: str,
    options: dict[str, Any],
    split_path: str | Path,
    init: str,
    seed: int,
    output: dict[str, str],
) -> None:
    """Draw θ† and write it, with what later stages need to know of the network."""
    split = read_json(split_path)
    spec = network_spec(name, options, split)
    network = initialise(spec, init, seed)
    write_tensors(output["weights"], state_tensors(network))
    weights = encoder_weights(network)
    content = {
        "network": spec.to_json(),
        "dataset": split["dataset"],
        "init": "torchvision" if name == "resnet18" else init,
        "seed": seed,
        "encoder_weights": list(weights),
        "scaled_weights": list(scaled_weights(network)),
        "n_encoder_weights": sum(weight.numel() for weight in weights.values()),
        "n_parameters": sum(weight.numel() for weight in network.parameters()),
    }
    write_json(output["description"], content)


def write_tensors(path: str | Path, tensors: dict[str, Tensor], **metadata: str) -> None:
    write_arrays(path, {name: t.cpu().numpy() for name, t in tensors.items()}, **metadata)
