"""A finished run that is asked for more, or for less: what is there stays, and is used."""

from __future__ import annotations

import csv
import json

from conftest import TEST_CONFIG

from iunet.artifacts import read_json
from iunet.runs import paths


def test_the_same_data_downloaded_again_repeat_nothing(finished_copy):
    """Their times are new, their bytes are not."""
    for path in (finished_copy.path / "results/test/data/wine").iterdir():
        path.touch()
    assert finished_copy.plan().jobs == []


def test_a_larger_budget_continues_the_study(finished_copy):
    study = finished_copy.path / "results/test/runs/wine/xgb/tuning/study.json"
    journal = study.with_name("study.journal")
    before = journal.read_text().splitlines()
    target = str(study.relative_to(finished_copy.path))
    budget = f"tuning={json.dumps({'xgb': {'trials': 5}})}"
    output = finished_copy.run(target, *TEST_CONFIG, "--config", budget)
    assert "2 jobs: tune 2" in output
    assert journal.read_text().splitlines()[: len(before)] == before
    assert read_json(study)["trials"] == 5


def test_after_an_error_that_is_not_retried_a_table_of_what_is_there(finished_copy):
    """What is not finished is marked; nothing is trained."""
    target = "results/test/runs/wine/mlp_tab/kappa1-sup/seed0/supernet.json"
    options = (*TEST_CONFIG, "--retries", "3", "--forcerun", "supernet", "--config", "device=cuda")
    output = finished_copy.fail(target, *options)
    assert output.count("CRITICAL The config key 'device' is 'cuda', but this job sees no") == 1
    assert "Nothing is retried: The config key 'device' is 'cuda'" in output
    note = finished_copy.path / "results/test" / paths.NO_RETRY
    assert note.exists()

    table = "results/test/tables/table7.csv"
    (finished_copy.path / "results/test/runs/wine/xgb/seed0/evaluation.json").unlink()
    assert finished_copy.plan(table, partial=True).counts == {"table": 1, "total": 1}
    finished_copy.run(table, *TEST_CONFIG, "--config", "partial=true")
    assert not note.exists()  # it was the earlier run's
    with (finished_copy.path / table).open() as file:
        missing = {row["column"]: row["missing"] for row in csv.DictReader(file)}
    assert missing["xgb"] == "not finished" and missing["iunet"] == ""
    counts = finished_copy.plan(partial=True).counts
    assert not {"evaluate_tuned", "tune", "split_table"} & set(counts)
