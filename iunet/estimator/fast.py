"""Fast prediction from raw rows: of a fitted classifier, or of the compact file of an export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from iunet.data.preprocess import Preprocessing, apply_preprocessing, one_hot
from iunet.deploy.compact import read_compact
from iunet.deploy.fast import FastModel
from iunet.deploy.folded import FoldedModel
from iunet.errors import DataError, UserError, nearest
from iunet.estimator.columns import array_frame, conform, of_mixed_kinds


class FastClassifier:
    """A model for tables that predicts with its kept weights only, and cannot be trained further.

    Takes frames with the columns of the fit, in any order; arrays with all of them in order, if it
    was fitted on an array too.
    """

    def __init__(self, model: FoldedModel, kernels: str | None = None):
        if model.preprocessing["kind"] != "tabular":
            raise UserError(
                f"The network {model.network['name']} takes images, not rows of a table: use "
                "FastModel(read_compact(path)).probabilities with its inputs."
            )
        self.classes_ = np.array(model.classes)
        self._fitted = Preprocessing.from_json(model.preprocessing)
        self._network = FastModel(model, kernels)

    @classmethod
    def load(cls, path: str | Path, kernels: str | None = None) -> FastClassifier:
        """From `model.safetensors` of an export; a damaged file is refused, nothing is executed."""
        return cls(read_compact(path), kernels)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class for every row, as float32 [rows, classes]."""
        frame = self._frame(X)
        table = conform(frame, self._fitted)
        try:
            numeric, codes = apply_preprocessing(self._fitted, table, np.arange(len(frame)))
        except UserError as error:
            raise DataError(str(error)) from error
        return self._network.probabilities(one_hot(self._fitted, numeric, codes))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of every row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _frame(self, X: Any) -> pd.DataFrame:
        frame = X
        if not isinstance(X, pd.DataFrame):
            array = np.asarray(of_mixed_kinds(X))
            if array.ndim != 2:
                raise DataError(f"X has to be a table of rows and columns, not {array.ndim}-d.")
            frame = array_frame(array)
        for column in [*self._fitted.numeric, *self._fitted.categorical]:
            if column.name not in frame.columns:
                raise DataError(
                    f"X has no column '{column.name}', which the model uses."
                    f"{nearest(column.name, frame.columns)}"
                )
        return frame
