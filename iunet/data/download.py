"""The download stage: one verified, self-describing artifact per data set.

A table becomes `data.parquet`, an image set `images.safetensors`. `data.json` describes it and has
its checksum. It is written last, and has nothing that differs between two downloads of equal data.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iunet.artifacts import atomic_path, sha256, write_arrays, write_json
from iunet.data.registry import Dataset
from iunet.data.sources import SourceSettings, fetch

if TYPE_CHECKING:
    from iunet.data.images import RawImages
    from iunet.data.table import CleanTable

log = logging.getLogger(__name__)


def download(
    dataset: Dataset, settings: SourceSettings, data_path: str | Path, json_path: str | Path
) -> None:
    """Fetch a data set, check it, and write it as Parquet or safetensors, and JSON."""
    from iunet.data.images import check_images
    from iunet.data.table import clean_table

    with dataset.named():
        raw = fetch(dataset, settings, Path(data_path).parent)
        checked = clean_table(raw) if dataset.kind == "tabular" else check_images(raw)
    for text in checked.warnings:
        log.warning("%s: %s", dataset.name, text)
    write = _write_table if dataset.kind == "tabular" else _write_images
    description = write(dataset.name, checked, data_path)
    head = {"dataset": dataset.name, "kind": dataset.kind, "provenance": raw.provenance}
    file = {"file": Path(data_path).name, "sha256": sha256(data_path)}
    write_json(json_path, head | file | description)
    log.info("%s: %s, sha256 %s", dataset.name, data_path, file["sha256"])


def _write_table(dataset: str, clean: CleanTable, path: str | Path) -> dict[str, Any]:
    import pyarrow.parquet as pq

    with atomic_path(path) as temporary:
        pq.write_table(clean.table, temporary, compression="zstd")
    return {
        "target": clean.target,
        "n_rows": clean.table.num_rows,
        "n_features": len(clean.columns),
        "n_classes": len(clean.classes),
        "n_missing": sum(column["n_missing"] for column in clean.columns),
        "classes": clean.classes,
        "columns": clean.columns,
    }


def _write_images(dataset: str, raw: RawImages, path: str | Path) -> dict[str, Any]:
    import numpy as np

    arrays = {name: getattr(raw, name) for name in ("x_train", "y_train", "x_test", "y_test")}
    write_arrays(path, arrays, dataset=dataset)
    counts = np.bincount(np.concatenate([raw.y_train, raw.y_test]), minlength=len(raw.class_names))
    return {
        "n_train": len(raw.y_train),
        "n_test": len(raw.y_test),
        "n_classes": len(raw.class_names),
        "side": raw.x_train.shape[1],
        "channels": raw.x_train.shape[3],
        "classes": [
            {"name": name, "count": int(n)} for name, n in zip(raw.class_names, counts, strict=True)
        ],
    }
