"""The study's configs: the paper's with an overlay, and a second one for the real size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[2]
OVERLAY = "config/cpu-study.yaml"
SIZE_OVERLAY = "config/cpu-study-size.yaml"  # on top of the first


def read_config(*overlays: str) -> dict[str, Any]:
    """The config of the study, as Snakemake makes it."""
    import yaml

    from iunet.runs.overlays import update_config

    config: dict[str, Any] = {}
    for name in ("config/config.yaml", *(overlays or (OVERLAY,))):
        update_config(config, yaml.safe_load((PROJECT / name).read_text(encoding="utf-8")))
    return config
