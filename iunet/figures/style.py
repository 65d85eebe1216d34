"""One look for all figures: to import it sets how matplotlib draws in this process.

A method has the same colour, marker, line and place in the order everywhere. The colours are from
the colour-blind safe sets of Okabe and Ito and of Tol; twelve cannot all be told apart by everyone,
so the marker and the line always say the same as the colour.
"""

from __future__ import annotations

import textwrap
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, FigureBase

from iunet.labels import plain_method

PAGE_WIDTH = 7.0  # inches: both columns of a two-column page
FONT, SMALL = 8, 7  # points at that size; nothing is smaller than SMALL
INK, FAINT = "#222222", "#767676"

matplotlib.rcParams.update(
    {
        "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
        "font.size": FONT,
        "axes.titlesize": FONT,
        "axes.labelsize": FONT,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "legend.fontsize": SMALL,
        "legend.frameon": False,
        "figure.titlesize": FONT + 1,
        "savefig.dpi": 300,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": FAINT,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": FAINT,
        "ytick.color": FAINT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "grid.color": "#e6e6e6",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "lines.linewidth": 1.4,
        "lines.markersize": 4.5,
        "pdf.fonttype": 42,  # text stays text; publishers refuse Type 3
    }
)


@dataclass(frozen=True)
class Look:
    """How a method is drawn."""

    colour: str
    marker: str
    line: str | tuple

    def line_style(self) -> dict[str, Any]:
        return {
            "color": self.colour,
            "linestyle": self.line,
            "marker": self.marker,
            "markersize": 7.5 if self.marker == "*" else 4.5,  # a star is smaller than it measures
            "markeredgecolor": "white",
            "markeredgewidth": 0.5,
        }


LOOKS = {
    "dense": Look("#555555", "s", "--"),
    "omp": Look("#0072B2", "o", "-"),
    "beta_lasso": Look("#F0A0C0", "v", "-."),
    "scl": Look("#E69F00", "s", "-."),
    "iunet_no_prune": Look("#999933", "P", ":"),
    "iunet_no_ilo": Look("#56B4E9", "^", "--"),
    "iunet_no_pis": Look("#117733", "^", "--"),
    "iunet": Look("#D55E00", "*", "-"),
    "sup_kappa0.125": Look("#332288", "D", (0, (3, 1))),
    "sup_kappa0.0625": Look("#CC6677", "v", (0, (1, 1))),
    "omp_he_normal": Look("#004D73", "o", (0, (2, 1))),
    "xgb": Look("#661100", "X", (0, (5, 1, 1, 1))),
    "tabnet": Look("#009E73", "p", (0, (3, 1, 1, 1))),
    "mlp_c": Look("#000000", "h", (0, (5, 2))),
}
SPARE = [  # for methods of a user's own
    Look("#AA4499", "<", ":"),
    Look("#6699CC", ">", "--"),
    Look("#997700", "d", "-."),
    Look("#882255", "H", "-"),
]


def look(method: str) -> Look:
    """How a method is drawn; one that is not of the paper always gets the same spare look."""
    return LOOKS.get(plain_method(method)) or SPARE[zlib.crc32(method.encode()) % len(SPARE)]


def new_figure(width: float, height: float, notes: Sequence[str] = ()) -> tuple[Figure, FigureBase]:
    """A figure, and the part of it to draw in: this size, with small notes below it if any.

    It is not in pyplot's global list of open figures.
    """
    characters = int(width * 72 / (0.53 * SMALL))
    lines = [line for note in notes for line in textwrap.wrap(note, characters)]
    space = (len(lines) * 1.3 * SMALL + 6) / 72 if lines else 0
    figure = Figure(figsize=(width, height + space), layout="constrained")
    FigureCanvasAgg(figure)
    if not lines:
        return figure, figure
    body, foot = figure.subfigures(2, 1, height_ratios=[height, space], hspace=0)
    foot.text(0.01, 0.95, "\n".join(lines), ha="left", va="top", size=SMALL, color=FAINT)
    return figure, body
