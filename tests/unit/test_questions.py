"""Questions about methods, answered from runs made up here."""

from __future__ import annotations

import pytest
from study_rows import frame, row, study

from iunet.study.frames import answers, differences, main_runs
from iunet.tables.verdicts import effect


def compare(runs, kind, ours, theirs):
    return effect(differences(runs, kind, ours, theirs))


def sample(runs, kind, method):
    part = main_runs(runs, kind)
    part = part[part["method"] == method]
    column = "test_balanced_accuracy" if kind == "tabular" else "test_accuracy"
    return {(row["dataset"], row["seed"]): row[column] for row in part.to_dict("records")}


@pytest.mark.parametrize(("gain", "answer"), [(3.0, "yes"), (0.5, "no"), (-2.0, "no, worse")])
def test_the_answer_follows_the_smallest_effect(gain, answer):
    first = answers(frame(study(gain))).iloc[0]
    assert first["question"] == "Does IUNET beat OMP?" and first["kind"] == "tabular"
    assert first["effect"].mean == pytest.approx(gain) and first["answer"] == answer


def test_wide_spreads_leave_it_open():
    rows = study(1.0)
    for entry in rows:
        if entry["method"] == "iunet":
            entry["test_balanced_accuracy"] += 8 * (-1) ** "abcdef".index(entry["dataset"])
    assert answers(frame(rows)).iloc[0]["answer"] == "open"


def test_only_whole_data_sets_and_chosen_networks_count():
    rows = study(2.0)
    rows.append(row("a", "iunet", 0, 0.0, chosen=False, cut="ratio2"))
    assert sample(frame(rows), "tabular", "iunet")["a", 0] == 72
    unfinished = [r for r in rows if (r["dataset"], r["seed"]) != ("b", 2)]
    found = compare(frame(unfinished), "tabular", "iunet", "omp")
    assert "b" not in found.datasets and len(found.datasets) == 5
    two_seeds = [r for r in rows if (r["method"], r["seed"]) != ("omp", 2)]
    found = compare(frame(two_seeds), "tabular", "iunet", "omp")
    assert len(found.datasets) == 6 and found.seeds == 2 and found.mean == pytest.approx(2.0)


def test_an_answer_names_the_data_sets_that_it_hangs_on():
    rows = study(0.9)
    for entry in rows:
        if (entry["method"], entry["dataset"]) == ("iunet", "c"):
            entry["test_balanced_accuracy"] += 1.2
    (answer,) = answers(frame(rows)).to_dict("records")
    assert answer["answer"] == "yes" and answer["depends_on"] == ["c"]


def test_a_failed_seed_takes_no_data_set_away():
    rows = [
        r | {"failed": "diverged", "chosen": False, "test_balanced_accuracy": None}
        if (r["dataset"], r["seed"]) == ("b", 2)
        else r
        for r in study(2.0)
    ]
    found = compare(frame(rows), "tabular", "iunet", "omp")
    assert len(found.datasets) == 6 and found.mean == pytest.approx(2.0)


def test_images_are_compared_at_one_ratio():
    vision = {"network": "mlp_vis", "chosen": False}
    rows = [row("cifar10", "iunet", 0, 50.0, ratio=8, **vision)]
    rows.append(row("cifar10", "iunet", 0, 10.0, ratio=2, **(vision | {"chosen": True})))
    assert sample(frame(rows), "vision", "iunet") == {("cifar10", 0): 50.0}
    assert sample(frame(rows), "tabular", "iunet") == {}


def test_supernets_shown_beside_their_cuts_are_not_their_methods():
    rows = [row("a", "iunet", 0, 50.0, stage="supernet", ratio=1, chosen=None)]
    assert sample(frame(rows), "tabular", "iunet") == {}
    rows = [row("a", "iunet_no_prune", 0, 50.0, stage="supernet", ratio=1, chosen=None)]
    assert sample(frame(rows), "tabular", "iunet_no_prune") == {("a", 0): 50.0}


def test_an_answer_says_where_its_two_sides_ran_on_different_processors():
    rows = [r | {"processor": "one"} for r in study(3.0)]
    for changed in rows:
        if changed["dataset"] in "abc" and changed["method"] == "iunet":
            changed["processor"] = None if changed["dataset"] == "c" else "another"
    assert answers(frame(rows)).iloc[0]["other_processors"] == ["a", "b"]
    vision = [r | {"network": "mlp_vis", "processor": "one"} for r in rows]
    convolutions = [r | {"network": "cnn", "processor": "third"} for r in rows[:3]]
    found = answers(frame(rows + vision + convolutions))
    assert found[found["kind"] == "vision"].iloc[0]["other_processors"] == []
