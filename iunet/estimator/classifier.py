"""`IUNetClassifier`: the paper's method as a scikit-learn classifier for tables."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from iunet import __version__
from iunet.data.load import table_part
from iunet.data.preprocess import Preprocessing, Rows
from iunet.data.table import encode_levels
from iunet.deploy.model import PrunedModel, check_path, read_model, write_model
from iunet.errors import DataError, UserError, one_line
from iunet.estimator.columns import (
    as_data_errors,
    as_pandas,
    fit_columns,
    read_rows,
    to_frame,
)
from iunet.estimator.labels import labels_of, loss_weights, sample_weights
from iunet.estimator.parameters import EFFORTS, checked_parameters, drawn_seed
from iunet.estimator.stages import borrowed_torch, fit_rows, predict_rows, row_consistency
from iunet.method.masks import cut_off_at, used_inputs

if TYPE_CHECKING:
    from iunet.estimator.fast import FastClassifier


MIN_ROWS = 2  # BatchNorm cannot be trained on one


class DisconnectedWarning(UserWarning):
    """No input reaches the output of the pruned network."""


class IUNetClassifier(ClassifierMixin, BaseEstimator):
    """A pruned network that keeps the invariances of its data (IUNET), for tables.

    A wide network is trained so that rows stay close to corrupted copies of themselves (ILO), from
    small initial weights (PIS). The largest weights are kept, 1 in `ratio`, and trained again from
    their initial values. Predictions are the mean softmax of the networks at the ends of the second
    training's cycles.

    The defaults are the paper's, or the benchmark's where the paper says nothing: with the same
    rows and seed, probabilities equal the benchmark's bit for bit. As in the paper, there is no
    early stopping and no validation set: all rows are trained on for a fixed number of epochs. To
    search for other settings, use `GridSearchCV`. The time of a fit grows with the rows;
    `effort="quick"` takes about a tenth of it.

    Rows may be a data frame (numbers and categories, with missing values) or an array. Columns of
    text, categories and booleans are categorical, all others numeric. Missing numbers become the
    median, and numbers are standardised. Categories become one-hot groups; a missing value is a
    level if it occurs in fit, and a level that fit did not see is none. New rows are read as the
    kinds that were fitted. Images and regression are not supported.

    Fits in several threads of one process take turns, because torch's settings belong to the
    process. Use processes to fit in parallel (joblib's default).

    Parameters
    ----------
    effort : {"paper", "quick"}, default="paper"
        How long to train: sets the parameters below that are None.
    ratio : float, default=8
        Compression: 1/ratio of the encoder's weights are kept. 1 prunes nothing.
    structure : {"weight", "unit"}, default="weight"
        What is pruned: single weights or whole units. With units, `export` writes narrow dense
        layers, which are faster in any runtime.
    kappa : float, default=0.25
        PIS: the factor of the initial weights in the first training.
    objective : {"ilo", "sup", "scl"}, default="ilo"
        Loss of the first training: L_sup + λ L_nce, L_sup alone, or L_nce alone.
    nce_weight : float, default=1.0
        λ, the weight of L_nce in "ilo".
    corruption : float, default=0.6
        SCARF: the share of a row's columns that are replaced in its corrupted copy.
    width, depth : int, default=512, 9
        Units per hidden layer, and the number of hidden layers.
    init : {"torch_default", "he_normal", "glorot"}, default="torch_default"
        How initial weights are drawn.
    batch_size : int, default=None
        Rows per step of both trainings. Paper: 128; quick: 64.
    supernet_epochs, supernet_lr : int, float, default=None
        First training, by SGD. Paper: 100, 0.001; quick: 6, 0.02.
    supernet_momentum : float, default=0.9
        First training: Nesterov's momentum.
    finetune_lr : float, default=None
        Second training, by AdamW. Paper: 0.001; quick: 0.002.
    weight_decay : float, default=0.01
        Second training.
    first_cycle_epochs, cycles : int, default=None
        Second training: cosine annealing with restarts. Paper: 15, 3; quick: 12, 1.
    cycle_factor : int, default=2
        How much longer each cycle is than the one before.
    snapshot_ensemble : bool, default=True
        Predict with the networks at the ends of all cycles, not only the last.
    max_categories : int, default=256
        One-hot columns per feature; its rarest levels share one.
    categorical_features : list of names or positions, or a mask, default=None
        Columns of numbers that are categories. Whole numbers are positions from 0, even if the
        columns have numbers as names.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in L_sup.
    random_state : int, RandomState or None, default=None
        Determines initial weights, the order of batches and the corruption. An integer is the seed
        of the benchmark's runs.
    n_threads : int, default=1
        Threads of torch on a CPU. They change results in the last bits.
    device : {"auto", "cpu", "cuda"}, default="auto"
        "auto" uses a GPU if there is one.
    verbose : bool or int, default=False
        If true, show a progress bar for each training.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted: the order of the columns of `predict_proba`.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns of fit; names only if X had them.
    history_ : dict
        Losses per epoch of "supernet" and "finetune".
    masks_ : dict
        A boolean array [units, inputs] per layer; True where a weight is kept.
    sizes_ : dict
        Parameters and floating-point operations, dense and pruned.
    unused_features_ : ndarray
        Columns that cannot change a prediction: no path leads from them to the output.
    seed_ : int
        The seed that was used.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from iunet import IUNetClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = IUNetClassifier(width=32, depth=3, random_state=0).fit(X, y)
    >>> model.predict(X.head(3))
    array([0, 0, 0])
    """

    def __init__(
        self,
        *,
        effort="paper",
        ratio=8,
        structure="weight",
        kappa=0.25,
        objective="ilo",
        nce_weight=1.0,
        corruption=0.6,
        width=512,
        depth=9,
        init="torch_default",
        batch_size=None,
        supernet_epochs=None,
        supernet_lr=None,
        supernet_momentum=0.9,
        finetune_lr=None,
        weight_decay=0.01,
        first_cycle_epochs=None,
        cycle_factor=2,
        cycles=None,
        snapshot_ensemble=True,
        max_categories=256,
        categorical_features=None,
        class_weight=None,
        random_state=None,
        n_threads=1,
        device="auto",
        verbose=False,
    ):
        self.effort = effort
        self.ratio = ratio
        self.structure = structure
        self.kappa = kappa
        self.objective = objective
        self.nce_weight = nce_weight
        self.corruption = corruption
        self.width = width
        self.depth = depth
        self.init = init
        self.batch_size = batch_size
        self.supernet_epochs = supernet_epochs
        self.supernet_lr = supernet_lr
        self.supernet_momentum = supernet_momentum
        self.finetune_lr = finetune_lr
        self.weight_decay = weight_decay
        self.first_cycle_epochs = first_cycle_epochs
        self.cycle_factor = cycle_factor
        self.cycles = cycles
        self.snapshot_ensemble = snapshot_ensemble
        self.max_categories = max_categories
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_threads = n_threads
        self.device = device
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    # ---- fit

    def fit(self, X, y, sample_weight=None):
        """Train on the rows of X and their labels y.

        `sample_weight` weighs rows in L_sup, and anchors in L_nce; a weight of 0 leaves a row out.
        """
        parameters, X = checked_parameters(self), as_pandas(X)
        checked = clone(self)  # a fit that is refused leaves the columns of the one before it
        validate_data(checked, X, y, skip_check_array=True)
        frame, labels = to_frame(self, X, MIN_ROWS), labels_of(y)
        check_consistent_length(frame, labels)
        if sample_weight is not None:
            sample_weight = sample_weights(sample_weight, len(frame))
            kept = sample_weight > 0
            frame, labels, sample_weight = frame[kept], labels[kept], sample_weight[kept]
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise DataError(
                f"y has only one class ({classes.tolist()}), so there is nothing to classify."
            )
        # The network's outputs have the natural order of the labels' text, as in the workflow.
        outputs = encode_levels(pd.Series(classes))[0]
        classes = classes[np.argsort(outputs)]
        fitted, rows = fit_columns(
            frame, parameters["categorical_features"], parameters["max_categories"]
        )
        preprocessing = {
            "kind": "tabular",
            **fitted.to_json(),
            "columns": list(frame.columns),
            "named": hasattr(checked, "feature_names_in_"),
        }
        seed = drawn_seed(self.random_state)
        with as_data_errors(), self._torch(parameters["verbose"]) as device:
            part = table_part(rows, device, outputs[codes])
            weighted = loss_weights(parameters["class_weight"], classes, sample_weight, device)
            model = fit_rows(part, preprocessing, classes, parameters, seed, weighted)
        self._set_fitted(model)
        self._warn_if_disconnected()
        return self

    def _torch(self, show_progress: bool = False):
        """Torch's settings for one call; gives the device."""
        parameters = checked_parameters(self)
        return borrowed_torch(parameters["device"], parameters["n_threads"], show_progress)

    # ---- what was fitted

    def _set_fitted(self, model: PrunedModel) -> None:
        """Set all attributes from a model, new or loaded."""
        labels = np.array(model.classes, dtype=model.classifier["labels"])
        columns = model.preprocessing["columns"]
        used, groups = used_inputs(model.masks), model.preprocessing["groups"]
        unused = {g["column"] for g in groups if not used[g["start"] : g["stop"]].any()}
        unused |= set(model.preprocessing["dropped"])
        self._model, self._networks, self._order = model, model.networks(), np.argsort(labels)
        self.classes_ = labels[self._order]
        self.n_features_in_ = len(columns)
        vars(self).pop("feature_names_in_", None)
        if model.preprocessing["named"]:
            self.feature_names_in_ = np.array(columns, dtype=object)
        self.masks_, self.sizes_, self.seed_ = model.masks, model.sizes(), model.origin["seed"]
        self.history_ = model.classifier["history"]
        self.unused_features_ = np.array([c for c in columns if c in unused], dtype=object)

    def _warn_if_disconnected(self) -> None:
        if layer := cut_off_at(self.masks_):
            warnings.warn(
                f"The pruned network is disconnected: its layer '{layer}' blocks all inputs "
                f"({int(self.masks_[layer].sum())} of {self.masks_[layer].size} weights kept), so "
                "it predicts the same for every row. Lower `ratio` or `kappa`.",
                DisconnectedWarning,
                stacklevel=3,  # the caller of fit
            )

    def __getstate__(self):
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_networks"}

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_model" in state:
            self._networks = self._model.networks()

    # ---- predict

    def predict_proba(self, X):
        """The probability of every class for every row, as float32 [rows, classes]."""
        check_is_fitted(self)
        rows = self._rows(X)
        with self._torch() as device:
            part = table_part(rows, device)
            found = predict_rows(self._networks, self._model.preprocessing, part)
        return found.cpu().numpy()[:, self._order]

    def predict(self, X):
        """The most probable class of every row."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def consistency(self, X, reference=None, random_state=0):
        """How often a prediction stays the same when a row is corrupted: the paper's metric.

        Columns are replaced with those of random rows of `reference` (default: X). With the rows of
        fit it is the benchmark's number for the trained network; the model itself keeps no rows.
        Returns `same` in percent, the number of distinct labels predicted (1 means a constant
        prediction, which is always the same), and Cohen's kappa.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        donors = rows if reference is None else self._rows(reference)
        augment, seed = {"corruption": self.corruption}, drawn_seed(random_state)
        model = self._networks, self._model.preprocessing
        with self._torch() as device:
            parts = (table_part(found, device) for found in (rows, donors))
            return row_consistency(*model, *parts, augment, seed)

    def _rows(self, X) -> Rows:
        """New rows after the fitted preprocessing."""
        X, fitted = as_pandas(X), self._model.preprocessing
        frame = to_frame(self, X)
        validate_data(self, X, reset=False, skip_check_array=True)
        frame = frame.set_axis(fitted["columns"], axis="columns")
        return read_rows(frame, Preprocessing.from_json(fitted))

    # ---- files and pictures

    def save(self, path: str | Path) -> None:
        """Write the model to a file: safetensors with a JSON header and checksums, no pickle.

        The file has the parameters, the levels and statistics of the columns, and the kept weights,
        but no rows.
        """
        check_is_fitted(self)
        parameters = checked_parameters(self)
        for name in EFFORTS["paper"]:
            if getattr(self, name) is None:
                parameters[name] = None  # not what `effort` sets
        if isinstance(parameters["class_weight"], dict):  # keys of JSON are text
            parameters["class_weight"] = list(parameters["class_weight"].items())
        known = {**self._model.classifier, "parameters": parameters}
        write_model(check_path(path), replace(self._model, classifier=known))

    @classmethod
    def load(cls, path: str | Path) -> IUNetClassifier:
        """A model that `save` wrote. Loading executes nothing."""
        model = read_model(path)
        if model.classifier is None:
            raise UserError(
                f"{path} is an exported model, which cannot be fitted again. Load it with "
                "iunet.estimator.fast.FastClassifier."
            )
        try:
            restored = cls(**model.classifier["parameters"])
            if isinstance(restored.class_weight, list):
                restored.class_weight = dict(restored.class_weight)
            restored._set_fitted(model)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise UserError(
                f"{path} is not a model that this version of iunet ({__version__}) can read "
                f"({type(error).__name__}: {one_line(error)})."
            ) from error
        return restored

    def export(self, folder: str | Path) -> dict[str, Any]:
        """Write a model file, ONNX and a report for other programs; returns the report.

        Needs two more packages: pip install 'onnx>=1.17' 'onnxruntime>=1.20'.
        """
        from iunet.deploy.export import export_model

        check_is_fitted(self)
        return export_model(self._model, folder)

    def fast(self) -> FastClassifier:
        """The fitted model for fast prediction on a CPU.

        It computes with the kept weights only if numba is installed (pip install numba). Its
        probabilities agree with `predict_proba` to 1e-5.
        """
        from iunet.estimator.fast import FastClassifier

        check_is_fitted(self)
        return FastClassifier(self._model)

    def plot_history(self, ax=None):
        """The losses of both trainings by epoch (matplotlib)."""
        from iunet.estimator.plots import plot_history

        check_is_fitted(self)
        return plot_history(self.history_, ax)

    def plot_mask(self, layer=0, ax=None):
        """The kept weights of a layer, by position or name (matplotlib)."""
        from iunet.estimator.plots import plot_mask

        check_is_fitted(self)
        return plot_mask(self.masks_, layer, self._model.preprocessing["groups"], ax)
