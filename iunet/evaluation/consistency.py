"""The consistency metric: how many predictions stay the same under a transform.

It is measured on *untrained* networks, the supernet θ† and the subnetwork mask ⊙ θ†, to see what
the architecture alone preserves, and on trained networks for comparison.
"""

from __future__ import annotations

from statistics import fmean

import torch
from torch import Generator, Tensor

from iunet.data.load import Inputs, Part
from iunet.method.augment import Transform
from iunet.networks.network import Network, state_tensors
from iunet.scoring.prediction import EVALUATION_BATCH, mean_softmax
from iunet.training.loop import set_batchnorm_statistics

Consistency = dict[str, dict[str, float | None]]  # same, distinct_labels and kappa, by transform


def consistency(
    network: Network, inputs: Inputs, train: Part, test: Part, generators: dict[str, Generator]
) -> Consistency:
    """The consistency of an untrained network; BatchNorm first gets its statistics from `train`."""
    set_batchnorm_statistics(network, inputs, train)
    members = [state_tensors(network)]
    plain = mean_softmax(network, members, inputs, test).argmax(dim=1)
    return consistency_of_members(network, members, inputs, test, plain, generators)


@torch.no_grad()
def consistency_of_members(
    network: Network,
    members: list[dict[str, Tensor]],
    inputs: Inputs,
    test: Part,
    plain: Tensor,
    generators: dict[str, Generator],
) -> Consistency:
    """The consistency of an ensemble (or one network) as it is; `plain` are its labels for x.

    For each transform: the percentage of test samples with the same label for x and g(x). A
    constant predictor scores 100, so the number of distinct labels predicted for x is given too,
    and Cohen's kappa, which corrects for agreement by chance.
    """
    distinct = len(plain.unique())
    result = {}
    for name, transform in inputs.single_transforms().items():
        predicted = _predict_transformed(network, members, transform, test.raw, generators[name])
        same = 100.0 * (predicted == plain).double().mean().item()
        kappa = cohens_kappa(plain, predicted)
        result[name] = {"same": same, "distinct_labels": distinct, "kappa": kappa}
    return result


def mean_consistency(found: list[Consistency]) -> Consistency:
    """The mean over several networks; kappa over those that have one (None if none has)."""
    means: Consistency = {}
    for name in found[0]:
        means[name] = {}
        for key in found[0][name]:
            values = [entry[name][key] for entry in found if entry[name][key] is not None]
            means[name][key] = fmean(values) if values else None
    return means


def cohens_kappa(one: Tensor, other: Tensor) -> float | None:
    """(same − expected) / (1 − expected) of two labels per sample; `expected` is by chance.

    1 means always the same, 0 as often as if the two were independent. None if both are the same
    constant, which agree by chance alone.
    """
    n_labels = int(torch.maximum(one.max(), other.max())) + 1
    counts = torch.bincount(one, minlength=n_labels), torch.bincount(other, minlength=n_labels)
    by_chance = int((counts[0] * counts[1]).sum())  # times n²
    n = len(one)
    if by_chance == n * n:
        return None
    return (n * int((one == other).sum()) - by_chance) / (n * n - by_chance)


def _predict_transformed(
    network: Network,
    members: list[dict[str, Tensor]],
    transform: Transform,
    raw: Tensor,
    generator: Generator,
) -> Tensor:
    """The ensemble's labels for g(x); g is drawn once for each x, and all members see the same."""
    network.eval()
    labels = []
    for chunk in raw.split(EVALUATION_BATCH):
        inputs, total = transform(chunk, generator), 0.0
        for member in members:
            network.load_state_dict(member)
            total = total + network(inputs).softmax(dim=1)
        labels.append((total / len(members)).argmax(dim=1))
    return torch.cat(labels)
