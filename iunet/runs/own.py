"""Data of a user's own, named on the command line: `--config own=customers.csv target=label`.

The Snakefile adds an overlay with budgets for an evening (config/own-table.yaml, own-images.yaml);
here the file becomes the one data set of every group that is for its kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from iunet.data.registry import Dataset
from iunet.errors import UserError

IMAGES = ".npz"
GROUPS = {"tabular": ("tabular", "ablation", "search"), "vision": ("vision",)}


def own_dataset(config: dict[str, Any], taken: Collection[str]) -> Dataset | None:
    """The data set, if the config names one; its name is the file's, unless that is taken."""
    target, categorical = config["target"], config["categorical"]
    if config["own"] is None:
        for key in ("target", "categorical"):
            if config[key]:
                raise UserError(
                    f"The config key '{key}' is of data of your own: name their file as well, with "
                    "own=my.csv."
                )
        return None
    path = Path(config["own"])
    images = path.suffix.lower() == IMAGES
    if images and (target is not None or categorical):
        raise UserError(
            f"The config keys 'target' and 'categorical' are for tables, but {path} "
            "holds images with their labels."
        )
    if not images and target is None:
        raise UserError(
            f"The config key 'own' names the table {path}, but 'target' does not say which column "
            "is to be predicted: --config own=my.csv target=label."
        )
    name = re.sub(r"[^a-z0-9._-]+", "-", path.name.partition(".")[0].lower()).strip("._-") or "own"
    name = f"own-{name}" if name in taken else name
    return Dataset(
        name,
        "vision" if images else "tabular",
        "file",
        str(path),
        "" if images else str(target),
        tuple(map(str, categorical)),
        "the config key 'own'",
    )


def with_own_data(config: dict[str, Any], dataset: Dataset) -> dict[str, Any]:
    """The config with this data set in all groups of its kind, and none in the others."""
    groups = {
        group: [dataset.name] if kind == dataset.kind else []
        for kind, names in GROUPS.items()
        for group in names
    }
    return {**config, "datasets": groups}
