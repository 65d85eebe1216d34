"""The training objectives: `sup`, `scl` and `ilo` (equations 6 to 9 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from iunet.networks.batchnorm import two_views
from iunet.networks.network import Network

Parts = dict[str, Tensor]  # the terms of a loss, for the log


def supervised_loss(
    logits: Tensor,
    labels: Tensor,
    class_weights: Tensor | None = None,
    sample_weights: Tensor | None = None,
) -> Tensor:
    """L_sup: maximum likelihood of the labels, as a mean over the batch.

    With weights of the classes, or of the samples (all positive), it is the weighted mean.
    """
    if sample_weights is None:
        return F.cross_entropy(logits, labels, class_weights)
    if class_weights is not None:
        sample_weights = sample_weights * class_weights[labels]
    losses = F.cross_entropy(logits, labels, reduction="none")
    return (sample_weights * losses).sum() / sample_weights.sum()


def balanced_class_weights(labels: Tensor, n_classes: int) -> Tensor:
    """N/(K·n_c) of every class; a class without rows has no weight to have."""
    counts = torch.bincount(labels, minlength=n_classes).clamp(min=1)
    return len(labels) / (n_classes * counts.float())


@dataclass(frozen=True)
class LossWeights:
    """Weights of a training's losses, besides those that its settings name."""

    classes: Tensor | None = None  # [classes], in L_sup
    samples: Tensor | None = None  # [train rows], all positive: in L_sup, per anchor in L_nce

    def of_samples(self, rows: Tensor) -> Tensor | None:
        return None if self.samples is None else self.samples[rows]


UNWEIGHTED = LossWeights()


def class_weights(
    named: str, given: LossWeights, labels: Tensor, network: nn.Module
) -> Tensor | None:
    """Those that a training's settings name (`balanced`), else those given."""
    if named == "balanced":
        decoder = getattr(network, "decoder", network)  # a decoder can be trained alone
        return balanced_class_weights(labels, decoder.out_features)
    return given.classes


def nce_loss(
    h: Tensor, h_g: Tensor, labels: Tensor, sample_weights: Tensor | None = None
) -> Tensor:
    """L_nce, equation 9: each sample close to its own transform, far from those of other classes.

        mean_i [ −cos(h_i, h_i^g) + log Σ_{j: y_j ≠ y_i} exp cos(h_i, h_j^g) ]

    Temperature 1; the positive is not in the denominator; negatives are the batch's transformed
    samples of other classes. An anchor without a negative is skipped, and a batch without any
    contributes 0. With weights of the samples the mean over the anchors is weighted by them.
    """
    cosine = F.normalize(h, dim=1) @ F.normalize(h_g, dim=1).T
    negative = labels[:, None] != labels[None, :]
    usable = negative.any(dim=1)
    # A row without a negative would be log 0: let it count all, and leave it out of the mean. (No
    # indexing by `usable`: its size is known on the device only, and asking for it would wait.)
    counted = negative | ~usable[:, None]
    log_sum = cosine.masked_fill(~counted, float("-inf")).logsumexp(dim=1)
    terms = torch.where(usable, log_sum - cosine.diagonal(), 0.0)
    if sample_weights is None:
        return terms.sum() / usable.sum().clamp(min=1)
    counted_weights = torch.where(usable, sample_weights, 0.0).sum()
    # Without any anchor the sum above is 0: over what it is divided does not matter.
    return (sample_weights * terms).sum() / torch.where(usable.any(), counted_weights, 1.0)


# ---- objectives: entries of OBJECTIVES in iunet/method/catalog.py name these functions


@dataclass(frozen=True)
class Batch:
    """What an objective sees of a step."""

    x: Tensor
    labels: Tensor
    transformed: Callable[[], Tensor]  # gives g(x), freshly drawn
    weight: float = 1.0  # λ
    class_weights: Tensor | None = None
    sample_weights: Tensor | None = None


def supervised(network: Network, batch: Batch) -> tuple[Tensor, Parts]:
    """`sup`: L_sup alone. Nothing is transformed."""
    loss = _supervised_of(network(batch.x), batch)
    return loss, {"sup": loss.detach()}


def contrastive(network: Network, batch: Batch) -> tuple[Tensor, Parts]:
    """`scl`: L_nce alone, so that the decoder is not trained."""
    _, nce = _encoded(network, batch)
    return nce, {"nce": nce.detach()}


def invariance(network: Network, batch: Batch) -> tuple[Tensor, Parts]:
    """`ilo`: L_sup + λ L_nce (equation 6)."""
    h, nce = _encoded(network, batch)
    sup = _supervised_of(network.decoder(h), batch)
    return sup + batch.weight * nce, {"sup": sup.detach(), "nce": nce.detach()}


def _encoded(network: Network, batch: Batch) -> tuple[Tensor, Tensor]:
    """h, and L_nce of it and of the transformed rows, which go through the encoder together."""
    with two_views(network):
        h, h_g = network.encoder(torch.cat([batch.x, batch.transformed()])).chunk(2)
    return h, nce_loss(h, h_g, batch.labels, batch.sample_weights)


def _supervised_of(logits: Tensor, batch: Batch) -> Tensor:
    return supervised_loss(logits, batch.labels, batch.class_weights, batch.sample_weights)
