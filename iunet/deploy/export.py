"""Export: a trained network in the forms in which others use it, in one folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from iunet.artifacts import write_json, write_text
from iunet.deploy.folded import fold
from iunet.deploy.model import PrunedModel, in_label_order, write_model
from iunet.deploy.onnx import build_onnx
from iunet.deploy.report import report_on, report_text
from iunet.errors import UserError, one_line


def export_model(model: PrunedModel, folder: str | Path, repeats: int = 30) -> dict[str, Any]:
    """Write the model file, ONNX and the report (JSON and Markdown), or nothing; the report.

    The probabilities of both stand in the sorted order of the labels, as scikit-learn's `classes_`.
    `repeats`: calls of each form, for its latency.
    """
    model = replace(in_label_order(model), classifier=None)
    folder, layers = Path(folder), fold(model)
    built = build_onnx(model, layers)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder if folder.is_dir() else folder.parent) as temporary:
            there = Path(temporary)
            files = {"compact": there / "model.safetensors", "onnx": there / "model.onnx"}
            write_model(files["compact"], model)
            files["onnx"].write_bytes(built.SerializeToString(deterministic=True))
            report = report_on(model, layers, files, repeats)
            write_json(there / "report.json", report, files=files.values())
            write_text(there / "report.md", report_text(report))
            folder.mkdir(exist_ok=True)
            for file in there.iterdir():
                file.replace(folder / file.name)
    except OSError as error:
        raise UserError(f"The model cannot be exported to {folder} ({one_line(error)}).") from error
    return report
