"""runs.csv of a whole run has every network."""

from __future__ import annotations

import json

import pytest
from configs import benchmark, merged

from iunet.artifacts import read_json
from iunet.figures.make import make_figure
from iunet.results.runs_csv import read_records


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


@pytest.mark.parametrize("name", ["overview", "densities"])
def test_figures_that_the_page_of_this_run_does_not_show(finished, monkeypatch, tmp_path, name):
    monkeypatch.chdir(finished.path)
    output = {form: str(tmp_path / f"figure.{form}") for form in ("png", "pdf", "csv", "json")}
    make_figure(name, benchmark(merged("test")), output)
    assert read_json(output["json"])["missing"] is None
