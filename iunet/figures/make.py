"""The figure stage: a figure as PNG, PDF and CSV, and their checksums."""

from __future__ import annotations

import importlib
import textwrap

from matplotlib.figure import Figure

from iunet.artifacts import write_json
from iunet.figures.catalog import figure_module, why_nothing
from iunet.figures.style import FAINT, PAGE_WIDTH, house_style, new_figure, write_figure
from iunet.runs.entries import Benchmark


def make_figure(name: str, bench: Benchmark, output: dict[str, str]) -> None:
    files = {form: output[form] for form in ("png", "pdf", "csv")}
    if reason := why_nothing(bench, name):
        write_figure(draw_reason(reason), [{"missing": reason}], files)
    else:
        module = importlib.import_module(figure_module(name))
        figure, rows = module.make(bench, name)
        write_figure(figure, rows, files)
    write_json(output["json"], {"figure": name}, files=files.values())


def draw_reason(reason: str) -> Figure:
    """A figure without a data set, which says why."""
    with house_style():
        figure, _ = new_figure(PAGE_WIDTH, 1.0)
        figure.text(0.5, 0.5, textwrap.fill(reason, 90), ha="center", va="center", color=FAINT)
    return figure
