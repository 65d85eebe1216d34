"""The study's configs: the paper's with an overlay, and a second one for the real size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iunet.runs.overlays import merged_config

PROJECT = Path(__file__).parents[2]
OVERLAY = "config/cpu-study.yaml"
SIZE_OVERLAY = "config/cpu-study-size.yaml"  # on top of the first


def read_config(*overlays: str) -> dict[str, Any]:
    """The config of the study; called in the project's folder, as `make` does."""
    return merged_config(overlays or (OVERLAY,))
