"""A whole run of config/test.yaml, made once, and what it leaves behind.

A file of its own, and the first: tests of one file run in one worker (`--dist loadfile`) and share
the run, and the longest file had better not be the last.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NOTHING, TEST_CONFIG, Workdir, planned_jobs, read_csv

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A finished run of config/test.yaml, shared by the tests that only look at it."""
    workdir = Workdir(tmp_path_factory.mktemp("finished") / "work")
    workdir.run(*TEST_CONFIG)
    return workdir


def test_tables_of_the_run(finished):
    tables = finished.path / "results" / "test" / "tables"
    row = read_csv(tables / "table9.csv")["wine"]
    assert (row["n_train"], row["n_valid"], row["n_test"]) == ("106", "36", "36")
    assert row["n_train_agrees"] == "not in the paper"
    assert read_csv(tables / "table8.csv")["photo_digits_low"]["n_classes"] == "5"
    assert "| wine " in (tables / "table9.md").read_text()
    assert "<td>wine</td>" in (tables / "table9.html").read_text()


def test_every_job_leaves_a_log_and_a_benchmark(finished):
    root = finished.path / "results" / "test"
    for job in ("download/wine", "split/wine", "split/photo_digits_low", "tables/table9"):
        assert (root / "logs" / f"{job}.log").is_file()
        assert (root / "benchmarks" / f"{job}.tsv").is_file()
    assert "sha256" in (root / "logs" / "download" / "wine.log").read_text()


def test_a_finished_run_is_not_repeated(finished):
    assert NOTHING in finished.run(*TEST_CONFIG)


def test_the_same_data_downloaded_again_repeat_nothing(finished):
    finished.run(*TEST_CONFIG, "--forcerun", "download_table", "--until", "download_table")
    assert NOTHING in finished.run(*TEST_CONFIG)


def test_a_changed_parameter_repeats_what_uses_it(finished):
    jobs = planned_jobs(
        finished.run("-n", *TEST_CONFIG, "--config", 'split={"max_categories": 99}')
    )
    assert jobs["split_table"] == jobs["table9"] == 1
    assert not {"split_images", "download_table", "table8"} & set(jobs)


def test_snakemakes_own_report(finished, tmp_path):
    finished.run(*TEST_CONFIG, "--report", str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text()
    assert "table9.html" in page and "figure2.png" in page
    assert "the paper's beside them" in page


def test_a_script_runs_by_hand(finished):
    """As under a debugger: the same inputs, the same bytes."""
    split = finished.path / "results" / "test" / "splits" / "wine"
    before = {path.name: path.read_bytes() for path in split.iterdir()}
    for path in split.iterdir():
        path.unlink()
    script = ROOT / "workflow" / "scripts" / "split_table.py"
    result = subprocess.run(
        [sys.executable, script, "dataset=wine", *TEST_CONFIG],
        cwd=finished.path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert "wine: train 106, valid 36, test 36" in result.stderr
    assert before == {path.name: path.read_bytes() for path in split.iterdir()}


def test_all_tables_figures_and_the_page(finished):
    root = finished.path / "results" / "test"
    for number in range(1, 10):
        for ending in ("csv", "md", "html", "tex", "json"):
            assert (root / "tables" / f"table{number}.{ending}").stat().st_size > 0
    for number in (2, 3, 4):
        for ending in ("pdf", "png", "csv"):
            assert (root / "figures" / f"figure{number}.{ending}").stat().st_size > 0
    page = (root / "report" / "index.html").read_text()
    for part in ("table7", "figure4", "tuning-wine", "metric_problem"):
        assert f'id="{part}"' in page
    with (root / "tables" / "table7.csv").open() as file:
        cells = {(row["row"], row["column"], row["metric"]): row for row in csv.DictReader(file)}
    shown = float(cells["wine", "iunet", "balanced_accuracy"]["mean"])
    (_, pruned) = evaluation(finished, "wine/mlp_tab/kappa0.25-ilo/seed0")["results"]
    assert shown == pruned["metrics"]["test_balanced_accuracy"]


def test_baselines_of_the_run(finished):
    """β-LASSO's second l1 kills every weight: reported, and not chosen."""
    runs = finished.path / "results" / "test" / "runs" / "wine"
    selection = json.loads((runs / "mlp_tab" / "selection-beta_lasso.json").read_text())
    assert selection["chosen"]["supernet"] == "kappa1-lasso0.00001"
    assert "every weight died" in selection["candidates"][1]["failed"]
    for learner in ("xgb", "tabnet", "mlp_c"):
        study = json.loads((runs / learner / "tuning" / "study.json").read_text())
        assert study["trials"] == {"xgb": 3, "tabnet": 2, "mlp_c": 2}[learner]
        (result,) = evaluation(finished, f"wine/{learner}/seed0")["results"]
        assert 0 <= result["metrics"]["test_balanced_accuracy"] <= 100


def test_a_larger_budget_continues_the_study(finished):
    """Of a copy, so that the shared run stays as it is."""
    target = "results/test/runs/wine/xgb/tuning/study.json"
    journal = finished.path / "results/test/runs/wine/xgb/tuning/study.journal"
    before = journal.read_text().splitlines()
    change = 'tuning={"xgb": {"trials": 5}}'
    jobs = planned_jobs(finished.run("-n", target, *TEST_CONFIG, "--config", change))
    assert jobs == {"tune": 1, "study": 1, "total": 2}
    finished.run(target, *TEST_CONFIG, "--config", change)
    assert journal.read_text().splitlines()[: len(before)] == before
    assert json.loads((finished.path / target).read_text())["trials"] == 5
    finished.run(*TEST_CONFIG)


def test_partial_results(finished):
    """What is not finished is marked; nothing is trained."""
    table = "results/test/tables/table7.csv"
    evaluated = finished.path / "results/test/runs/wine/xgb/seed0/evaluation.json"
    kept = evaluated.read_bytes()
    evaluated.unlink()
    partial = ("--config", "partial=true")
    jobs = planned_jobs(finished.run("-n", table, *TEST_CONFIG, *partial))
    assert jobs == {"table": 1, "total": 1}
    finished.run(table, *TEST_CONFIG, *partial)
    with (finished.path / table).open() as file:
        missing = {row["column"]: row["missing"] for row in csv.DictReader(file)}
    assert missing["xgb"] == "not finished" and missing["iunet"] == ""
    jobs = planned_jobs(finished.run("-n", *TEST_CONFIG, *partial))
    assert not {"evaluate_tuned", "supernet", "tune", "split_table"} & set(jobs)
    evaluated.write_bytes(kept)
    finished.run(*TEST_CONFIG)


def evaluation(finished, run: str) -> dict:
    path = finished.path / "results" / "test" / "runs" / run / "evaluation.json"
    return json.loads(path.read_text())


def test_runs_are_evaluated(finished):
    pruned = evaluation(finished, "photo_digits_low/mlp_vis/kappa0.25-ilo/seed0")
    assert [result["ratio"] for result in pruned["results"]] == [1, 2, 8]
    for result in pruned["results"]:
        assert {"test_accuracy", "test_balanced_accuracy"} <= set(result["metrics"])
        assert set(result["consistency"]) == {"resize", "horiz", "color", "graysc"}
    (dense,) = evaluation(finished, "wine/mlp_tab/dense/seed0")["results"]
    assert dense["sizes"]["members"] == 2


def test_a_ratio_is_selected(finished):
    folder = finished.path / "results/test/runs/photo_digits_low/mlp_vis"
    selection = json.loads((folder / "selection-omp.json").read_text())
    assert selection["metric"] == "valid_accuracy"
    best = max(selection["candidates"], key=lambda entry: (entry["mean"], entry["ratio"]))
    assert selection["chosen"] == {key: best[key] for key in ("supernet", "cut", "ratio")}
    assert selection["chosen"]["cut"] in ("ratio2", "ratio8")


def test_a_method_is_added_by_a_row_and_shares_what_exists(finished):
    """No code: a new λ needs its supernet and what follows, and nothing that is there already."""
    overlay = {
        "methods": {"mine": {"kappa": 0.25, "objective": "ilo", "supernet": {"lambda": 0.5}}},
        "experiments": {
            "mine": {"datasets": ["wine"], "networks": ["mlp_tab"], "methods": ["mine"]}
        },
    }
    (finished.path / "mine.yaml").write_text(json.dumps(overlay))
    output = finished.run("-n", *TEST_CONFIG, "mine.yaml")
    names = ("supernet", "prune", "finetune", "evaluate", "choose")
    jobs = planned_jobs(output)
    assert {name: jobs[name] for name in names} == dict.fromkeys(names, 1)
    assert not {"initialise", "tune", "refit", "train_dense", "split_table"} & set(jobs)
    assert "runs/wine/mlp_tab/kappa0.25-ilo-lambda0.5/seed0/ratio8/mask.safetensors" in output


def test_any_point_can_be_asked_for_by_its_path(finished):
    point = "results/test/runs/wine/mlp_tab-depth3/kappa0.5-scl-glorot-epochs1/seed7"
    finished.run(f"{point}/ratio4-cycles1/finetune.json", *TEST_CONFIG)
    report = json.loads((finished.path / point / "supernet.json").read_text())
    assert report["network"]["depth"] == 3
    assert {"kappa": 0.5, "objective": "scl", "epochs": 1, "seed": 7}.items() <= report[
        "settings"
    ].items()
    initial = finished.path / "results/test/runs/wine/mlp_tab-depth3/initial-glorot/seed7"
    assert json.loads((initial / "initial.json").read_text())["init"] == "glorot"


def test_transforms_matter_to_what_uses_them(finished):
    """Another hue: supernets with ILO on images, and what follows; nothing of tables or `sup`."""
    change = 'augment={"vision": {"color": {"hue": 0.2}}}'
    jobs = planned_jobs(finished.run("-n", *TEST_CONFIG, "--config", change))
    assert jobs["supernet"] == 2  # IUNET of mlp_vis and of resnet18
    assert "train_dense" not in jobs and "initialise" not in jobs


def test_a_progress_bar_in_a_terminal(finished):
    wildcards = [
        "dataset=wine",
        "network=mlp_tab",
        "kappa=1",
        "objective=sup",
        "init=",
        "variant=",
        "seed=5",
    ]
    initial = "results/test/runs/wine/mlp_tab/initial/seed5/initial.json"
    finished.run(initial, *TEST_CONFIG)
    script = ROOT / "workflow" / "scripts" / "supernet.py"
    # A pipe that says it is a terminal: a real one may lose what is unread at its close.
    as_if_watched = (
        "import runpy, sys; sys.stderr.isatty = lambda: True; sys.argv = sys.argv[1:]; "
        "sys.path.insert(0, sys.argv[0].rpartition('/')[0]); runpy.run_path(sys.argv[0])"
    )
    command = [sys.executable, "-c", as_if_watched, script, *wildcards, *TEST_CONFIG]
    process = subprocess.run(command, cwd=finished.path, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "step/s" in process.stderr and "valid " in process.stderr
    log = finished.path / "results/test/logs/runs/wine/mlp_tab/kappa1-sup/seed5/supernet.log"
    assert "epoch 2/2" in log.read_text()
