"""Weights of rows and classes in the loss."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from iunet.data.load import Part
from iunet.method.objectives import balanced_class_weights


@dataclass(frozen=True)
class LossWeights:
    """What the losses of a training are weighted by, beside what its settings name."""

    classes: Tensor | None = None  # [classes], in L_sup
    samples: Tensor | None = None  # [train rows], all positive: in L_sup, per anchor in L_nce

    def of_samples(self, rows: Tensor) -> Tensor | None:
        return None if self.samples is None else self.samples[rows]


UNWEIGHTED = LossWeights()


def class_weights(named: str, given: LossWeights, train: Part, network: nn.Module) -> Tensor | None:
    """Those that a training's settings name (`balanced`), else those given."""
    if named == "balanced":
        decoder = getattr(network, "decoder", network)  # a decoder can be trained alone
        return balanced_class_weights(train.labels, decoder.out_features)
    return given.classes
