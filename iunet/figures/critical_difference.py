"""The critical-difference diagram: average ranks, methods that do not differ joined by a bar.

Drawn by scikit-posthocs from ranks and p-values; the tests that give these are not done here.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from iunet.artifacts import read_json
from iunet.figures.catalog import figure_request
from iunet.figures.parts import Rows
from iunet.figures.style import FONT, INK, PAGE_WIDTH, look, new_figure
from iunet.labels import method_label
from iunet.runs.entries import Benchmark

ALPHA = 0.05


def rows(bench: Benchmark, name: str) -> Rows:
    """From the document of the table `ranking`, which holds the numbers behind it."""
    (document,) = figure_request(bench, name).artifacts
    return pairs(read_json(document)["data"])


def pairs(ranking: dict[str, Any]) -> Rows:
    """One row per pair of methods, the better one first; one with the reason if none was tested."""
    if ranking["problem"]:
        return [{"missing": f"Not enough data to test differences: {ranking['problem']}"}]
    ranks, p_values = ranking["ranks"], ranking["p_values"]
    return [
        {
            "method": a,
            "rank": ranks[a],
            "other": b,
            "other_rank": ranks[b],
            "p_value": p_values[a][b],
            "differ": p_values[a][b] < ALPHA,
            "alpha": ALPHA,
            "n_datasets": ranking["n_datasets"],
            "missing": None,
        }
        for a, b in combinations(sorted(ranks, key=lambda method: (ranks[method], method)), 2)
    ]


def draw(rows: Rows) -> Figure:
    """Each pair both ways: its first columns give the ranks, and all of them the p-values."""
    from scikit_posthocs import critical_difference_diagram

    pairs = pd.DataFrame(rows)
    other_way = {"method": "other", "rank": "other_rank", "other": "method", "other_rank": "rank"}
    both = pd.concat([pairs, pairs.rename(columns=other_way)])
    ranks = both.groupby("method")["rank"].first().sort_values(kind="stable")
    p_values = both.pivot(index="method", columns="other", values="p_value").fillna(1.0)
    note = (
        f"Average rank over {rows[0]['n_datasets']} data sets by balanced accuracy; 1 is best. "
        f"A bar joins methods of which no two differ at α = {ALPHA:g}; its dots are its methods."
    )
    figure, body = new_figure(PAGE_WIDTH * 0.8, 0.9 + 0.16 * len(ranks), [note])
    axes = body.subplots()
    drawn = critical_difference_diagram(
        ranks.rename(method_label),
        p_values.rename(index=method_label, columns=method_label),
        alpha=ALPHA,
        ax=axes,
        label_fmt_left="{label}  {rank:.2f} ",
        label_fmt_right=" {rank:.2f}  {label}",
        label_props={"size": FONT},
        marker_props={"s": 22, "edgecolor": "white", "linewidth": 0.5},
        elbow_props={"linewidth": 1.0},
        crossbar_props={"color": INK, "linewidth": 2.2, "marker": "o", "markersize": 4},
        color_palette={method_label(method): look(method).colour for method in ranks.index},
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
    return figure
