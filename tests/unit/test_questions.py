"""Comparisons of methods, judged on runs made up here."""

from __future__ import annotations

import pytest
from study_rows import frame, row, study

from iunet.results.selection import main_runs
from iunet.study.frames import comparisons, differences
from iunet.tables.verdicts import NOT_REPRODUCED, REPRODUCED, effect


def compare(runs, kind, ours, theirs):
    return effect(differences(runs, kind, ours, theirs))


def sample(runs, kind, method):
    part = main_runs(runs, kind)
    part = part[part["method"] == method]
    column = "test_balanced_accuracy" if kind == "tabular" else "test_accuracy"
    return {(row["dataset"], row["seed"]): row[column] for row in part.to_dict("records")}


@pytest.mark.parametrize(
    ("gain", "verdict"), [(3.0, REPRODUCED), (0.5, NOT_REPRODUCED), (-2.0, NOT_REPRODUCED)]
)
def test_the_verdict_follows_the_smallest_effect(gain, verdict):
    first = comparisons(frame(study(gain))).iloc[0]
    assert first["statement"] == "IUNET beats OMP" and first["kind"] == "tabular"
    found = first["finding"]
    assert found.effect.mean == pytest.approx(gain)
    assert (found.on_sets, found.beyond) == (verdict, verdict)


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


def test_a_failed_seed_takes_no_data_set_away():
    rows = [
        r | {"failed": "diverged", "chosen": False, "test_balanced_accuracy": None}
        if (r["dataset"], r["seed"]) == ("b", 2)
        else r
        for r in study(2.0)
    ]
    found = compare(frame(rows), "tabular", "iunet", "omp")
    assert len(found.datasets) == 6 and found.mean == pytest.approx(2.0)


def test_images_stand_at_their_own_choice_and_controls_at_that_of_iunet():
    vision = {"network": "mlp_vis"}
    scores = {("iunet", 8): 50.0, ("iunet", 2): 10.0, ("omp", 8): 40.0, ("omp", 2): 45.0}
    scores |= {("iunet_shuffled", 8): 30.0, ("iunet_no_pis", 8): 33.0, ("iunet_no_pis", 2): 35.0}
    chosen = {("iunet", 8), ("omp", 2), ("iunet_no_pis", 2)}
    rows = [
        row("cifar10", method, 0, score, ratio=ratio, chosen=(method, ratio) in chosen, **vision)
        for (method, ratio), score in scores.items()
    ]
    for method, score in {"iunet": 50, "omp": 45, "iunet_shuffled": 30, "iunet_no_pis": 33}.items():
        assert sample(frame(rows), "vision", method) == {("cifar10", 0): score}
    assert sample(frame(rows), "tabular", "iunet") == {}


def test_supernets_shown_beside_their_cuts_are_not_their_methods():
    rows = [row("a", "iunet", 0, 50.0, stage="supernet", ratio=1, chosen=None)]
    assert sample(frame(rows), "tabular", "iunet") == {}
    rows = [row("a", "iunet_no_prune", 0, 50.0, stage="supernet", ratio=1, chosen=None)]
    assert sample(frame(rows), "tabular", "iunet_no_prune") == {("a", 0): 50.0}


def test_a_comparison_says_where_its_two_sides_ran_on_different_processors():
    rows = [r | {"processor": "one"} for r in study(3.0)]
    for changed in rows:
        if changed["dataset"] in "abc" and changed["method"] == "iunet":
            changed["processor"] = None if changed["dataset"] == "c" else "another"
    assert comparisons(frame(rows)).iloc[0]["other_processors"] == ["a", "b"]
    vision = [r | {"network": "mlp_vis", "processor": "one"} for r in rows]
    convolutions = [r | {"network": "cnn", "processor": "third"} for r in rows[:3]]
    found = comparisons(frame(rows + vision + convolutions))
    assert found[found["kind"] == "vision"].iloc[0]["other_processors"] == []
