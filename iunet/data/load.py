"""Split data on the device, and how a batch of them becomes the network's input.

A part lies on the device as a whole: a table as its raw columns (numeric ones, then the codes of
the categorical ones), images as uint8. A batch is an index slice; `prepare` makes it an input, and
`transformed` the input g(x).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from iunet.artifacts import read_arrays
from iunet.data.preprocess import Preprocessing, Rows
from iunet.method.augment import Transform, compose, scarf, vision_transforms


@dataclass
class Part:
    """Train, valid or test."""

    raw: Tensor  # [n, columns] float32, or [n, channels, side, side] uint8
    labels: Tensor  # [n] int64

    def __len__(self) -> int:
        return len(self.labels)


def joined(*parts: Part) -> Part:
    """The rows of several parts, one after the other."""
    raw, labels = ([getattr(part, name) for part in parts] for name in ("raw", "labels"))
    return Part(torch.cat(raw), torch.cat(labels))


def load_part(path: str | Path, device: torch.device) -> Part:
    """One part of a split, on the device."""
    arrays = read_arrays(path)
    if "images" in arrays:
        images, labels = (torch.from_numpy(arrays[name]) for name in ("images", "labels"))
        return Part(images.to(device), labels.to(device))
    return table_part((arrays["numeric"], arrays["categorical"]), device, arrays["labels"])


def table_part(rows: Rows, device: torch.device, labels: np.ndarray | None = None) -> Part:
    """Rows of a table after its preprocessing, on a device; new rows have no labels."""
    numeric, codes = (torch.from_numpy(array).to(device) for array in rows)
    labels = np.zeros(len(numeric)) if labels is None else labels
    raw = torch.cat([numeric, codes.float()], dim=1)
    return Part(raw, torch.from_numpy(labels.astype(np.int64)).to(device))


class TabularInputs:
    """Raw columns to network inputs: numeric ones as they are, codes as one-hot groups."""

    def __init__(
        self,
        preprocessing: dict[str, Any],
        device: torch.device,
        augment: dict[str, Any] | None = None,
        train: Part | None = None,
    ):
        fitted = Preprocessing.from_json(preprocessing)
        self.n_numeric = len(fitted.numeric)
        self.n_inputs = fitted.n_inputs
        starts = [group["start"] for group in fitted.groups()[self.n_numeric :]]
        self.starts = torch.tensor(starts, dtype=torch.int64, device=device)
        self.augment = augment
        self.train = None if train is None else train.raw

    def prepare(self, raw: Tensor) -> Tensor:
        if raw.shape[1] == self.n_numeric:
            return raw
        inputs = raw.new_zeros(len(raw), self.n_inputs)
        inputs[:, : self.n_numeric] = raw[:, : self.n_numeric]
        codes = raw[:, self.n_numeric :]
        # Code -1, a value that train never had, writes its 0 where the group's first column is.
        places = self.starts + codes.clamp(min=0).long()
        return inputs.scatter_(1, places, (codes >= 0).to(raw.dtype))

    def transformed(self, raw: Tensor, generator: Generator) -> Tensor:
        return self.prepare(scarf(raw, self.train, self.augment["corruption"], generator))

    def single_transforms(self) -> dict[str, Transform]:
        """The transforms of the consistency metric, by name."""
        return {"feat": self.transformed}


class VisionInputs:
    """uint8 images to inputs normalised by train's channel mean and std."""

    def __init__(
        self,
        preprocessing: dict[str, Any],
        device: torch.device,
        augment: dict[str, Any] | None = None,
        train: Part | None = None,
    ):
        shape = (1, -1, 1, 1)
        mean = torch.tensor(preprocessing["mean"], device=device).view(shape)
        std = torch.tensor(preprocessing["std"], device=device).view(shape)
        self.scale, self.shift = 1 / (255 * std), -mean / std
        self.augment = augment
        self.composed = compose(vision_transforms(augment)) if augment else None

    def prepare(self, raw: Tensor) -> Tensor:
        return torch.addcmul(self.shift, raw.float(), self.scale)

    def _normalised(self, images: Tensor) -> Tensor:
        return torch.addcmul(self.shift, images, 255 * self.scale)

    def transformed(self, raw: Tensor, generator: Generator) -> Tensor:
        return self._normalised(self.composed(raw.float() / 255, generator))

    def single_transforms(self) -> dict[str, Transform]:
        """The transforms of the consistency metric, by name: one at a time, always (p = 1)."""

        def normalised(transform: Transform) -> Transform:
            return lambda raw, generator: self._normalised(transform(raw.float() / 255, generator))

        transforms = vision_transforms(self.augment, always=True)
        return {name: normalised(transform) for name, transform in transforms.items()}


Inputs = TabularInputs | VisionInputs


def make_inputs(
    preprocessing: dict[str, Any],
    device: torch.device,
    augment: dict[str, Any] | None = None,
    train: Part | None = None,
) -> Inputs:
    """The way from raw batches to inputs.

    Where g is used, `augment` is the config's `augment` section of the data's kind, and `train` are
    the rows from which SCARF draws. Prediction needs neither.
    """
    kind = TabularInputs if preprocessing["kind"] == "tabular" else VisionInputs
    return kind(preprocessing, device, augment, train)


@dataclass
class TrainingData:
    """What a network is trained on, and rows on which its progress is seen, if there are any."""

    train: Part
    inputs: Inputs
    valid: Part | None = None
    validate_every: int = 1  # epochs between two looks at `valid`
