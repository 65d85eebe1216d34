"""A figure without a data set, which says why."""

from __future__ import annotations

import textwrap
from typing import Any

from iunet.figures.style import FAINT, PAGE_WIDTH, house_style, new_figure, write_figure


def make(ask: dict[str, Any], output: dict[str, str]) -> None:
    """`ask` has one request, with the reason."""
    why = ask["requests"][0]["missing"]
    with house_style():
        figure, _ = new_figure(PAGE_WIDTH, 1.0)
        figure.text(0.5, 0.5, textwrap.fill(why, 90), ha="center", va="center", color=FAINT)
    write_figure(figure, [{"missing": why}], output)
