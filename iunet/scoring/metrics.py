"""Accuracy, balanced accuracy, and the paper's apparent metric: all that tables report.

Only choices and evaluations import this module. So a new metric repeats these, and no training.
"""

from __future__ import annotations

import numpy as np

from iunet.scoring.scores import balanced_accuracy


def classification_metrics(labels: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """All metrics of a prediction, in percent.

    `swapped_balanced_accuracy` is scikit-learn's `balanced_accuracy_score` with its arguments
    swapped: the mean precision over the predicted classes. It is only compared with the columns of
    the paper that look computed that way.
    """
    return {
        "accuracy": 100.0 * float(np.mean(labels == predicted)),
        "balanced_accuracy": balanced_accuracy(labels, predicted),
        "swapped_balanced_accuracy": balanced_accuracy(predicted, labels),
    }
