"""runs.csv of a whole run: every network in it, and the tables again from it alone."""

from __future__ import annotations

import json

import pytest
from configs import benchmark, merged

from iunet.artifacts import read_json
from iunet.figures.make import make_figure
from iunet.results.collect import collect
from iunet.results.runs_csv import read_records
from iunet.tables.catalog import TABLES, table_request
from iunet.tables.make import build_table

# These are of data sets, of latencies, or of the paper.
NOT_OF_RUNS = ("table8", "table9", "expected_densities", "efficiency", "metric_problem")


def test_every_evaluation_has_a_row(finished):
    rows = read_records(finished.path / "results/test/runs.csv")
    ids = {row["id"] for row in rows}
    evaluations = list((finished.path / "results/test/runs").rglob("evaluation.json"))
    assert len(evaluations) > 12
    for path in evaluations:
        made_by = json.loads(path.read_text())["made_by"]
        assert made_by["id"] in ids, path
    (iunet,) = (r for r in rows if r["method"] == "iunet" and r["dataset"] == "wine" and r["cut"])
    assert iunet["chosen"] and iunet["ratio"] == 8 and iunet["seed"] == 0
    folder = finished.path / "results/test/runs/wine/mlp_tab/kappa0.25-ilo/seed0"
    metrics = read_json(folder / "ratio8/evaluation.json")["metrics"]
    assert {key: iunet[key] for key in metrics} == metrics
    layers = read_json(folder / "ratio8/mask.json")["layers"]
    assert iunet["layer_density"] == [layer["density"] for layer in layers]
    assert iunet["supernet_seconds"] == read_json(folder / "supernet.json")["times"]["total_s"]
    tuned = [r for r in rows if r["method"] == "xgb"]
    assert tuned[0]["trials_complete"] + tuned[0]["trials_failed"] == 3
    assert 1 <= tuned[0]["best_trial"] <= 3


def test_the_rows_are_all_that_tables_of_runs_need(finished, monkeypatch):
    monkeypatch.chdir(finished.path)
    bench, elsewhere = (benchmark(merged("test", **c)) for c in ({}, {"results": "elsewhere"}))
    for name in (table for table in TABLES if table not in NOT_OF_RUNS):
        of_reports = collect(bench, table_request(bench, name)).runs
        of_rows = collect(elsewhere, table_request(elsewhere, name), "results/test/runs.csv").runs
        same = of_rows.astype(object) == of_reports.astype(object)
        assert (same | of_reports.isna()).all(axis=None), name
    shown = read_json("results/test/tables/table7.json")["cells"]
    made = build_table(elsewhere, "table7", "results/test/runs.csv").to_json()["cells"]
    assert json.loads(json.dumps(made)) == shown


@pytest.mark.parametrize("name", ["overview", "densities"])
def test_figures_that_the_page_of_this_run_does_not_show(finished, monkeypatch, tmp_path, name):
    monkeypatch.chdir(finished.path)
    output = {form: str(tmp_path / f"figure.{form}") for form in ("png", "pdf", "csv", "json")}
    make_figure(name, benchmark(merged("test")), output)
    assert read_json(output["json"])["missing"] is None
