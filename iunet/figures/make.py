"""The figure stage: a figure as PNG, PDF and CSV, and their checksums."""

from __future__ import annotations

import importlib
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from iunet.artifacts import atomic_path, write_json, write_text
from iunet.escape import csv_text
from iunet.figures.catalog import figure_module, why_nothing
from iunet.figures.parts import Rows, draw_reason
from iunet.runs.entries import Benchmark

# Without dates and names of versions, the same data give the same bytes.
UNDATED = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
    "png": {"Software": None},
}


def make_figure(name: str, bench: Benchmark, output: dict[str, str]) -> None:
    if reason := why_nothing(bench, name):
        rows = [{"missing": reason}]
    else:
        module = importlib.import_module(figure_module(bench, name))
        rows = module.rows(bench, name)
    reasons = dict.fromkeys(row["missing"] for row in rows)
    missing = "; ".join(reasons) if all(reasons) else None
    write_figure(draw_reason(missing) if missing else module.draw(rows), rows, output)
    files = [output[form] for form in ("png", "pdf", "csv")]
    write_json(output["json"], {"figure": name, "missing": missing}, files=files)


def write_figure(figure: Figure, rows: Rows, output: dict[str, str]) -> None:
    """Write the figure as PDF and PNG and its data as CSV: `output` has these three paths."""
    _fix_layout(figure)
    for form, metadata in UNDATED.items():
        with atomic_path(Path(output[form])) as temporary:
            figure.savefig(temporary, format=form, metadata=metadata)
    write_text(output["csv"], csv_text(rows))


def _fix_layout(figure: Figure) -> None:
    """Lay the figure out, once for both files, and round the result.

    The solver adds up in an order that depends on memory addresses; without rounding, the last
    digit of a coordinate in the PDF would change from run to run.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    parts = list(figure.subfigs)
    while parts:
        part = parts.pop()
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(6))
        parts += part.subfigs
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(6)))
