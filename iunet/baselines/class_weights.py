"""Balanced class weights of the tuned baselines that train with torch."""

from __future__ import annotations

import torch
from torch import Tensor


def class_weights(labels: Tensor, n_classes: int) -> Tensor:
    """N / (K·n_c) for each of the K classes; 0 for a class without train rows.

    K counts all classes of the data set, seen in train or not. It is a common factor, and cancels
    in the loss, which is a weighted mean.
    """
    counts = labels.bincount(minlength=n_classes).float()
    return torch.where(counts > 0, len(labels) / (n_classes * counts.clamp(min=1)), 0.0)
