"""The tuning history."""

from __future__ import annotations

import numpy as np
import pytest
from figure_inputs import (
    line,
    outputs,
    says,
    three_studies,
    trials,
    written,
)

from iunet.errors import UserError
from iunet.figures.tuning_history import draw_tuning_history, tuning_rows, write_tuning_history


@pytest.fixture
def studies(tmp_path) -> list[dict]:
    return three_studies(tmp_path)


def test_tuning_history(studies, tmp_path):
    rows = tuning_rows(studies)
    assert [row["number"] for row in rows[:4]] == [0, 1, 2, 3]
    assert [row["best_so_far"] for row in rows[:4]] == [None, 70.5, 70.5, 80]
    figure = draw_tuning_history(rows)
    assert [axes.get_title() for axes in figure.axes] == [
        "XGB: 4 of 40 trials, 1 failed",
        "TABN: 2 trials",
        "MLP_TAB+C: 1 trial, 1 failed",
    ]
    xgb, tabnet, mlp_c = figure.axes
    dots = {c.get_label(): np.asarray(c.get_offsets()).tolist() for c in xgb.collections}
    assert dots["trial"] == [[1, 70.5], [3, 80]]
    assert dots["flagged"] == [[2, 65]]
    assert dots["failed"] == [[0, 0.03]]  # at the bottom: a part of the panel's height
    best = line(xgb, "best so far")
    assert (list(best.get_xdata()), list(best.get_ydata())) == ([1, 2, 3], [70.5, 70.5, 80])
    assert best.get_drawstyle() == "steps-post"
    assert [c.get_label() for c in tabnet.collections] == ["trial"]
    assert [text.get_text() for text in mlp_c.texts] == ["every trial failed"]
    assert says(figure, "vehicle")
    output = outputs(tmp_path)
    write_tuning_history(studies, output)
    csv_rows = written(output)
    assert len(csv_rows) == 7
    assert csv_rows[0]["reason"] == "out of memory" and csv_rows[2]["flags"] == "time_limit"


def test_tuning_history_of_one_method_and_of_none(studies, tmp_path):
    gone = studies[1] | {"trials": None, "missing": "not finished"}
    figure = draw_tuning_history(tuning_rows([studies[0], gone]))
    assert figure.axes[1].get_title() == "TABN: 0 of 2 trials"
    assert says(figure, "Missing: TABN (not finished).")
    output = outputs(tmp_path)
    write_tuning_history([gone], output)
    assert written(output)[0]["missing"] == "not finished"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "has no trials"),
        (["0,complete,nan,1,1,,,1"], "nan as the score of trial 0"),
        (["0,complete,,1,1,,,1"], "'' as the score of trial 0"),
        (["0,complete,high,1,1,,,1"], "'high' as the score of trial 0"),
        (["0,running,50,1,1,,,1"], "state 'running' in trial 0"),
        (["0,complete,50,1,1,,,1", "0,complete,51,1,1,,,1"], "trial 0 twice"),
        (["0,complete,50,1,1,,,1", "1,comp"], "lacks score, seconds, reason, flags"),
        (["zero,complete,50,1,1,,,1"], "not a trial, with the number 'zero'"),
        (["0,complete,50,1,1,,,1,2,3"], "not a trial"),
    ],
)
def test_tuning_history_refuses_bad_trials(tmp_path, lines, message):
    request = trials(tmp_path, "xgb", lines)
    with pytest.raises(UserError, match=message) as error:
        tuning_rows([request])
    assert request["trials"] in str(error.value)


def test_tuning_history_refuses_bad_requests(studies):
    for requests, message in (
        ([studies[0] | {"trials": "nowhere.csv"}], "nowhere.csv does not exist"),
        ([studies[0], studies[1] | {"dataset": "wine"}], "of one data set"),
        ([studies[0], studies[0]], "twice"),
    ):
        with pytest.raises(UserError, match=message):
            tuning_rows(requests)
