"""A finished run that is asked for more, or for less: what is there stays, and is used."""

from __future__ import annotations

import csv
import json

from conftest import TEST_CONFIG

from iunet.artifacts import read_json


def test_the_same_data_downloaded_again_repeat_nothing(finished_copy):
    forced = ("--forcerun", "download_table", "--until", "download_table")
    output = finished_copy.run(*TEST_CONFIG, *forced)
    assert "1 jobs: download 1" in output
    assert finished_copy.plan().jobs == []


def test_a_larger_budget_continues_the_study_and_any_point_can_be_asked_for(finished_copy):
    """A point runs as its path says (tests/rules/test_planning.py), on the data that are there."""
    folder = finished_copy.path
    study = "results/test/runs/wine/xgb/tuning/study.json"
    journal = (folder / study).with_name("study.journal")
    before = journal.read_text().splitlines()
    point = "results/test/runs/wine/mlp_tab-depth3/kappa0.5-scl-glorot-epochs1/seed7"
    targets, budget = (study, f"{point}/ratio4/mask.json"), {"xgb": {"trials": 5}}
    counts = finished_copy.plan(*targets, tuning=budget).counts
    made = {"tune": 1, "study": 1, "initialise": 1, "supernet": 1, "prune": 1, "total": 5}
    assert counts == made
    finished_copy.run(*targets, *TEST_CONFIG, "--config", f"tuning={json.dumps(budget)}")
    assert journal.read_text().splitlines()[: len(before)] == before
    assert read_json(folder / study)["trials"] == 5
    report = read_json(folder / point / "supernet.json")
    assert report["network"]["options"]["depth"] == 3 and len(report["history"]) == 1
    initial = folder / "results/test/runs/wine/mlp_tab-depth3/initial-glorot/seed7"
    assert read_json(initial / "initial.json")["init"] == "glorot"


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
