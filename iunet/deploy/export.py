"""Export: a trained network as a folder of files for other programs."""

from __future__ import annotations

import errno
import itertools
import os
from contextlib import suppress
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
            _put(there, folder)
    except OSError as error:
        raise UserError(f"The model cannot be exported to {folder} ({one_line(error)}).") from error
    return report


def _refuse_others(folder: Path) -> None:
    """Refuse a folder with anything but an older export."""
    others = _others(folder)
    if others and others == _others(folder):  # not the moment when another export replaces it
        raise UserError(
            f"The model cannot be exported to {folder}, which holds other files "
            f"({', '.join(others[:5])}). Name a new folder, or that of an older export."
        )


def _others(folder: Path) -> list[str]:
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return [] if found == sorted(FILES) and is_model(folder / FILES[0]) else found


def _put(new: Path, folder: Path) -> None:
    """Replace a folder with a new one. Of two exports at once, one wins as a whole."""
    for attempt in itertools.count():
        with suppress(FileNotFoundError):
            _refuse_others(folder)
        try:
            new.rename(folder)  # also onto an empty folder
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        with suppress(FileNotFoundError):  # another export has moved it
            folder.rename(new.with_name(f"old{attempt}"))
