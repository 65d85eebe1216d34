"""The consistency metric: how many predictions stay the same under a transform.

It is measured on *untrained* networks, the supernet θ† against the subnetwork mask ⊙ θ†, to see
what the architecture alone preserves.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor, nn

from iunet.augment import Transform
from iunet.data.load import Inputs, Part
from iunet.networks import Network
from iunet.training.loop import EVALUATION_BATCH, predict, stream


@torch.no_grad()
def set_batchnorm_statistics(network: Network, inputs: Inputs, train: Part) -> None:
    """Running statistics from one pass over the untransformed train rows.

    An untrained network has none. All batches are of (nearly) one size, and count equally; rows
    come in a random order, since in a file they are often sorted by class.
    """
    norms = [m for m in network.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the plain average over batches
    network.train()
    device = train.raw.device
    order = torch.randperm(len(train), generator=stream(0, "batchnorm", device), device=device)
    for rows in order.tensor_split(-(-len(train) // EVALUATION_BATCH)):
        network(inputs.prepare(train.raw[rows]))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum


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
