"""BatchNorm's running statistics, for networks that were not trained as they stand."""

from __future__ import annotations

import torch
from torch import nn

from iunet.data.load import Inputs, Part
from iunet.networks.network import Network
from iunet.scoring.prediction import EVALUATION_BATCH
from iunet.training.streams import stream


@torch.no_grad()
def set_batchnorm_statistics(network: Network, inputs: Inputs, train: Part) -> None:
    """Running statistics from one pass over the untransformed train rows.

    An untrained network has none. All batches are of (nearly) one size, and count equally; rows
    come in a random order, since in a file they are often sorted by class.
    """
    norms = [m for m in network.modules() if isinstance(m, nn.BatchNorm1d | nn.BatchNorm2d)]
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
