"""A finished run that is asked for more, or for less: what is there stays, and is used."""

from __future__ import annotations

import csv

from conftest import TEST_CONFIG

from iunet.artifacts import read_json


def test_the_same_data_downloaded_again_repeat_nothing(finished_copy):
    forced = ("--forcerun", "download_table", "--until", "download_table")
    output = finished_copy.run(*TEST_CONFIG, *forced)
    assert "1 jobs: download 1" in output
    assert finished_copy.plan().jobs == []


def test_a_larger_budget_continues_the_study(finished_copy):
    target = "results/test/runs/wine/xgb/tuning/study.json"
    journal = finished_copy.path / "results/test/runs/wine/xgb/tuning/study.journal"
    before = journal.read_text().splitlines()
    counts = finished_copy.plan(target, tuning={"xgb": {"trials": 5}}).counts
    assert counts == {"tune": 1, "study": 1, "total": 2}
    finished_copy.run(target, *TEST_CONFIG, "--config", 'tuning={"xgb": {"trials": 5}}')
    assert journal.read_text().splitlines()[: len(before)] == before
    assert read_json(finished_copy.path / target)["trials"] == 5


def test_partial_results(finished_copy):
    """What is not finished is marked; nothing is trained."""
    table = "results/test/tables/table7.csv"
    (finished_copy.path / "results/test/runs/wine/xgb/seed0/evaluation.json").unlink()
    counts = finished_copy.plan(table, partial=True).counts
    assert counts == {"table": 1, "total": 1}
    finished_copy.run(table, *TEST_CONFIG, "--config", "partial=true")
    with (finished_copy.path / table).open() as file:
        missing = {row["column"]: row["missing"] for row in csv.DictReader(file)}
    assert missing["xgb"] == "not finished" and missing["iunet"] == ""
    counts = finished_copy.plan(partial=True).counts
    assert not {"evaluate_tuned", "supernet", "tune", "split_table"} & set(counts)


def test_any_point_can_be_asked_for_by_its_path(finished_copy):
    """It runs as its path says (tests/rules/test_planning.py), on the data that are there."""
    point = "results/test/runs/wine/mlp_tab-depth3/kappa0.5-scl-glorot-epochs1/seed7"
    counts = finished_copy.plan(f"{point}/ratio4-cycles1/finetune.json").counts
    assert counts == {"initialise": 1, "supernet": 1, "prune": 1, "finetune": 1, "total": 4}
    finished_copy.run(f"{point}/ratio4/mask.json", *TEST_CONFIG)
    report = read_json(finished_copy.path / point / "supernet.json")
    assert report["network"]["options"]["depth"] == 3 and len(report["history"]) == 1
    initial = finished_copy.path / "results/test/runs/wine/mlp_tab-depth3/initial-glorot/seed7"
    assert read_json(initial / "initial.json")["init"] == "glorot"
