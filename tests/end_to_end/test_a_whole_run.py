"""A whole run of config/test.yaml, made once, and what it leaves behind.

The run is made when the first test asks for it, so this file is among the first (conftest.py).
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from configs import benchmark, merged
from conftest import ROOT, TEST_CONFIG, read_csv

from iunet import cost
from iunet.artifacts import read_arrays, read_json


def evaluation(finished, run: str) -> dict:
    return read_json(finished.path / "results" / "test" / "runs" / run / "evaluation.json")


# ---- what is there


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
    run = "runs/wine/mlp_tab/kappa0.25-ilo/seed0"
    jobs = ["download/wine", "split/wine", "split/photo_digits_low", "tables/table9"]
    jobs += [f"{run}/supernet", f"{run}/evaluate", f"{run}/ratio8/finetune", "figures/figure2"]
    jobs += [f"{run}/ratio8/evaluate", "runs/wine/mlp_tab/choose-iunet", "report/page"]
    for job in jobs:
        assert (root / "logs" / f"{job}.log").is_file(), job
        assert (root / "benchmarks" / f"{job}.tsv").is_file(), job
    assert "sha256" in (root / "logs" / "download" / "wine.log").read_text()


def test_tables_figures_and_the_page(finished):
    root = finished.path / "results" / "test"
    for name in ("table1", "table6", "table7", "table8", "table9", "efficiency"):
        for ending in ("csv", "md", "html", "tex", "json"):
            assert (root / "tables" / f"{name}.{ending}").stat().st_size > 0
    for name in ("figure2", "figure3", "figure4", "tuning/wine"):
        for ending in ("pdf", "png", "csv", "json"):
            assert (root / "figures" / f"{name}.{ending}").stat().st_size > 0
    page = (root / "report" / "index.html").read_text()
    for part in ("table7", "figure4", "tuning-wine", "efficiency"):
        assert f'id="{part}"' in page
    with (root / "tables" / "table7.csv").open() as file:
        cells = {(row["row"], row["column"], row["metric"]): row for row in csv.DictReader(file)}
    shown = float(cells["wine", "iunet", "balanced_accuracy"]["mean"])
    pruned = evaluation(finished, "wine/mlp_tab/kappa0.25-ilo/seed0/ratio8")
    assert shown == pruned["metrics"]["test_balanced_accuracy"]


def test_baselines_of_the_run(finished):
    runs = finished.path / "results" / "test" / "runs" / "wine"
    choice = read_json(runs / "mlp_tab" / "choice-beta_lasso.json")
    assert choice["chosen"]["supernet"] == "kappa1-lasso0.00001"
    assert read_json(runs / "xgb" / "tuning" / "study.json")["trials"] == 3
    for learner in ("xgb", "mlp_c"):
        result = evaluation(finished, f"wine/{learner}/seed0")
        assert 0 <= result["metrics"]["test_balanced_accuracy"] <= 100


def test_runs_are_evaluated(finished):
    run = "photo_digits_low/mlp_vis/kappa0.25-ilo/seed0"
    for folder, ratio in ((run, 1), (f"{run}/ratio8", 8)):
        result = evaluation(finished, folder)
        assert (result["run"], result["ratio"]) == (folder, ratio)
        assert {"test_accuracy", "test_balanced_accuracy"} <= set(result["metrics"])
        assert set(result["consistency"]) == {"resize", "horiz", "color", "graysc"}
    assert evaluation(finished, "wine/mlp_tab/dense/seed0")["sizes"]["members"] == 2


def test_a_ratio_is_chosen(finished):
    folder = finished.path / "results/test/runs/photo_digits_low/mlp_vis"
    choice = read_json(folder / "choice-omp.json")
    assert choice["metric"] == "valid_accuracy"
    best = max(choice["candidates"], key=lambda entry: (entry["mean"], entry["ratio"]))
    assert choice["chosen"] == {key: best[key] for key in ("supernet", "cut", "ratio")}
    assert choice["chosen"]["cut"] == "ratio8"
    for candidate in choice["candidates"]:  # it scored what the evaluation scores
        run = f"photo_digits_low/mlp_vis/{candidate['supernet']}/seed0/{candidate['cut']}"
        assert candidate["mean"] == evaluation(finished, run)["metrics"]["valid_accuracy"]


def test_snakemakes_own_report(finished, tmp_path):
    finished.run(*TEST_CONFIG, "--report", str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text()
    assert "table9.html" in page and "figure2.png" in page
    assert "with the paper's where it has one" in page


# ---- what would run again


def test_a_changed_parameter_repeats_what_uses_it(finished):
    """A key of tables' splits; and another hue: supernets with transforms of images, not `sup`."""
    hue = {"vision": {"color": {"hue": 0.2}}}
    plan = finished.plan(split={"max_categories": 99}, augment=hue)
    tables = {job.wildcards.table for job in plan.jobs if job.rule.name == "table"}
    assert plan.counts["split_table"] == 1 and {"table1", "table9"} <= tables
    assert "table8" not in tables and not {"split_images", "download_table"} & set(plan.counts)
    images = [job for job in plan.jobs if job.wildcards.get("dataset") == "photo_digits_low"]
    changed = {job.wildcards.supernet for job in images if job.rule.name == "supernet"}
    assert changed == {"kappa0.25-ilo", "kappa1-ilo", "kappa1-scl"}
    assert not {"train_dense", "initialise"} & {job.rule.name for job in images}


def test_a_method_is_added_by_a_row_and_shares_what_exists(finished):
    """No code: a new λ needs its supernet and what follows, and nothing that is there already."""
    plan = finished.plan(
        methods={"mine": {"kappa": 0.25, "objective": "ilo", "supernet": {"lambda": 0.5}}},
        experiments={"mine": {"datasets": ["wine"], "networks": ["mlp_tab"], "methods": ["mine"]}},
    )
    names = ("supernet", "prune", "finetune", "evaluate", "choose")
    assert {name: plan.counts[name] for name in names} == dict.fromkeys(names, 1)
    others = {"initialise", "tune", "refit", "train_dense", "split_table", "evaluate_supernet"}
    assert not others & set(plan.counts)
    folder = "results/test/runs/wine/mlp_tab/kappa0.25-ilo-lambda0.5/seed0"
    assert f"{folder}/ratio8/mask.safetensors" in plan.outputs


# ---- the machine


def test_the_cost_of_what_remains(finished, monkeypatch):
    monkeypatch.chdir(finished.path)
    bench = benchmark(merged("test"))
    assert not cost.Estimate(bench, remaining=True).everything()
    estimate = cost.Estimate(bench)
    lines = cost.report(estimate).splitlines()
    assert len(estimate.finished) > 5 and f"of {len(estimate.finished)} finished runs" in lines[-2]
    jobs = {line.split()[0]: int(line.split()[1]) for line in lines if line.endswith("GB")}
    assert 0 < jobs["table7"] < jobs["total"] and jobs["page"] == 1


def test_jobs_run_without_a_network(finished, finished_copy):
    """In a network namespace that has nothing at all, with the same weights bit by bit."""
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine allows no network namespaces (unshare -rn)")
    target = "results/test/runs/wine/mlp_tab/kappa1-sup/seed0/supernet.json"
    snakemake = Path(sys.executable).parent / "snakemake"
    command = ["unshare", "-rn", snakemake, "--snakefile", ROOT / "Snakefile", "--cores", "1"]
    result = subprocess.run(
        [*command, target, *TEST_CONFIG, "--forcerun", "supernet"],
        cwd=finished_copy.path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assert "1 job: supernet 1" in result.stderr
    weights = Path(target).with_name("supernet.safetensors")
    before, after = (read_arrays(folder.path / weights) for folder in (finished, finished_copy))
    assert {name: array.tobytes() for name, array in before.items()} == {
        name: array.tobytes() for name, array in after.items()
    }


def test_json_of_the_run_says_whose_it_is(finished):
    """And readers of the package do not see it."""
    path = finished.path / "results/test/splits/wine/split.json"
    assert json.loads(path.read_text())["made_by"]["rule"] == "split_table"
    assert "made_by" not in read_json(path)
