"""A fitted classifier as a file: its model (iunet/deploy/model.py), and what it knows beside it.

No rows are in it: it grows with the network, and with the distinct levels of categorical columns.
"""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from iunet import __version__
from iunet.artifacts import read_arrays_and_metadata
from iunet.deploy.model import FORMAT, read_model, write_model
from iunet.errors import UserError, one_line


def save_classifier(model: Any, path: str | Path) -> None:
    """Write a fitted classifier; the file is the old one, the whole new one, or none."""
    names = getattr(model, "feature_names_in_", None)
    known = {
        "parameters": {name: _plain(name, v) for name, v in model.get_params(False).items()},
        "labels": model.classes_.dtype.str,
        "n_features_in": model.n_features_in_,
        "feature_names_in": None if names is None else list(map(str, names)),
        "history": model.history_,
    }
    write_model(check_path(path), model._model, known)


def check_path(path: str | Path) -> Path:
    """The file behind a link, or `path`, once it is clear that a model can be written there.

    Of the files that exist, only a model is replaced.
    """
    path = Path(path).resolve()
    if path.is_dir():
        raise UserError(f"The model cannot be written to {path}, which is a folder: name a file.")
    if path.exists() and not _is_model(path):
        raise UserError(f"The model cannot be written to {path}, a file that is no model.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryDirectory(dir=path.parent).cleanup()
    except OSError as error:
        raise UserError(f"The model cannot be written to {path} ({one_line(error)}).") from error
    return path


def _is_model(path: Path) -> bool:
    try:
        return read_arrays_and_metadata(path)[1].get("format") == FORMAT
    except UserError:
        return False


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON; a dictionary as pairs, since JSON's keys are text."""
    if isinstance(value, np.random.RandomState):
        return None  # the seed that was drawn from it is saved with the model
    if isinstance(value, dict):
        return {"pairs": [[_plain(name, k), _plain(name, v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple, set, range, np.ndarray, pd.Index, pd.Series)):
        return [_plain(name, entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise UserError(f"The parameter '{name}' is {value!r}, which cannot be saved.")


def load_classifier(kind: type, path: str | Path) -> Any:
    """The classifier that `save_classifier` wrote."""
    model, known = read_model(path)
    if known is None:
        raise UserError(
            f"{path} holds an exported model, which has no parameters to fit it again: load it "
            "with iunet.estimator.fast.FastClassifier."
        )
    try:
        return _restored(kind, model, known)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError) as error:
        raise UserError(
            f"{path} is no model that this version of iunet ({__version__}) can read "
            f"({type(error).__name__}: {one_line(error)})."
        ) from error


def _restored(kind: type, model: Any, known: dict[str, Any]) -> Any:
    given = known["parameters"]
    if unknown := sorted(set(given) - set(inspect.signature(kind.__init__).parameters)):
        raise ValueError(f"there is no parameter '{unknown[0]}'")
    restored = kind(**{name: _parameter(value) for name, value in given.items()})
    restored.classes_ = np.sort(np.array(model.classes, dtype=known["labels"]))
    restored.n_features_in_ = known["n_features_in"]
    if known["feature_names_in"] is not None:
        restored.feature_names_in_ = np.array(known["feature_names_in"], dtype=object)
    restored._take(model, known["history"])
    return restored


def _parameter(value: Any) -> Any:
    return dict(value["pairs"]) if isinstance(value, dict) else value
