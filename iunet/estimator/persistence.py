"""A fitted classifier as a folder: `model.json` for people and programs, `weights.safetensors`.

The weights' file is sealed (every byte of it is under its checksum) and holds the checksum of
`model.json`, so a folder that is cut off, or differs in one byte, is refused by the file's name.
Reading parses JSON and numbers, and executes nothing. No rows are in it: it grows with the network,
and with the distinct levels of categorical columns.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from iunet import __version__
from iunet.deploy.sealed import read_sealed, write_sealed
from iunet.errors import UserError, one_line
from iunet.estimator.fitting import Subnetwork
from iunet.method.masks import pack_masks, unpack_masks
from iunet.training.members import split_members

FORMAT, VERSION = "iunet-classifier", 1
DESCRIPTION, WEIGHTS = "model.json", "weights.safetensors"
LABELS = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}  # by kind of NumPy's


def is_model(folder: str | Path) -> bool:
    return (Path(folder) / DESCRIPTION).is_file()


# ---- save


def save_model(model: Any, folder: str | Path) -> None:
    """Write beside `folder` and rename: it is the old model, the whole new one, or none."""
    folder = check_folder(folder)
    text = json.dumps(describe(model), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    arrays = {f"mask/{name}": bits for name, bits in pack_masks(model.masks_).items()}
    for i, member in enumerate(model._members):
        arrays |= {f"{i}/{name}": array for name, array in member.items()}
    beside = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        beside.mkdir(parents=True)
        (beside / DESCRIPTION).write_bytes(text.encode())
        checksum = hashlib.sha256(text.encode()).hexdigest()
        content = {"format": FORMAT, "version": VERSION, "files": {DESCRIPTION: checksum}}
        write_sealed(beside / WEIGHTS, arrays, content)
        _replace(beside, folder)
    except OSError as error:
        raise UserError(f"The model cannot be written to {folder} ({one_line(error)}).") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def check_folder(folder: str | Path) -> Path:
    """The folder without links, if a model can be written to it; else a `UserError`.

    Only a model, or an empty folder, is replaced.
    """
    folder = Path(folder).resolve()
    if Path.cwd().is_relative_to(folder):
        raise UserError(
            f"The model cannot be written to {folder}, in which this program runs: it replaces the "
            "folder. Name one inside it."
        )
    if folder.is_dir():
        others = sorted({path.name for path in folder.iterdir()} - {DESCRIPTION, WEIGHTS})
        if others:
            raise UserError(
                f"The model cannot be written to {folder}: the folder holds '{others[0]}', which "
                "is no part of a model. Name a folder of its own."
            )
    elif folder.exists():
        raise UserError(f"The model cannot be written to {folder}, which is a file.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryDirectory(dir=folder.parent).cleanup()
    except OSError as error:
        raise UserError(f"The model cannot be written to {folder} ({one_line(error)}).") from error
    return folder


def _replace(new: Path, folder: Path) -> None:
    if not folder.exists():
        new.rename(folder)
        return
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        old.rename(folder)  # the model that was there stays
        raise
    shutil.rmtree(old)


def describe(model: Any) -> dict[str, Any]:
    """All of a model but its weights."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "iunet": __version__,
        "parameters": {name: _plain(name, v) for name, v in model.get_params(False).items()},
        "classes": {"kind": model.classes_.dtype.str, "labels": saved_labels(model.classes_)},
        "n_features_in": model.n_features_in_,
        "feature_names_in": _names(model),
        "seed": model.seed_,
        "network": model._network,
        "preprocessing": model._preprocessing,
        "shapes": {name: list(mask.shape) for name, mask in model.masks_.items()},
        "sizes": model.sizes_,
        "history": model.history_,
    }


def saved_labels(classes: np.ndarray) -> list[Any]:
    kind = LABELS.get(classes.dtype.kind)
    labels = classes.tolist()
    if kind is None or not all(isinstance(label, kind) for label in labels):
        raise UserError(
            f"A model whose labels are of type {type(labels[0]).__name__} ({classes.dtype}) cannot "
            "be saved: use text, numbers or booleans."
        )
    return labels


def _names(model: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else list(map(str, names))


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON; a dictionary as pairs, since JSON's keys are text."""
    if isinstance(value, np.random.RandomState):
        return None  # `seed` says what was drawn from it
    if isinstance(value, dict):
        return {"pairs": [[_plain(name, k), _plain(name, v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple, set, range, np.ndarray, pd.Index, pd.Series)):
        return [_plain(name, entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise UserError(f"The parameter '{name}' is {value!r}, which cannot be saved.")


# ---- load


def load_model(kind: type, folder: str | Path) -> Any:
    """The classifier that `save_model` wrote."""
    folder = Path(folder)
    description = folder / DESCRIPTION
    for path in (description, folder / WEIGHTS):
        if not path.is_file():
            raise UserError(f"{folder} is no saved model: {path.name} is missing in it.")
    text = description.read_bytes()
    arrays, said = read_sealed(folder / WEIGHTS, "the weights of a saved IUNetClassifier")
    try:
        _check_version(folder / WEIGHTS, said)
        if said["files"] != {DESCRIPTION: hashlib.sha256(text).hexdigest()}:
            raise UserError(
                f"{description} is damaged, or of another model: its bytes do not fit the checksum "
                f"in {WEIGHTS}. Get both again from where they were made."
            )
        content = json.loads(text)
        _check_version(description, content)
        return _restored(kind, content, arrays)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError) as error:
        raise UserError(
            f"{folder} is no model that this version of iunet ({__version__}) can read "
            f"({type(error).__name__}: {one_line(error)})."
        ) from error


def _check_version(path: Path, content: dict[str, Any]) -> None:
    if content.get("format") != FORMAT:
        raise UserError(f"{path} is not of a saved IUNetClassifier.")
    if content.get("version") != VERSION:
        raise UserError(
            f"{path} has version {content.get('version')} of the format, but iunet {__version__} "
            f"reads version {VERSION}. Load it with the iunet that saved it."
        )


def _restored(kind: type, content: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    known = inspect.signature(kind.__init__).parameters
    given = content["parameters"]
    if unknown := sorted(set(given) - set(known)):
        raise ValueError(f"there is no parameter '{unknown[0]}'")
    model = kind(**{name: _parameter(value) for name, value in given.items()})
    labels = content["classes"]
    model.classes_ = np.array(labels["labels"], dtype=labels["kind"])
    model.n_features_in_ = content["n_features_in"]
    if content["feature_names_in"] is not None:
        model.feature_names_in_ = np.array(content["feature_names_in"], dtype=object)
    model.seed_ = content["seed"]
    bits = {k.removeprefix("mask/"): a for k, a in arrays.items() if k.startswith("mask/")}
    masks = unpack_masks(bits, content["shapes"])
    members = split_members({k: a for k, a in arrays.items() if not k.startswith("mask/")})
    subnetwork = Subnetwork(
        content["network"], masks, members, content["history"], content["sizes"]
    )
    model._take(content["preprocessing"], subnetwork)
    return model


def _parameter(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(value["pairs"])
    return value
