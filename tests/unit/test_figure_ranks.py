"""The critical difference diagram."""

from __future__ import annotations

import itertools

import pytest
from figure_inputs import (
    P_VALUES,
    RANKS,
    outputs,
    says,
    written,
)

from iunet.errors import UserError
from iunet.figures.critical_difference import (
    critical_difference_rows,
    draw_critical_difference,
    write_critical_difference,
)
from iunet.figures.style import LOOKS


def test_critical_difference_joins_what_does_not_differ():
    rows = critical_difference_rows(RANKS, P_VALUES, 0.05, 40)
    assert [(row["method"], row["other"]) for row in rows] == list(
        itertools.combinations(["iunet", "omp", "dense", "xgb"], 2)
    )
    assert [row["differ"] for row in rows] == [True, False, True, False, True, True]
    figure = draw_critical_difference(rows, 40, "balanced accuracy", 0.05)
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


def test_critical_difference_files(tmp_path):
    output = outputs(tmp_path)
    settings = {"n_datasets": 40, "metric": "balanced accuracy"}
    write_critical_difference(RANKS, P_VALUES, output, **settings)
    rows = written(output)
    assert len(rows) == 6 and rows[1]["p_value"] == "0.2" and rows[1]["differ"] == "False"
    write_critical_difference(RANKS, {}, output, **settings, not_enough="two data sets")
    rows = written(output)
    assert [row["method"] for row in rows] == list(RANKS)
    assert {row["missing"] for row in rows} == {"two data sets"}
    write_critical_difference({}, {}, output, **settings, not_enough="nothing is finished")
    assert [row["missing"] for row in written(output)] == ["nothing is finished"]


def test_critical_difference_says_why_there_is_none():
    rows = critical_difference_rows(RANKS, {}, 0.05, 2, "two data sets")
    figure = draw_critical_difference(rows, 2, "accuracy", 0.05, "mlp_tab")
    assert says(figure, "Not enough data to test differences: two data sets")
    assert says(figure, "IUNET 1.40, OMP 2.20, MLP_TAB 2.40, XGB 4.00")


def test_critical_difference_refuses_bad_values():
    pair = {"iunet": 1.0, "omp": 2.0}
    for ranks, p_values, message in (
        ({"iunet": 1.0}, {}, "1 method"),
        (pair, {}, "no p-value for iunet and omp"),
        (pair, {"iunet": {"omp": 0.1}, "omp": {"iunet": 0.2}}, "two p-values"),
        (pair, {"omp": {"iunet": 1.5}}, "has 1.5 as the p-value"),
        (pair, {"omp": {"iunet": float("nan")}}, "not a finite number"),
        (pair | {"omp": float("nan")}, {"omp": {"iunet": 0.5}}, "nan as omp"),
    ):
        with pytest.raises(UserError, match=message):
            critical_difference_rows(ranks, p_values, 0.05, 10)
