"""Image sets as NumPy's `.npz`: the mirror's, and a user's own."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from iunet.data.images import RawImages
from iunet.errors import UserError, one_line

ARRAYS = ("x_train", "y_train", "x_test", "y_test", "class_names")


def read_images(dataset: str, path: Path, provenance: dict[str, Any]) -> RawImages:
    """`x_…` are uint8 [n, side, side, channels], `y_…` whole numbers that index `class_names`."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ARRAYS}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise UserError(
            f"Data set '{dataset}': {path} cannot be read as an image set ({one_line(error)})."
        ) from error
    x_train, y_train, x_test, y_test, class_names = arrays.values()
    for labels in (y_train, y_test):
        if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
            raise UserError(
                f"Data set '{dataset}': the labels in {path} are {labels.dtype} of shape "
                f"{list(labels.shape)}, not a list of integers."
            )
    return RawImages(
        x_train,
        y_train.astype(np.int64),
        x_test,
        y_test.astype(np.int64),
        [str(name) for name in class_names],
        provenance,
    )
