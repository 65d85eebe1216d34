"""Data that come with scikit-learn: three small tables, and colour images made of its parts.

`photo_digits` blends the handwritten digits into random crops of the two sample photographs, as
MNIST-M does, so that every image transform has something to act on. It serves the demo and tests.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from iunet.data.images import RawImages
from iunet.data.registry import Dataset
from iunet.data.sources import SourceSettings
from iunet.data.table import RawTable
from iunet.errors import UserError

TABLES = ("breast_cancer", "wine", "digits")
PHOTO_DIGITS = {  # name → digits that are its classes, seed of its crops
    "photo_digits": (range(10), 0),
    "photo_digits_low": (range(5), 1),
    "photo_digits_high": (range(5, 10), 2),
}
SIDE = 16
TEST_SHARE = 0.25


def fetch(dataset: Dataset, settings: SourceSettings, scratch: Path) -> RawTable | RawImages:
    names = TABLES if dataset.kind == "tabular" else tuple(PHOTO_DIGITS)
    if dataset.location not in names:
        raise UserError(
            f"there is no embedded {dataset.kind} set '{dataset.location}', only: "
            f"{', '.join(names)}."
        )
    if dataset.kind == "vision":
        classes, seed = PHOTO_DIGITS[dataset.location]
        return photo_digits(list(classes), seed)
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{dataset.location}")(as_frame=True)
    frame = bunch.data.copy()
    frame["target"] = [str(bunch.target_names[label]) for label in bunch.target]
    return RawTable(frame, "target", provenance=_provenance(dataset.location))


def _provenance(name: str) -> dict[str, str]:
    import sklearn

    return {"source": "embedded", "name": name, "version": f"scikit-learn {sklearn.__version__}"}


def photo_digits(classes: list[int], seed: int) -> RawImages:
    """Digits blended into photographs: |crop − digit|, 16×16 RGB."""
    from sklearn.datasets import load_digits, load_sample_images

    digits = load_digits()
    chosen = np.isin(digits.target, classes)
    strokes, labels = digits.images[chosen] / 16.0, digits.target[chosen]
    # Twice the side, by repeating pixels: the strokes stay readable and the result exact.
    strokes = strokes.repeat(2, axis=1).repeat(2, axis=2)
    rng = np.random.default_rng(seed)
    crops = _random_crops(load_sample_images().images, len(labels), rng)
    images = np.abs(crops - 255.0 * strokes[..., None]).round().astype(np.uint8)
    # The last quarter, in the file's order, serves as the official test set.
    n_train = len(labels) - int(TEST_SHARE * len(labels))
    targets = np.searchsorted(classes, labels).astype(np.int64)
    return RawImages(
        x_train=images[:n_train],
        y_train=targets[:n_train],
        x_test=images[n_train:],
        y_test=targets[n_train:],
        class_names=[str(digit) for digit in classes],
        provenance=_provenance("photo_digits") | {"seed": seed},
    )


def _random_crops(
    photographs: list[np.ndarray], count: int, rng: np.random.Generator
) -> np.ndarray:
    which = rng.integers(len(photographs), size=count)
    crops = np.empty((count, SIDE, SIDE, 3))
    for i, photograph in enumerate(photographs[p] for p in which):
        top, left = (rng.integers(size - SIDE + 1) for size in photograph.shape[:2])
        crops[i] = photograph[top : top + SIDE, left : left + SIDE]
    return crops
