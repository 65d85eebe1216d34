"""The consistency metric: how many predictions stay the same under a transform.

It is measured on *untrained* networks, the supernet θ† against the subnetwork mask ⊙ θ†, to see
what the architecture alone preserves.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from iunet.data.load import Inputs, Part
from iunet.method.augment import Transform
from iunet.networks.network import Network
from iunet.scoring.prediction import EVALUATION_BATCH, predict
from iunet.training.statistics import set_batchnorm_statistics


@torch.no_grad()
def consistency(
    network: Network, inputs: Inputs, train: Part, test: Part, generators: dict[str, Generator]
) -> dict[str, dict[str, float]]:
    """Per transform: percent of test samples with the same label for x and g(x).

    A constant predictor scores 100, so the number of distinct labels predicted for x is given too.
    """
    set_batchnorm_statistics(network, inputs, train)
    plain = predict(network, inputs, test).argmax(dim=1)
    distinct = len(plain.unique())
    result = {}
    for name, transform in inputs.single_transforms().items():
        predicted = _predict_transformed(network, transform, test.raw, generators[name])
        same = 100.0 * (predicted == plain).double().mean().item()
        result[name] = {"same": same, "distinct_labels": distinct}
    return result


def _predict_transformed(
    network: Network, transform: Transform, raw: Tensor, generator: Generator
) -> Tensor:
    network.eval()
    chunks = raw.split(EVALUATION_BATCH)
    return torch.cat([network(transform(chunk, generator)).argmax(dim=1) for chunk in chunks])
