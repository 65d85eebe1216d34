"""A folder of ready copies, for machines without a network.

Layout: `tabular/index.csv` and `tabular/<name>.parquet` (label in the column `target`);
`vision/index.csv` and `vision/<name>.npz` (arrays as in iunet/data/images.py).
The index gives each file's sha256 and counts. An image set may be a subset of the official one;
that is recorded, and shown in table 8.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iunet.artifacts import sha256
from iunet.data.images import OFFICIAL_SIZES, RawImages, read_images
from iunet.data.registry import Dataset, mirror_index
from iunet.data.sources import SourceSettings
from iunet.data.sources.file import read_table
from iunet.data.table import RawTable
from iunet.errors import UserError
from iunet.paper import official_rows

TARGET = "target"


def fetch(dataset: Dataset, settings: SourceSettings, scratch: Path) -> RawTable | RawImages:
    index = mirror_index(settings.mirror)
    if dataset.name not in index:
        raise UserError(
            f"the mirror {settings.mirror} does not have it, only: {', '.join(index)}. Add it "
            "there, or set data.mirror to null to download the data."
        )
    entry = index[dataset.name]
    path = Path(entry["path"])
    if entry["kind"] != dataset.kind:
        raise UserError(f"it is {dataset.kind}, but {path} is not.")
    if not path.is_file():
        raise UserError(f"the mirror's index names {path}, which does not exist.")
    if (found := sha256(path)) != entry["sha256"]:
        raise UserError(
            f"{path} has the wrong checksum: its sha256 is {found}, but the mirror's index says "
            f"{entry['sha256']}. Copy the file again."
        )
    provenance: dict[str, Any] = {
        "source": "mirror",
        "instead_of": {"source": dataset.source, "location": dataset.location},
        "origin": entry.get("source", ""),
        "note": entry.get("note", ""),
        "sha256": entry["sha256"],
    }
    if dataset.kind == "vision":
        raw = read_images(path, provenance)
        found = len(raw.x_train), len(raw.x_test)
        official = OFFICIAL_SIZES.get(dataset.location, found)
        if found != official:
            names = ("n_train", "n_test", "official_n_train", "official_n_test")
            provenance["subset"] = dict(zip(names, (*found, *official), strict=True))
        return raw
    frame, _ = read_table(path)
    official = official_rows(dataset.name)
    if official and len(frame) < official[0]:
        provenance["subset"] = {"n_rows": len(frame), "official_n_rows": official[1]}
    return RawTable(frame, TARGET, provenance=provenance)
