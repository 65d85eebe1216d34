"""From run reports to frames, and what is refused on the way."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from run_reports import choice, evaluation, request, write

from iunet.errors import UserError
from iunet.tables.frame import read_consistency, read_runs

NAME = "kappa0.25-ilo/ratio8"


@pytest.fixture
def reports(tmp_path):
    """Write the evaluations of two subnetworks; `content` is that of ratio 8."""

    def make(content=None, supernet="kappa0.25-ilo"):
        contents = {"ratio2": evaluation(ratio=2.0), "ratio8": content or evaluation()}
        return {
            f"{supernet}/{cut}": write(tmp_path, f"{cut}/evaluation.json", entry)
            for cut, entry in contents.items()
        }

    return make


@pytest.fixture
def supernets(tmp_path):
    content = evaluation("supernet")
    return {"kappa0.25-ilo": write(tmp_path, "supernet/evaluation.json", content)}


@pytest.fixture
def chosen(tmp_path):
    return lambda **changes: write(tmp_path, "choice-iunet.json", choice(**changes))


def test_of_another_methods_choice_the_ratio_counts(tmp_path, chosen):
    names = ("kappa0.25-ilo/ratio2-shuffled", "kappa0.25-ilo/ratio8-shuffled")
    contents = (evaluation(ratio=2.0), evaluation())
    files = {
        name: write(tmp_path, f"{name}/evaluation.json", content)
        for name, content in zip(names, contents, strict=True)
    }
    asked = request(files, method="iunet_shuffled", choice=chosen())
    row = read_runs([asked]).iloc[0]
    assert (row.supernet, row.cut, row.ratio) == ("kappa0.25-ilo", "ratio8-shuffled", 8.0)
    with pytest.raises(UserError, match="ratio8', which is not among the runs"):
        read_runs([asked | {"evaluations": {names[0]: files[names[0]]}}])


def test_a_chosen_cut(reports, chosen):
    frame = read_runs([request(reports(), choice=chosen(), own_choice=True)])
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


def test_an_ablation_takes_only_the_cut_from_iunet(reports, chosen):
    asked = request(
        reports(supernet="kappa1-ilo"),
        method="iunet_no_pis",
        choice=chosen(chosen=("kappa0.25-ilo", "ratio2")),
    )
    row = read_runs([asked]).iloc[0]
    assert (row.supernet, row.cut, row.test_accuracy) == ("kappa1-ilo", "ratio2", 82.0)


def test_supernet_dense_tuned_and_fixed_cut(reports, supernets, tmp_path):
    tuned = evaluation("tuned", network="xgb") | {"ratio": None, "sizes": None}
    xgb = write(tmp_path, "xgb.json", tuned)
    dense = write(tmp_path, "dense.json", evaluation("dense"))
    frame = read_runs(
        [
            request(supernets, "supernet", method="iunet_no_prune"),
            request({"dense": dense}, "dense", method="dense"),
            request({"tuned": xgb}, "tuned", method="xgb", network="xgb"),
            request(reports(), cut="ratio2"),
            request(reports(), cut="ratio8"),
        ]
    )
    assert list(frame["stage"]) == ["supernet", "dense", "tuned", "subnetwork", "subnetwork"]
    assert math.isnan(frame["parameters"][2]) and frame["test_accuracy"][2] == 70.0
    assert list(frame["ratio"][3:]) == [2.0, 8.0]


def test_missing_and_failed(reports, chosen):
    content = evaluation() | {"failed": "every weight died", "metrics": {}}
    nothing = chosen(chosen=None, failed="every weight died")
    frame = read_runs(
        [
            request({}, missing="not finished", seed=1, cut="ratio4"),
            request(reports(content), cut="ratio8"),
            request(reports(content), choice=nothing, own_choice=True, seed=2),
        ]
    )
    assert list(frame["missing"]) == ["not finished", None, None]
    assert list(frame["failed"]) == [None, "every weight died", "every weight died"]
    assert frame["test_accuracy"].isna().all() and frame["ratio"][0] == 4.0


def test_consistency(reports, supernets, chosen):
    frame = read_consistency(
        [
            request(reports(), supernets=supernets, choice=chosen(), own_choice=True),
            request({}, seed=1, missing="not finished"),
        ]
    )
    networks = ["supernet", "supernet_trained", "iunet", "iunet_trained"]
    assert list(frame["method"][:4]) == networks and set(frame["method"][4:]) == set(networks)
    assert list(frame["same"][:4]) == [60.0, 70.0, 98.0, 80.0]
    assert list(frame["distinct_labels"][:4]) == [4, 4, 2, 3]
    assert list(frame["missing"][4:]) == ["not finished"] * 4


def test_consistency_of_what_failed(reports, supernets, chosen):
    """A cut that failed, and one that was not even chosen: the supernet is shown all the same."""
    content = evaluation() | {"failed": "every weight died", "consistency": {}}
    nothing = chosen(chosen=None, failed="every weight died")
    for asked in ({"cut": "ratio8"}, {"choice": nothing, "own_choice": True}):
        frame = read_consistency([request(reports(content), supernets=supernets, **asked)])
        assert list(frame["method"][:2]) == ["supernet", "supernet_trained"]
        assert list(frame["same"][:2]) == [60.0, 70.0]
        assert list(frame["failed"][2:]) == ["every weight died"] * 2


def change_metric(value):
    return lambda content: content["metrics"].update(test_accuracy=value)


CONTRADICTIONS = {
    "dataset 'wine'": lambda c: c.update(dataset="wine"),
    "seed 3": lambda c: c.update(seed=3),
    "stage 'supernet'": lambda c: c.update(stage="supernet"),
    "stage None": lambda c: c.pop("stage"),
    "network 'cnn'": lambda c: c.update(network={"name": "cnn"}),
    "network 'None'": lambda c: c.pop("network"),
    "lacks the metric 'valid_accuracy'": lambda c: c.update(metrics={}),
    "lacks the metric 'valid_accuracy' ": lambda c: c.pop("metrics"),
    "'test_accuracy' is 100.1": change_metric(100.1),
    "'test_accuracy' is -0.1": change_metric(-0.1),
    "'test_accuracy' is None": change_metric(None),
    "'test_accuracy' is '81'": change_metric("81"),
}


@pytest.mark.parametrize("message", CONTRADICTIONS)
def test_a_contradictory_report_is_named(reports, message):
    content = evaluation()
    CONTRADICTIONS[message](content)
    evaluations = reports(content)
    with pytest.raises(UserError, match=message.strip()) as error:
        read_runs([request(evaluations, cut="ratio8")])
    assert evaluations[NAME] in str(error.value)


def test_a_changed_report_is_damaged(reports):
    """Also where JSON would have taken it: a checksum of its content is in it."""
    evaluations = reports()
    path = Path(evaluations[NAME])
    for there, instead in (("88.0", "NaN"), ("88.0", "89.0")):
        kept = path.read_text()
        path.write_text(kept.replace(there, instead))
        with pytest.raises(UserError, match=r"evaluation.json is damaged"):
            read_runs([request(evaluations, cut="ratio8")])
        path.write_text(kept)


def test_nan_is_refused(reports):
    """In a report without a checksum, as another program could have written it."""
    content = evaluation()
    change_metric(math.nan)(content)
    evaluations = reports()
    Path(evaluations[NAME]).write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"evaluation.json: 'test_accuracy' is nan"):
        read_runs([request(evaluations, cut="ratio8")])


def test_truncated_and_absent_reports(reports, tmp_path):
    evaluations = reports()
    path = Path(evaluations[NAME])
    path.write_text(path.read_text()[:100])
    with pytest.raises(UserError, match=r"evaluation.json cannot be read as JSON"):
        read_runs([request(evaluations, cut="ratio8")])
    with pytest.raises(UserError, match=r"gone.json does not exist"):
        read_runs([request({"x/ratio8": str(tmp_path / "gone.json")}, cut="ratio8")])
    path.write_text("[]")
    with pytest.raises(UserError, match="no JSON object"):
        read_runs([request(evaluations, cut="ratio8")])


def test_a_seed_twice_is_refused(reports):
    asked = request(reports(), cut="ratio8")
    with pytest.raises(UserError, match=r"same run twice \(vehicle, mlp_tab, iunet, seed 0\)"):
        read_runs([asked, dict(asked)])
    # The same file under another seed is found by what the file says.
    with pytest.raises(UserError, match="seed 0, but 1"):
        read_runs([asked, asked | {"seed": 1}])


BAD_CHOICES = {
    "dataset 'wine'": {"dataset": "wine"},
    "network 'cnn'": {"network": "cnn"},
    "method 'omp'": {"method": "omp"},
    "none of its candidates": {"chosen": ("kappa0.25-ilo", "ratio16")},
    "lacks 'candidates'": {"candidates": None},
}


@pytest.mark.parametrize("message", BAD_CHOICES)
def test_a_contradictory_choice_is_named(reports, tmp_path, message):
    content = choice(**BAD_CHOICES[message])
    if content["candidates"] is None:
        del content["candidates"]
    path = write(tmp_path, "choice-iunet.json", content)
    with pytest.raises(UserError, match=message) as error:
        read_runs([request(reports(), choice=path, own_choice=True)])
    assert path in str(error.value)


def test_a_choice_outside_of_the_reports(reports, chosen):
    with pytest.raises(UserError, match=r"chooses 'kappa0.25-ilo/ratio8', which is not among"):
        read_runs([request(reports(supernet="kappa1-ilo"), choice=chosen(), own_choice=True)])


def test_requests_that_name_no_run(reports):
    with pytest.raises(UserError, match="asks for a cut without saying which"):
        read_runs([request(reports())])
    with pytest.raises(UserError, match="asks for one run, but is given 2"):
        read_runs([request(reports(), "dense")])
    with pytest.raises(UserError, match="asks for the stage 'pruned'"):
        read_runs([request(reports(), "pruned")])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"same": 101.0, "distinct_labels": 2}, "'consistency.feat.same' is 101.0"),
        ({"same": 50.0, "distinct_labels": 0}, "'consistency.feat.distinct_labels' is 0"),
        (None, "has no consistency of its subnetwork"),
    ],
)
def test_bad_consistency(reports, supernets, entry, message):
    content = evaluation() | {"consistency": {"feat": entry} if entry else {}}
    with pytest.raises(UserError, match=message):
        read_consistency([request(reports(content), supernets=supernets, cut="ratio8")])


def test_other_transforms_than_the_supernets(reports, supernets):
    content = evaluation() | {"consistency": {"resize": {"same": 50.0, "distinct_labels": 2}}}
    with pytest.raises(UserError, match=r"have different transforms: feat .supernet., but resize"):
        read_consistency([request(reports(content), supernets=supernets, cut="ratio8")])
