"""The score that `iunet fit` reports: on rows that the scored model was not trained on."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

from iunet.data.split import stratified_split
from iunet.data.table import encode_levels, level_text
from iunet.errors import DataError
from iunet.estimator.classifier import IUNetClassifier

HELD_OUT = 0.1  # of the rows
FEWEST_ROWS = 20  # below, a tenth says nothing
DRAWS = 10_000


def held_out_score(model: IUNetClassifier, X: pd.DataFrame, y: pd.Series, seed: int) -> str:
    """The score of a model with these parameters that is trained on nine tenths of the rows.

    The other tenth is drawn by label.
    """
    train, held_out, _ = stratified_split(encode_levels(y)[0], HELD_OUT, seed)
    train, held_out = np.sort(train), np.sort(held_out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit on all rows gives them
        scored = clone(model).fit(X.iloc[train], y.iloc[train])
    return score_text(scored, X.iloc[held_out], y.iloc[held_out])


def refuse_labels_without_score(known: pd.Series, labels: pd.Series, path: Path) -> None:
    """Labels to score must be there, and be labels that the fit sees."""
    if labels.isna().any():
        row = int(labels.isna().argmax()) + 1
        raise DataError(f"{path} has no value of '{labels.name}' in row {row}.")
    unknown = sorted(set(labels.map(level_text)) - set(known.dropna().map(level_text)))
    if unknown:
        raise DataError(
            f"{path} has the label '{unknown[0]}' in '{labels.name}', which is not a label of the "
            "rows to train on."
        )


def score_text(model: IUNetClassifier, X: pd.DataFrame, y: pd.Series) -> str:
    """Balanced accuracy and accuracy on these rows, each with its 95 % interval."""
    labels = y.map(level_text).to_numpy(dtype=object)
    predicted = np.array([level_text(label) for label in model.predict(X).tolist()], dtype=object)
    balanced = with_interval(labels, predicted, labels)
    accuracy = with_interval(labels, predicted, np.zeros(len(labels)))
    return (
        "balanced accuracy {:.1f} % [{:.1f}, {:.1f}], ".format(*balanced)
        + "accuracy {:.1f} % [{:.1f}, {:.1f}] ".format(*accuracy)
        + f"({len(labels)} rows; 95 % intervals in brackets)"
    )


def with_interval(
    labels: np.ndarray, predicted: np.ndarray, groups: np.ndarray
) -> tuple[float, float, float]:
    """The mean over groups of the percentage of right predictions, and the ends of its interval.

    Each group's share is drawn from its posterior under Jeffreys' prior; the interval holds 95 % of
    the means.
    """
    _, group = np.unique(groups, return_inverse=True)
    n_rows = np.bincount(group)
    right = np.bincount(group, weights=labels == predicted)
    size = (DRAWS, len(n_rows))
    shares = np.random.default_rng(0).beta(right + 0.5, n_rows - right + 0.5, size)
    low, high = np.quantile(shares.mean(axis=1), [0.025, 0.975])
    mean = np.mean(right / n_rows)
    return 100 * mean, 100 * min(low, mean), 100 * max(high, mean)
