"""Accuracy, balanced accuracy, and the paper's apparent metric: all that tables report.

Read where a choice or an evaluation is made, and nowhere in a training: a new metric repeats these
two and nothing else.
"""

from __future__ import annotations

import numpy as np

from iunet.scoring.scores import balanced_accuracy


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
