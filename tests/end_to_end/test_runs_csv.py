"""runs.csv of a whole run: every network in it, and the tables again from it alone."""

from __future__ import annotations

import csv
import json

import pytest
import yaml
from conftest import ROOT
from snakemake.utils import update_config

from iunet.artifacts import read_json
from iunet.data.registry import read_registry
from iunet.errors import UserError
from iunet.runs.entries import Benchmark
from iunet.study.rebuild import OF_RUNS, rebuild
from iunet.study.rows import read_rows
from iunet.tables.catalog import table_attribute


@pytest.fixture(scope="module")
def bench():
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    update_config(config, yaml.safe_load((ROOT / "config/test.yaml").read_text()))
    registry = read_registry([str(ROOT / "config/datasets.csv")])
    return Benchmark(config, registry, fixed=table_attribute("PAIRS"))


def test_every_evaluation_has_a_row(finished):
    rows = read_rows(finished.path / "results/test/runs.csv")
    ids = {row["id"] for row in rows}
    evaluations = list((finished.path / "results/test/runs").rglob("evaluation.json"))
    assert len(evaluations) > 20
    for path in evaluations:
        made_by = json.loads(path.read_text())["made_by"]
        assert made_by["id"] in ids, path
    (iunet,) = (r for r in rows if r["method"] == "iunet" and r["dataset"] == "wine" and r["cut"])
    assert iunet["chosen"] == "yes" and iunet["ratio"] == 8 and iunet["seed"] == 0
    folder = finished.path / "results/test/runs/wine/mlp_tab/kappa0.25-ilo/seed0"
    metrics = read_json(folder / "ratio8/evaluation.json")["metrics"]
    assert {key: iunet[key] for key in metrics} == metrics
    layers = read_json(folder / "ratio8/mask.json")["layers"]
    assert iunet["layer_density"] == " ".join(str(layer["density"]) for layer in layers)
    assert iunet["supernet_seconds"] == read_json(folder / "supernet.json")["times"]["total_s"]
    tuned = [r for r in rows if r["method"] == "xgb"]
    assert tuned[0]["trials_complete"] + tuned[0]["trials_failed"] == 3
    assert 1 <= tuned[0]["best_trial"] <= 3


def test_tables_are_made_again_from_the_rows_alone(finished, bench, tmp_path):
    documents = rebuild(finished.path / "results/test/runs.csv", bench, tmp_path / "again")
    assert len(documents) == len(OF_RUNS)
    for name, document in documents.items():
        shown = read_json(finished.path / f"results/test/tables/{name}.json")
        assert json.loads(json.dumps(document.to_json())) == shown, name


def test_rows_decide_what_tables_say(finished, bench, tmp_path):
    """A changed score changes the tables that show it: they come from nowhere else."""
    source = (finished.path / "results/test/runs.csv").read_text()
    rows = list(csv.DictReader(source.splitlines()))
    for row in rows:
        if (row["method"], row["cut"]) == ("iunet", "ratio8") and row["dataset"] == "wine":
            row["test_balanced_accuracy"] = "12.5"
    changed = tmp_path / "runs.csv"
    with changed.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    table = rebuild(changed, bench, tmp_path / "again")["table4"].to_json()
    assert "12.5" in json.dumps(table)


def test_other_columns_and_words_for_numbers_are_refused(finished, tmp_path):
    lines = (finished.path / "results/test/runs.csv").read_text().splitlines()
    path = tmp_path / "runs.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="has other columns than this version writes"):
        read_rows(path)
    path.write_text("\n".join([lines[0], lines[1].replace(",0,", ",zero,", 1)]) + "\n")
    with pytest.raises(UserError, match=r"line 2: 'seed' is 'zero', which is no number"):
        read_rows(path)
