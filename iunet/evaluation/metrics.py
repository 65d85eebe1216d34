"""Accuracy, balanced accuracy, and the paper's apparent metric."""

from __future__ import annotations

import numpy as np


def classification_metrics(labels: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """All metrics of a prediction, in percent.

    `swapped_balanced_accuracy` is scikit-learn's `balanced_accuracy_score` with its arguments
    swapped: the mean precision over the predicted classes. It is here only to be compared with the
    columns of the paper that look computed that way.
    """
    return {
        "accuracy": 100.0 * float(np.mean(labels == predicted)),
        "balanced_accuracy": balanced_accuracy(labels, predicted),
        "swapped_balanced_accuracy": balanced_accuracy(predicted, labels),
    }


def balanced_accuracy(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Mean recall over the classes that occur in `labels`, in percent."""
    classes, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    hits = np.bincount(place, weights=labels == predicted, minlength=len(classes))
    return 100.0 * float(np.mean(hits / counts))
