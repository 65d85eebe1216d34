"""The critical difference diagram."""

from __future__ import annotations

import itertools

from figure_inputs import RANKING, RANKS, says

from iunet.figures.critical_difference import draw, pairs
from iunet.figures.style import LOOKS


def test_critical_difference_joins_what_does_not_differ():
    rows = pairs(RANKING)
    assert [(row["method"], row["other"]) for row in rows] == list(
        itertools.combinations(["iunet", "omp", "dense", "xgb"], 2)
    )
    assert [row["differ"] for row in rows] == [True, False, True, False, True, True]
    figure = draw(rows)
    (axes,) = figure.axes
    bars = [line for line in axes.get_lines() if line.get_linewidth() > 2]
    # Two cliques, not one bar over all three: iunet and omp do differ.
    assert sorted(tuple(bar.get_xdata()) for bar in bars) == [(1.4, 2.4), (2.2, 2.4)]
    elbows = {line.get_color(): line.get_xdata()[-1] for line in axes.get_lines()}
    assert {LOOKS[method].colour: rank for method, rank in RANKS.items()}.items() <= elbows.items()
    labels = {text.get_text().strip() for text in axes.texts}
    assert labels == {"IUNET  1.40", "OMP  2.20", "2.40  Dense", "4.00  XGB"}
    assert list(axes.get_xticks()) == [1, 2, 3, 4]
    assert says(figure, "Average rank over 40 data sets by balanced accuracy")


def test_critical_difference_says_why_there_is_none():
    rows = pairs(RANKING | {"p_values": None, "problem": "two data sets"})
    assert rows == [{"missing": "Not enough data to test differences: two data sets"}]
