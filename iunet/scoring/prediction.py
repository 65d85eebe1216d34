"""What a network, or an ensemble of its members, predicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from iunet.data.load import Inputs, Part
from iunet.networks.network import Network

EVALUATION_BATCH = 1024


@torch.no_grad()
def predict(network: Network, inputs: Inputs, part: Part) -> Tensor:
    """The logits of every row, in eval mode."""
    network.eval()
    return torch.cat([network(inputs.prepare(raw)) for raw in part.raw.split(EVALUATION_BATCH)])


def mean_softmax(
    network: Network, members: Iterable[dict[str, Tensor]], inputs: Inputs, part: Part
) -> Tensor:
    """Probabilities of an ensemble: the mean softmax over the states of its members."""

    def networks() -> Iterator[Network]:
        for member in members:
            network.load_state_dict(member)
            yield network

    return mean_softmax_of(networks(), inputs, part)


def mean_softmax_of(networks: Iterable[Network], inputs: Inputs, part: Part) -> Tensor:
    """The mean softmax of networks that have their weights already."""
    total, n = 0.0, 0
    for network in networks:
        total, n = total + predict(network, inputs, part).softmax(dim=1), n + 1
    return total / n


def accuracy(network: Network, inputs: Inputs, part: Part) -> float:
    """The percentage of rows with the right prediction."""
    predicted = predict(network, inputs, part).argmax(dim=1)
    return 100.0 * (predicted == part.labels).double().mean().item()
