"""Export: a trained network as a folder of files for other programs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from iunet.artifacts import write_json, write_text
from iunet.deploy.model import PrunedModel, fold, in_label_order, is_model, write_model
from iunet.deploy.onnx import build_onnx
from iunet.deploy.report import report_on, report_text
from iunet.errors import UserError, one_line

FILES = ("model.safetensors", "model.onnx", "report.json", "report.md")


def export_model(model: PrunedModel, folder: str | Path, repeats: int = 30) -> dict[str, Any]:
    """Write the model file, ONNX and a report (JSON and Markdown), or nothing; return the report.

    Probabilities have the sorted order of the labels, like scikit-learn's `classes_`. Latencies are
    medians of `repeats` calls.
    """
    model = replace(in_label_order(model), classifier=None)
    folder, layers = Path(os.path.realpath(folder)), fold(model)
    built = build_onnx(model, layers)
    try:
        _refuse_others(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as temporary:
            there = Path(temporary) / "new"
            there.mkdir()
            compact, onnx, as_json, as_text = (there / name for name in FILES)
            files = {"compact": compact, "onnx": onnx}
            write_model(compact, model)
            onnx.write_bytes(built.SerializeToString(deterministic=True))
            report = report_on(model, layers, files, repeats)
            write_json(as_json, report, files=files.values())
            write_text(as_text, report_text(report))
            _refuse_others(folder)  # nobody has put a file there meanwhile
            if folder.is_dir():
                folder.rename(Path(temporary) / "old")
            there.rename(folder)
    except OSError as error:
        raise UserError(f"The model cannot be exported to {folder} ({one_line(error)}).") from error
    return report


def _refuse_others(folder: Path) -> None:
    """Refuse a folder with anything but an older export."""
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    is_export = found == sorted(FILES) and is_model(folder / FILES[0])
    if found and not is_export:
        raise UserError(
            f"The model cannot be exported to {folder}, which holds other files "
            f"({', '.join(found[:5])}). Name a new folder, or that of an older export."
        )
