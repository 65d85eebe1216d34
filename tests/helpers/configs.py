"""Configs as Snakemake merges them, checked in this process."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from snakemake.utils import update_config

from iunet.shown import benchmark as benchmark

ROOT = Path(__file__).resolve().parents[2]


def merged(*overlays: str, **changes: Any) -> dict[str, Any]:
    """The paper's config with overlays of config/, such as `test`, and changes on top."""
    config = copy.deepcopy(_of_files(overlays))
    config["data"]["registry"] = [str(ROOT / path) for path in config["data"]["registry"]]
    update_config(config, changes)
    return config


@cache
def _of_files(overlays: tuple[str, ...]) -> dict[str, Any]:
    config: dict[str, Any] = {}
    for name in ("config", *overlays):
        text = (ROOT / "config" / f"{name}.yaml").read_text(encoding="utf-8")
        update_config(config, yaml.safe_load(text))
    return config
