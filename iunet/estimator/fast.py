"""Fast prediction from raw rows, with a fitted classifier or a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from iunet.data.load import TabularInputs, table_part
from iunet.data.preprocess import Preprocessing
from iunet.deploy.fast import FastModel
from iunet.deploy.model import PrunedModel, fold, in_label_order, read_model
from iunet.errors import UserError
from iunet.estimator.columns import (
    as_pandas,
    columns_by_name,
    columns_by_place,
    read_rows,
    to_frame,
)


class FastClassifier:
    """A model for tables that predicts fast and cannot be trained further.

    Takes frames with the columns of the fit in any order, or arrays with all of them in order. A
    model that was fitted on an array knows its columns by position.
    """

    def __init__(self, model: PrunedModel, kernels: str | None = None):
        if model.preprocessing["kind"] != "tabular":
            raise UserError(
                f"The network {model.network['name']} takes images, not rows of a table. Use "
                "iunet.deploy.fast.FastModel.load(path).probabilities with its inputs."
            )
        model = in_label_order(model)
        self.classes_ = np.array(model.classes)
        self._fitted = Preprocessing.from_json(model.preprocessing)
        self._inputs = TabularInputs(model.preprocessing, torch.device("cpu"))
        # All columns of the fit, also unused ones; None for a run of the workflow.
        self._columns: list[str] | None = model.preprocessing.get("columns")
        self._named: bool = model.preprocessing.get("named", True)
        self._network = FastModel(fold(model), kernels)

    @classmethod
    def load(cls, path: str | Path, kernels: str | None = None) -> FastClassifier:
        """From a file that `save` or `export` wrote. Loading executes nothing."""
        return cls(read_model(path), kernels)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class for every row, as float32 [rows, classes]."""
        rows = read_rows(self._frame(as_pandas(X)), self._fitted)
        raw = table_part(rows, torch.device("cpu")).raw
        return self._network.probabilities(self._inputs.prepare(raw).numpy())

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of every row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _frame(self, X: Any) -> pd.DataFrame:
        """The rows under the names of the fit."""
        frame = to_frame(self, X)
        by_place = not self._named or not isinstance(X, pd.DataFrame)
        if by_place and self._columns is not None:
            return columns_by_place(frame, self._columns)
        used = [column.name for column in [*self._fitted.numeric, *self._fitted.categorical]]
        return columns_by_name(frame, used)
