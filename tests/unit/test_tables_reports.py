"""From run reports to frames, and what is refused on the way."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from run_reports import evaluation, request, selection, write

from iunet.errors import UserError
from iunet.tables.frame import read_consistency, read_runs


@pytest.fixture
def report(tmp_path):
    """Write an evaluation; returns the evaluations of a request."""

    def make(content=None, name="evaluation.json", supernet="kappa0.25-ilo"):
        return {supernet: write(tmp_path, name, content or evaluation())}

    return make


@pytest.fixture
def chosen(tmp_path):
    return lambda **changes: write(tmp_path, "selection-iunet.json", selection(**changes))


def test_a_selected_cut(report, chosen):
    frame = read_runs([request(report(), selection=chosen(), own_selection=True)])
    row = frame.iloc[0]
    assert (row.supernet, row.cut, row.ratio, row.stage) == (
        "kappa0.25-ilo",
        "ratio8",
        8.0,
        "subnetwork",
    )
    assert (row.test_accuracy, row.valid_balanced_accuracy, row.kept_parameters) == (
        88.0,
        87.0,
        300,
    )
    assert row.disconnected and row.overlap_with_initial_mask == 0.5
    assert row.failed is None and row.missing is None


def test_an_ablation_takes_only_the_cut_from_iunet(report, chosen):
    evaluations = report(supernet="kappa1-ilo")
    asked = request(
        evaluations, method="iunet_no_pis", selection=chosen(chosen=("kappa0.25-ilo", "ratio2"))
    )
    row = read_runs([asked]).iloc[0]
    assert (row.supernet, row.cut, row.test_accuracy) == ("kappa1-ilo", "ratio2", 82.0)


def test_supernet_dense_tuned_and_fixed_cut(report, tmp_path):
    tuned = {"dataset": "vehicle", "network": {"name": "xgb"}, "seed": 0}
    result = {"stage": "tuned", "ratio": None, "metrics": evaluation()["results"][0]["metrics"]}
    xgb = write(tmp_path, "xgb.json", tuned | {"results": [result | {"sizes": None}]})
    frame = read_runs(
        [
            request(report(), "supernet", method="iunet_no_prune"),
            request({"tuned": xgb}, "tuned", method="xgb", network="xgb"),
            request(report(), "cut", cut="ratio2"),
            request(report(), "cut", cut="ratio8"),
        ]
    )
    assert list(frame["stage"]) == ["supernet", "tuned", "subnetwork", "subnetwork"]
    assert math.isnan(frame["parameters"][1]) and frame["test_accuracy"][1] == 70.0
    assert list(frame["ratio"][2:]) == [2.0, 8.0]


def test_missing_and_failed(report, chosen):
    content = evaluation()
    content["results"][2] |= {"failed": "every weight died", "metrics": {}}
    nothing = chosen(chosen=None, failed="every weight died")
    frame = read_runs(
        [
            request({}, missing="not finished", seed=1, cut="ratio4"),
            request(report(content), cut="ratio8"),
            request(report(content), selection=nothing, own_selection=True, seed=2),
        ]
    )
    assert list(frame["missing"]) == ["not finished", None, None]
    assert list(frame["failed"]) == [None, "every weight died", "every weight died"]
    assert frame["test_accuracy"].isna().all() and frame["ratio"][0] == 4.0


def test_consistency(report, chosen):
    frame = read_consistency(
        [
            request(report(), selection=chosen(), own_selection=True),
            request({}, seed=1, missing="not finished"),
        ]
    )
    assert list(frame["method"]) == ["supernet", "iunet", "supernet", "iunet"]
    assert list(frame["same"][:2]) == [60.0, 98.0]
    assert list(frame["distinct_labels"][:2]) == [4, 2]
    assert list(frame["missing"][2:]) == ["not finished"] * 2


def test_consistency_of_a_failed_cut(report):
    content = evaluation()
    content["results"][2] |= {"failed": "every weight died", "consistency": {}}
    frame = read_consistency([request(report(content), cut="ratio8")])
    assert list(frame["method"]) == ["supernet", "iunet"]
    assert frame["failed"][1] == "every weight died" and frame["transform"][1] == "feat"


def change_metric(value):
    def change(content):
        content["results"][2]["metrics"]["test_accuracy"] = value

    return change


CONTRADICTIONS = {
    "dataset 'wine'": lambda c: c.update(dataset="wine"),
    "seed 3": lambda c: c.update(seed=3),
    "network 'cnn'": lambda c: c.update(network={"name": "cnn"}),
    "network 'None'": lambda c: c.pop("network"),
    "no results": lambda c: c.update(results=[]),
    "no results ": lambda c: c.pop("results"),
    "no result of the cut 'ratio8'": lambda c: c["results"].pop(),
    "2 results of the cut 'ratio8'": lambda c: c["results"].append(c["results"][-1]),
    "lacks the metric 'valid_accuracy'": lambda c: c["results"][2].update(metrics={}),
    "'test_accuracy' is 100.1": change_metric(100.1),
    "'test_accuracy' is -0.1": change_metric(-0.1),
    "'test_accuracy' is None": change_metric(None),
    "'test_accuracy' is '81'": change_metric("81"),
}


@pytest.mark.parametrize("message", CONTRADICTIONS)
def test_a_contradictory_report_is_named(report, message):
    content = evaluation()
    CONTRADICTIONS[message](content)
    evaluations = report(content)
    with pytest.raises(UserError, match=message.strip()) as error:
        read_runs([request(evaluations, cut="ratio8")])
    assert evaluations["kappa0.25-ilo"] in str(error.value)


def test_nan_is_refused(report):
    evaluations = report()
    path = Path(evaluations["kappa0.25-ilo"])
    path.write_text(path.read_text().replace("88.0", "NaN"))
    with pytest.raises(UserError, match=r"evaluation.json: 'test_accuracy' is nan"):
        read_runs([request(evaluations, cut="ratio8")])


def test_truncated_and_absent_reports(report, tmp_path):
    evaluations = report()
    path = Path(evaluations["kappa0.25-ilo"])
    path.write_text(path.read_text()[:100])
    with pytest.raises(UserError, match=r"evaluation.json cannot be read as JSON"):
        read_runs([request(evaluations, cut="ratio8")])
    with pytest.raises(UserError, match=r"gone.json does not exist"):
        read_runs([request({"x": str(tmp_path / "gone.json")}, cut="ratio8")])
    path.write_text("[]")
    with pytest.raises(UserError, match="no JSON object"):
        read_runs([request(evaluations, cut="ratio8")])


def test_a_seed_twice_is_refused(report):
    asked = request(report(), cut="ratio8")
    with pytest.raises(UserError, match=r"same run twice \(vehicle, mlp_tab, iunet, seed 0\)"):
        read_runs([asked, dict(asked)])
    # The same file under another seed is found by what the file says.
    with pytest.raises(UserError, match="seed 0, but 1"):
        read_runs([asked, asked | {"seed": 1}])


BAD_SELECTIONS = {
    "dataset 'wine'": {"dataset": "wine"},
    "network 'cnn'": {"network": "cnn"},
    "method 'omp'": {"method": "omp"},
    "none of its candidates": {"chosen": ("kappa0.25-ilo", "ratio16")},
    "lacks 'candidates'": {"candidates": None},
}


@pytest.mark.parametrize("message", BAD_SELECTIONS)
def test_a_contradictory_selection_is_named(report, tmp_path, message):
    content = selection(**BAD_SELECTIONS[message])
    if content["candidates"] is None:
        del content["candidates"]
    path = write(tmp_path, "selection-iunet.json", content)
    with pytest.raises(UserError, match=message) as error:
        read_runs([request(report(), selection=path, own_selection=True)])
    assert path in str(error.value)


def test_a_choice_outside_of_the_reports(report, chosen):
    with pytest.raises(
        UserError, match=r"chooses the supernet 'kappa0.25-ilo', which is not among"
    ):
        read_runs([request(report(supernet="kappa1-ilo"), selection=chosen(), own_selection=True)])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"same": 101.0, "distinct_labels": 2}, "'consistency.feat.same' is 101.0"),
        ({"same": 50.0, "distinct_labels": 0}, "'consistency.feat.distinct_labels' is 0"),
    ],
)
def test_bad_consistency(report, entry, message):
    content = evaluation()
    content["results"][2]["consistency"] = {"feat": entry}
    with pytest.raises(UserError, match=message):
        read_consistency([request(report(content), cut="ratio8")])
    content["results"][2]["consistency"] = {}
    with pytest.raises(UserError, match="has no consistency of its subnetwork"):
        read_consistency([request(report(content), cut="ratio8")])
