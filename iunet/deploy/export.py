"""Export: a trained network in the forms in which others use it, in one folder."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from iunet.artifacts import write_json, write_text
from iunet.deploy.folded import fold
from iunet.deploy.model import PrunedModel, in_label_order, write_model
from iunet.deploy.onnx import build_onnx, write_onnx
from iunet.deploy.report import report_on, report_text
from iunet.errors import UserError, one_line

FILES = {"compact": "model.safetensors", "onnx": "model.onnx"}


def export_model(model: PrunedModel, folder: str | Path, repeats: int = 30) -> dict[str, Any]:
    """Write the model file, ONNX and the report (JSON and Markdown); returns the report.

    The probabilities of both stand in the sorted order of the labels, as scikit-learn's `classes_`.
    `repeats`: calls of each form, for its latency.
    """
    model = replace(in_label_order(model), classifier=None)
    folder = Path(folder)
    is_new = not folder.exists()
    files = {name: folder / file for name, file in FILES.items()}
    layers = fold(model)
    built = build_onnx(model, layers)  # refuses what cannot be exported, before anything is written
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_model(files["compact"], model)
        write_onnx(files["onnx"], built)
        report = report_on(model, layers, files, repeats)
        write_json(folder / "report.json", report, files=files.values())
        write_text(folder / "report.md", report_text(report))
    except BaseException as error:
        if is_new:  # a part of an export is none
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise UserError(
                f"The model cannot be exported to {folder} ({one_line(error)})."
            ) from error
        raise
    return report
