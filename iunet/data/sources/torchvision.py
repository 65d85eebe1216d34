"""CIFAR10, CIFAR100 and SVHN through torchvision's own classes, which check each file's md5."""

from __future__ import annotations

import http.client
import os
import urllib.error
from pathlib import Path

import numpy as np

from iunet.data.images import OFFICIAL_SIZES, RawImages
from iunet.data.registry import Dataset
from iunet.data.sources import SourceSettings, with_retries
from iunet.errors import UserError


def fetch(dataset: Dataset, settings: SourceSettings, scratch: Path) -> RawImages:
    if dataset.location not in OFFICIAL_SIZES:
        raise UserError(
            f"torchvision's '{dataset.location}' is not known here, only "
            f"{', '.join(OFFICIAL_SIZES)}."
        )
    os.environ.setdefault("TQDM_DISABLE", "1")  # its progress bar floods a log file
    from iunet.machine.torchvision_cpu import import_torchvision

    loader = getattr(import_torchvision().datasets, dataset.location)

    def attempt(number: int) -> RawImages:
        return _load(loader, scratch / f"attempt{number}")

    return with_retries(
        attempt,
        f"torchvision's {dataset.location}",
        settings,
        # URLError covers HTTP errors; torchvision raises RuntimeError for a wrong checksum.
        transient=(
            urllib.error.URLError,
            http.client.HTTPException,
            RuntimeError,
            EOFError,
            OSError,
        ),
    )


def _load(loader: type, root: Path) -> RawImages:
    root.mkdir(parents=True)
    if loader.__name__ == "SVHN":
        train, test = (loader(root, split=split, download=True) for split in ("train", "test"))
        # torchvision gives [n, channels, side, side] here, and the others' labels as a list.
        x_train, x_test = (part.data.transpose(0, 2, 3, 1) for part in (train, test))
        y_train, y_test = train.labels, test.labels
        class_names = [str(digit) for digit in range(10)]
        files = {name: md5 for _, name, md5 in loader.split_list.values() if "extra" not in name}
    else:
        train, test = (loader(root, train=is_train, download=True) for is_train in (True, False))
        x_train, x_test = train.data, test.data
        y_train, y_test = train.targets, test.targets
        class_names = list(train.classes)
        files = {loader.filename: loader.tgz_md5}
    return RawImages(
        x_train=np.ascontiguousarray(x_train),
        y_train=np.asarray(y_train, dtype=np.int64),
        x_test=np.ascontiguousarray(x_test),
        y_test=np.asarray(y_test, dtype=np.int64),
        class_names=class_names,
        provenance={"source": "torchvision", "class": loader.__name__, "md5": files},
    )
