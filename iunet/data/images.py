"""A raw image set as a source gives it, checked; the mirror's and a user's own are `.npz` files."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from iunet.data.table import refuse_surrogates
from iunet.errors import UserError, one_line

# Images in the official train and test files: fewer in a mirror is a subset, and recorded as one.
OFFICIAL_SIZES = {
    "CIFAR10": (50_000, 10_000),
    "CIFAR100": (50_000, 10_000),
    "SVHN": (73_257, 26_032),
}
CHANNELS = 3  # of the networks, and of the transforms of colour
ARRAYS = ("x_train", "y_train", "x_test", "y_test", "class_names")


@dataclass
class RawImages:
    """What a source returns for a vision data set: uint8 images [n, side, side, channels]."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    class_names: list[str]
    provenance: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def read_images(path: Path, provenance: dict[str, Any]) -> RawImages:
    """`x_…` are uint8 [n, side, side, channels], `y_…` whole numbers that index `class_names`."""
    try:
        if not zipfile.is_zipfile(path):
            raise ValueError("it is not an archive that numpy.savez wrote")
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ARRAYS}
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError("it holds other files than arrays")
        names = arrays["class_names"]
        names = np.char.decode(names, "utf-8") if names.dtype.kind == "S" else names
    except (OSError, ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        raise UserError(f"{path} cannot be read as an image set ({one_line(error)}).") from error
    if names.ndim != 1 or names.dtype.kind not in "Uiu" or len(np.unique(names)) < len(names):
        raise UserError(
            f"the class_names in {path} are {names.dtype} of shape {list(names.shape)}, not a "
            "list of different texts."
        )
    arrays["class_names"] = [str(name) for name in names]
    refuse_surrogates("The class name", arrays["class_names"])
    for name in ("y_train", "y_test"):
        labels = arrays[name]
        if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
            raise UserError(
                f"the labels in {path} are {labels.dtype} of shape {list(labels.shape)}, not a "
                "list of integers."
            )
    return RawImages(**arrays, provenance=provenance)


def _in_colour(raw: RawImages) -> RawImages:
    """Grey-scale images, with one channel or none, as three equal channels; `data.json` says so."""
    parts = {name: getattr(raw, name) for name in ("x_train", "x_test")}
    if not all(x.ndim == 3 or (x.ndim == 4 and x.shape[3] == 1) for x in parts.values()):
        return raw
    coloured = {name: x.reshape(*x.shape[:3], 1).repeat(CHANNELS, 3) for name, x in parts.items()}
    raw.provenance["grey_scale"] = True
    return replace(raw, **coloured)


def check_images(raw: RawImages) -> RawImages:
    """The images in colour; refused if they are not square, or do not match their labels."""
    raw = _in_colour(raw)
    for part, x, y in [("train", raw.x_train, raw.y_train), ("test", raw.x_test, raw.y_test)]:
        square = x.ndim == 4 and x.shape[1] == x.shape[2] > 0
        if x.dtype != np.uint8 or not square or x.shape[3] != CHANNELS:
            raise UserError(
                f"{part} images: expected uint8 of shape [n, side, side, channels] with 3 "
                f"channels, or 1 if grey-scale, found {x.dtype} of shape {list(x.shape)}."
            )
        if len(x) == 0:
            raise UserError(f"{part} images: there are none.")
        if len(x) != len(y):
            raise UserError(f"{part} images: {len(x)} images, but {len(y)} labels.")
        if y.min() < 0 or y.max() >= len(raw.class_names):
            raise UserError(
                f"{part} images: labels from {y.min()} to {y.max()}, but there are "
                f"{len(raw.class_names)} class names."
            )
    if raw.x_train.shape[1:] != raw.x_test.shape[1:]:
        raise UserError(
            f"train images have shape {list(raw.x_train.shape[1:])}, test images "
            f"{list(raw.x_test.shape[1:])}."
        )
    if len(np.unique(raw.y_train)) < 2:
        raise UserError("the train labels are constant.")
    labels = {name: getattr(raw, name).astype(np.int64) for name in ("y_train", "y_test")}
    return replace(raw, **labels)
