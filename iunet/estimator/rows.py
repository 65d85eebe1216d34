"""Labels and preprocessed rows as the stages take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from iunet.data.load import Part, table_part
from iunet.data.table import encode_levels
from iunet.errors import DataError


def labels_of(y: Any) -> np.ndarray:
    if isinstance(y, pd.Series) and hasattr(y.dtype, "numpy_dtype") and y.notna().all():
        y = y.to_numpy(dtype=y.dtype.numpy_dtype)  # scikit-learn would make floats of Int64
    try:
        labels = column_or_1d(y, warn=True)
        if pd.isna(labels).any():
            row = int(pd.isna(labels).argmax())
            raise DataError(f"y contains NaN or missing labels (the first in row {row + 1}).")
        check_classification_targets(labels)
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from error
    return labels


def outputs_of(classes: np.ndarray) -> np.ndarray:
    """The network's output of each class: they stand in the natural order of the classes' text."""
    return encode_levels(pd.Series(classes))[0]


def rows_part(numeric: np.ndarray, codes: np.ndarray, labels: np.ndarray | None = None) -> Part:
    labels = np.zeros(len(numeric)) if labels is None else labels
    tensors = map(torch.from_numpy, (numeric, codes, labels.astype(np.int64)))
    return table_part(*tensors)
