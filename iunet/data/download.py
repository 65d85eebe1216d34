"""The download stage: one verified, self-describing artifact per data set.

A table becomes `data.parquet`, an image set `images.safetensors`, each beside `data.json`. The
JSON is written last and holds the checksum of the other, and nothing that changes from one
download of the same data to the next.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iunet.artifacts import atomic_path, sha256, write_arrays, write_json
from iunet.data.registry import UNDECLARED, Dataset
from iunet.data.sources import SourceSettings, fetch
from iunet.errors import UserError

log = logging.getLogger(__name__)


def download_table(
    dataset: Dataset, settings: SourceSettings, data_path: str | Path, json_path: str | Path
) -> None:
    """Fetch a tabular data set, check it, and write it as Parquet and JSON."""
    import pyarrow.parquet as pq

    from iunet.data.table import clean_table

    with _told_where_declared(dataset):
        raw = fetch(dataset, settings, Path(data_path).parent)
        clean = clean_table(dataset.name, raw)
    with atomic_path(data_path) as temporary:
        pq.write_table(clean.table, temporary, compression="zstd")
    description = {
        "target": clean.target,
        "n_rows": clean.table.num_rows,
        "n_features": len(clean.columns),
        "n_classes": len(clean.classes),
        "n_missing": sum(column["n_missing"] for column in clean.columns),
        "classes": clean.classes,
        "columns": clean.columns,
    }
    _write_description(dataset, raw.provenance, description, data_path, json_path)


def download_images(
    dataset: Dataset, settings: SourceSettings, data_path: str | Path, json_path: str | Path
) -> None:
    """Fetch a vision data set, check it, and write it as safetensors and JSON."""
    import numpy as np

    from iunet.data.images import check_images

    with _told_where_declared(dataset):
        raw = fetch(dataset, settings, Path(data_path).parent)
        check_images(dataset.name, raw)
    arrays = {name: getattr(raw, name) for name in ("x_train", "y_train", "x_test", "y_test")}
    write_arrays(data_path, arrays, dataset=dataset.name)
    counts = np.bincount(np.concatenate([raw.y_train, raw.y_test]), minlength=len(raw.class_names))
    description = {
        "n_train": len(raw.y_train),
        "n_test": len(raw.y_test),
        "n_classes": len(raw.class_names),
        "side": raw.x_train.shape[1],
        "channels": raw.x_train.shape[3],
        "classes": [
            {"name": name, "count": int(n)} for name, n in zip(raw.class_names, counts, strict=True)
        ],
    }
    _write_description(dataset, raw.provenance, description, data_path, json_path)


@contextlib.contextmanager
def _told_where_declared(dataset: Dataset) -> Iterator[None]:
    """An error of a data set names the registry's file and line, where it can be put right."""
    try:
        yield
    except UserError as error:
        if dataset.declared_at == UNDECLARED or dataset.declared_at in str(error):
            raise
        raise UserError(f"{error} ('{dataset.name}': {dataset.declared_at}.)") from error


def _write_description(
    dataset: Dataset,
    provenance: dict[str, Any],
    description: dict[str, Any],
    data_path: str | Path,
    json_path: str | Path,
) -> None:
    head = {"dataset": dataset.name, "kind": dataset.kind, "provenance": provenance}
    file = {"file": Path(data_path).name, "sha256": sha256(data_path)}
    write_json(json_path, head | file | description)
    log.info("%s: %s, sha256 %s", dataset.name, data_path, file["sha256"])
