"""The score by which trials are compared; `metrics` has those that tables report."""

from __future__ import annotations

import numpy as np


def balanced_accuracy(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Mean recall over the classes that occur in `labels`, in percent."""
    classes, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    hits = np.bincount(place, weights=labels == predicted, minlength=len(classes))
    return 100.0 * float(np.mean(hits / counts))
