"""The tuning history."""

from __future__ import annotations

import numpy as np
import pytest
from figure_inputs import line, says, three_studies

from iunet.figures.tuning import draw, trials


@pytest.fixture
def studies(tmp_path) -> list[tuple]:
    return three_studies(tmp_path)


def test_tuning_history(studies):
    rows = trials("vehicle", studies)
    assert [row["number"] for row in rows[:4]] == [0, 1, 2, 3]
    assert [row["best_so_far"] for row in rows[:4]] == [None, 70.5, 70.5, 80]
    figure = draw(rows)
    assert [axes.get_title() for axes in figure.axes] == [
        "XGB: 4 trials, 1 failed",
        "TABN: 2 trials",
        "MLP_TAB+C: 1 trial, 1 failed",
    ]
    xgb, tabnet, mlp_c = figure.axes
    dots = {c.get_label(): np.asarray(c.get_offsets()).tolist() for c in xgb.collections}
    assert dots["trial"] == [[1, 70.5], [3, 80]]
    assert dots["flagged (reason in the CSV)"] == [[2, 65]]
    assert dots["failed"] == [[0, 0.03]]  # at the bottom: a part of the panel's height
    best = line(xgb, "best so far")
    assert (list(best.get_xdata()), list(best.get_ydata())) == ([1, 2, 3], [70.5, 70.5, 80])
    assert best.get_drawstyle() == "steps-post"
    assert [c.get_label() for c in tabnet.collections] == ["trial"]
    assert [text.get_text() for text in mlp_c.texts] == ["every trial failed"]
    assert says(figure, "vehicle")
    assert len(rows) == 7
    assert rows[0]["reason"] == "out of memory" and rows[2]["flags"] == "time_limit"


def test_tuning_history_of_one_method_and_of_none(studies):
    rows = trials("vehicle", [studies[0], ("tabnet", "", "not finished")])
    figure = draw(rows)
    assert [axes.get_title() for axes in figure.axes] == ["XGB: 4 trials, 1 failed"]
    assert says(figure, "Missing: vehicle, TABN: not finished.")
    assert rows[-1]["missing"] == "not finished"
    assert len(draw(rows[:4]).axes) == 1
