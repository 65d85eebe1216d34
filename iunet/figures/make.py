"""The figure stage: a figure from what it asks for, as PNG, PDF and CSV, and their checksums."""

from __future__ import annotations

import importlib
from typing import Any

from iunet.artifacts import write_json


def make_figure(name: str, ask: dict[str, Any], output: dict[str, str]) -> None:
    """`ask` is what the catalog says that the figure is made of."""
    files = {form: output[form] for form in ("png", "pdf", "csv")}
    importlib.import_module(ask["module"]).make(ask, files)
    write_json(output["json"], {"figure": name}, files=files.values())
