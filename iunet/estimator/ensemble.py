"""The networks behind a fitted classifier, ready to predict."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch

from iunet.data.load import Part, make_inputs
from iunet.evaluation.consistency import consistency_of_members
from iunet.networks.network import Network, NetworkSpec, build_network, state_tensors
from iunet.scoring.prediction import mean_softmax_of
from iunet.training.streams import stream


class Ensemble:
    """One network for each member; they move to the device that they are asked on."""

    def __init__(
        self,
        network: dict[str, Any],
        preprocessing: dict[str, Any],
        members: list[dict[str, np.ndarray]],
    ):
        self.preprocessing = preprocessing
        self.networks = [_network(NetworkSpec(**network), member) for member in members]

    def probabilities(self, part: Part, device: torch.device) -> np.ndarray:
        inputs = make_inputs(self.preprocessing, device)
        networks = (network.to(device) for network in self.networks)
        on_device = Part(part.raw.to(device), part.labels)
        return mean_softmax_of(networks, inputs, on_device).cpu().numpy()

    def consistency(
        self,
        part: Part,
        donors: Part,
        augment: dict[str, Any],
        seed: int,
        device: torch.device,
    ) -> dict[str, float | None]:
        """Of SCARF's corruption, with values from the rows of `donors`."""
        donors = Part(donors.raw.to(device), donors.labels)
        inputs = make_inputs(self.preprocessing, device, augment, donors)
        (name,) = inputs.single_transforms()
        labels = torch.from_numpy(self.probabilities(part, device).argmax(axis=1)).to(device)
        network = copy.deepcopy(self.networks[0])  # takes the weights of one after the other
        members = [state_tensors(network) for network in self.networks]
        draws = {name: stream(seed, f"consistency/{name}", device)}
        part = Part(part.raw.to(device), part.labels)
        found = consistency_of_members(network, members, inputs, part, labels, draws)
        return found[name]


def _network(spec: NetworkSpec, state: dict[str, np.ndarray]) -> Network:
    with torch.device("meta"):  # draws no initial weights, and no random numbers
        network = build_network(spec)
    tensors = {name: torch.from_numpy(array) for name, array in state.items()}
    network.load_state_dict(tensors, assign=True)
    return network.eval()
