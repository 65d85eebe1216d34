"""Labels, and the weights of rows and classes, in the form that the stages need."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_non_negative, column_or_1d

from iunet.data.table import refuse_surrogates
from iunet.errors import DataError
from iunet.method.objectives import LossWeights

LEAST_WEIGHT = 2.0**-90  # sums and products of smaller ones may be 0 in float32


def labels_of(y: Any) -> np.ndarray:
    """The labels as an array of text, numbers or booleans."""
    if isinstance(y, pd.Series) and hasattr(y.dtype, "numpy_dtype") and y.notna().all():
        y = y.to_numpy(dtype=y.dtype.numpy_dtype)  # scikit-learn would make floats of Int64
    try:
        labels = column_or_1d(y, warn=True)
        if pd.isna(labels).any():
            row = int(pd.isna(labels).argmax())
            raise DataError(f"y contains NaN or missing labels (the first in row {row + 1}).")
        labels = _of_one_kind(labels)
        check_classification_targets(labels)
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from error
    return labels


def _of_one_kind(labels: np.ndarray) -> np.ndarray:
    """Labels of one type: numbers, booleans (also from objects) or text."""
    if labels.dtype == object:
        inferred = pd.Series(labels).infer_objects().to_numpy()
        labels = inferred if inferred.dtype.kind in "biuf" else labels
    if labels.dtype.kind == "f" and labels.dtype.itemsize not in (4, 8):
        labels = labels.astype(np.float64)  # pandas has no levels of other floats
    if labels.dtype.kind == "u" and len(labels) and labels.max() >= 2**63:
        raise DataError(
            f"y holds the label {labels.max()}, but numbers must be below 2**63. Use text."
        )
    text = labels.dtype == object and all(isinstance(label, str) for label in labels)
    if text or labels.dtype.kind in "biufU":
        refuse_surrogates("The label", set(labels))
        return labels
    kinds = sorted({type(label).__name__ for label in labels})
    raise DataError(
        f"y holds labels of type {' and '.join(kinds)}, which cannot be saved in a model. Use "
        "text, 64-bit numbers or booleans, all of one type."
    )


def sample_weights(weights: Any, n_rows: int) -> np.ndarray:
    """The parameter `sample_weight`: one number per row, or one for all."""
    if isinstance(weights, numbers.Number):
        weights = np.full(n_rows, weights)
    name = {"input_name": "sample_weight"}
    weights = check_array(weights, ensure_2d=False, dtype=[np.float64, np.float32], **name)
    if weights.shape != (n_rows,):
        raise DataError(f"sample_weight has the shape {weights.shape}, not ({n_rows},).")
    if not weights.any():
        raise DataError("All weights in sample_weight are zero, so no row is left.")
    check_non_negative(weights, "`sample_weight`")
    return weights


def loss_weights(
    by_class: Any, classes: np.ndarray, by_sample: np.ndarray | None, device: torch.device
) -> LossWeights:
    """The weights of `class_weight` and `sample_weight`; the stages compute balanced ones."""
    of_classes = _class_weights(by_class, classes) if isinstance(by_class, dict) else None
    of_both = (None if w is None else _as_float32(w, device) for w in (of_classes, by_sample))
    return LossWeights(*of_both)


def _class_weights(given: dict[Any, float], classes: np.ndarray) -> np.ndarray:
    """The parameter `class_weight` by class; the default is 1.

    (scikit-learn's `compute_class_weight` confuses the label "10" with the number.)
    """
    labels = classes.tolist()
    unknown = [label for label in given if label not in labels]
    if unknown and set(labels) - set(given):  # else it may be a class that these rows lack
        raise DataError(
            f"The parameter 'class_weight' names the class {unknown[0]!r}, which is not among "
            f"{labels}."
        )
    weights = np.array([given.get(label, 1.0) for label in labels], dtype=np.float64)
    if not np.isfinite(weights).all() or (weights <= 0).any():
        raise DataError(
            f"The parameter 'class_weight' is {given}, but weights must be above 0. To ignore a "
            "class, leave its rows out."
        )
    return weights


def _as_float32(weights: np.ndarray, device: torch.device) -> torch.Tensor:
    """Positive weights as float32, the largest between 1/2 and 1.

    Losses are weighted means, which a power of 2 in all weights does not change.
    """
    weights = np.ldexp(weights, -np.frexp(weights.max())[1])
    weights = np.maximum(weights, LEAST_WEIGHT).astype(np.float32)
    return torch.from_numpy(weights).to(device)
