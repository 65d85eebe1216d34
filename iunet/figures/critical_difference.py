"""The critical-difference diagram: average ranks, methods that do not differ joined by a bar.

Drawn by scikit-posthocs from ranks and p-values; the tests that give these are not done here.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pandas as pd
from matplotlib.figure import Figure, FigureBase

from iunet.artifacts import read_json
from iunet.figures.catalog import figure_request
from iunet.figures.parts import Rows, draw_reason
from iunet.figures.style import FONT, INK, PAGE_WIDTH, house_style, look, new_figure
from iunet.labels import method_label
from iunet.runs.entries import Benchmark

ALPHA = 0.05


def rows(bench: Benchmark, name: str) -> Rows:
    """From the document of the table `ranking`, which holds the numbers behind it."""
    (document,) = figure_request(bench, name).artifacts
    return pairs(read_json(document)["data"])


def pairs(ranking: dict[str, Any]) -> Rows:
    """One row per pair of methods, the better one first.

    `ranking` has ranks, p_values, n_datasets, and `problem`, the reason why nothing was tested:
    then a row per method.
    """
    ranks, problem = ranking["ranks"], ranking["problem"]
    order = sorted(ranks, key=lambda method: (ranks[method], method))
    found = combinations(order, 2) if not problem else [(method, None) for method in ranks]
    rows = []
    for a, b in [*found] or [(None, None)]:
        p = ranking["p_values"][a][b] if b else None
        rows.append(
            {
                "method": a,
                "rank": ranks.get(a),
                "other": b,
                "other_rank": ranks.get(b),
                "p_value": p,
                "differ": p < ALPHA if b else None,
                "alpha": ALPHA,
                "n_datasets": ranking["n_datasets"],
                "missing": problem,
            }
        )
    return rows


@house_style
def draw(rows: Rows) -> Figure:
    ranks = {row["method"]: row["rank"] for row in rows if row["method"]}
    if problem := rows[0]["missing"]:
        names = [f"{method_label(m)} {ranks[m]:.2f}" for m in sorted(ranks, key=ranks.get)]
        note = f"Average ranks: {', '.join(names)}." if names else ""
        return draw_reason(f"Not enough data to test differences: {problem}", note)
    ranks[rows[-1]["other"]] = rows[-1]["other_rank"]  # the last is only ever the other one
    note = (
        f"Average rank over {rows[0]['n_datasets']} data sets by balanced accuracy; 1 is best. "
        f"A bar joins methods of which no two differ at α = {ALPHA:g}; its dots are its methods."
    )
    figure, body = new_figure(PAGE_WIDTH * 0.8, 0.9 + 0.16 * len(ranks), [note])
    _draw_diagram(body, ranks, rows)
    return figure


def _draw_diagram(body: FigureBase, ranks: dict[str, float], rows: Rows) -> None:
    from scikit_posthocs import critical_difference_diagram

    labels = {method: method_label(method) for method in ranks}
    matrix = pd.DataFrame(1.0, index=[*labels.values()], columns=[*labels.values()])
    for row in rows:
        a, b = labels[row["method"]], labels[row["other"]]
        matrix.loc[a, b] = matrix.loc[b, a] = row["p_value"]
    axes = body.subplots()
    drawn = critical_difference_diagram(
        {labels[method]: rank for method, rank in ranks.items()},
        matrix,
        alpha=ALPHA,
        ax=axes,
        label_fmt_left="{label}  {rank:.2f} ",
        label_fmt_right=" {rank:.2f}  {label}",
        label_props={"size": FONT},
        marker_props={"s": 22, "edgecolor": "white", "linewidth": 0.5},
        elbow_props={"linewidth": 1.0},
        crossbar_props={"color": INK, "linewidth": 2.2, "marker": "o", "markersize": 4},
        color_palette={label: look(method).colour for method, label in labels.items()},
        text_h_margin=0.04 * len(ranks),
    )
    for (bar,) in drawn["crossbars"]:  # in the order of a set: the file would differ every time
        bar.set_xdata(sorted(bar.get_xdata()))
    for label in drawn["labels"]:
        label.set_color(INK)
    for artist in [*drawn["elbows"], *drawn["markers"]]:
        artist.set_clip_on(False)  # they leave the axis where the best rank is 1
    axes.spines["top"].set_visible(True)
    axes.set_xlim(1, len(ranks))
    axes.set_xticks(range(1, len(ranks) + 1))
    axes.tick_params(axis="x", labeltop=True, labelbottom=False)
