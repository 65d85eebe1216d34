"""The critical-difference diagram: average ranks, methods that do not differ joined by a bar.

Drawn by scikit-posthocs from ranks and p-values; the tests that give these are not done here.
"""

from __future__ import annotations

import textwrap
from typing import Any

from matplotlib.figure import Figure, FigureBase

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.figures.inputs import finite
from iunet.figures.style import (
    FAINT,
    FONT,
    INK,
    PAGE_WIDTH,
    house_style,
    look,
    new_figure,
    write_figure,
)
from iunet.labels import method_label

SOURCE = "The document of the critical-difference diagram"


def make(ask: dict[str, Any], output: dict[str, str]) -> None:
    """From the document of the table `ranking`, which holds the numbers behind it."""
    ranking = read_json(ask["files"][0])["data"]
    write_critical_difference(
        ranking["ranks"],
        ranking["p_values"] or {},
        output,
        n_datasets=ranking["n_datasets"],
        metric="balanced accuracy",
        not_enough=ranking["problem"],
    )


def write_critical_difference(
    ranks: dict[str, float],
    p_values: dict[str, dict[str, float]],
    output: dict[str, str],
    *,
    n_datasets: int,
    metric: str,
    alpha: float = 0.05,
    not_enough: str | None = None,
    network: str | None = None,
) -> None:
    """Draw average ranks (1 is best) with the pairwise p-values of their differences.

    `not_enough` is the reason why nothing could be tested; then a text stands for the diagram.
    `network` is the one that the method `dense` is named after.
    """
    rows = critical_difference_rows(ranks, p_values, alpha, n_datasets, not_enough)
    figure = draw_critical_difference(rows, n_datasets, metric, alpha, network)
    write_figure(figure, rows, output)


def critical_difference_rows(
    ranks: dict[str, float],
    p_values: dict[str, dict[str, float]],
    alpha: float,
    n_datasets: int,
    not_enough: str | None = None,
) -> list[dict[str, Any]]:
    """One row per pair of methods, the better one first."""
    if not_enough:
        pairs = [(method, None) for method in ranks] or [(None, None)]
    else:
        if len(ranks) < 2:
            raise UserError(f"{SOURCE} has {len(ranks)} method: it takes two to differ.")
        order = sorted(ranks, key=lambda method: (finite(SOURCE, method, ranks[method]), method))
        pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    rows = []
    for a, b in pairs:
        p = _p_value(p_values, a, b) if b else None
        rows.append(
            {
                "method": a,
                "rank": ranks.get(a),
                "other": b,
                "other_rank": ranks.get(b),
                "p_value": p,
                "differ": p < alpha if b else None,
                "alpha": alpha,
                "n_datasets": n_datasets,
                "missing": not_enough,
            }
        )
    return rows


def _p_value(p_values: dict[str, dict[str, float]], a: str, b: str) -> float:
    """The p-value of a pair, which may be given in one order or in both."""
    found = {p_values[x][y] for x, y in ((a, b), (b, a)) if y in p_values.get(x, {})}
    if len(found) != 1:
        problem = "two p-values" if found else "no p-value"
        raise UserError(f"{SOURCE} has {problem} for {a} and {b}.")
    p = finite(SOURCE, f"the p-value of {a} and {b}", found.pop())
    if not 0 <= p <= 1:
        raise UserError(f"{SOURCE} has {p} as the p-value of {a} and {b}.")
    return p


# ---- drawing


def draw_critical_difference(
    rows: list[dict[str, Any]],
    n_datasets: int,
    metric: str,
    alpha: float,
    network: str | None = None,
) -> Figure:
    with house_style():
        if rows[0]["missing"]:
            return _draw_text(rows, network)
        ranks = {}
        for row in rows:
            ranks |= {row["method"]: row["rank"], row["other"]: row["other_rank"]}
        note = (
            f"Average rank over {n_datasets} data sets by {metric}; 1 is best. A bar joins methods "
            f"of which no two differ at α = {alpha:g}; its dots are its methods."
        )
        figure, body = new_figure(PAGE_WIDTH * 0.8, 0.9 + 0.16 * len(ranks), [note])
        _draw_diagram(body, ranks, rows, alpha, network)
    return figure


def _draw_diagram(
    body: FigureBase,
    ranks: dict[str, float],
    rows: list[dict[str, Any]],
    alpha: float,
    network: str | None,
) -> None:
    import pandas as pd
    from scikit_posthocs import critical_difference_diagram

    order = list(ranks)
    matrix = pd.DataFrame(1.0, index=order, columns=order)
    for row in rows:
        matrix.loc[row["method"], row["other"]] = row["p_value"]
        matrix.loc[row["other"], row["method"]] = row["p_value"]
    labels = {method: method_label(method, network) for method in order}
    axes = body.subplots()
    drawn = critical_difference_diagram(
        {labels[method]: ranks[method] for method in order},
        matrix.rename(index=labels, columns=labels),
        alpha=alpha,
        ax=axes,
        label_fmt_left="{label}  {rank:.2f} ",
        label_fmt_right=" {rank:.2f}  {label}",
        label_props={"size": FONT},
        marker_props={"s": 22, "edgecolor": "white", "linewidth": 0.5},
        elbow_props={"linewidth": 1.0},
        crossbar_props={"color": INK, "linewidth": 2.2, "marker": "o", "markersize": 4},
        color_palette={labels[method]: look(method).colour for method in order},
        text_h_margin=0.04 * len(order),
    )
    for (bar,) in drawn["crossbars"]:  # in the order of a set: the file would differ every time
        bar.set_xdata(sorted(bar.get_xdata()))
    for label in drawn["labels"]:
        label.set_color(INK)
    for artist in [*drawn["elbows"], *drawn["markers"]]:
        artist.set_clip_on(False)  # they leave the axis where the best rank is 1
    axes.spines["top"].set_visible(True)
    axes.set_xlim(1, len(order))
    axes.set_xticks(range(1, len(order) + 1))
    axes.tick_params(axis="x", labeltop=True, labelbottom=False)


def _draw_text(rows: list[dict[str, Any]], network: str | None) -> Figure:
    ranked = sorted((row for row in rows if row["rank"] is not None), key=lambda row: row["rank"])
    names = [f"{method_label(row['method'], network)} {row['rank']:.2f}" for row in ranked]
    note = [f"Average ranks: {', '.join(names)}."] * bool(names)
    figure, body = new_figure(PAGE_WIDTH * 0.8, 0.8, note)
    text = textwrap.fill(f"Not enough data to test differences: {rows[0]['missing']}", 70)
    body.text(0.5, 0.5, text, ha="center", va="center", size=FONT, color=FAINT)
    return figure
