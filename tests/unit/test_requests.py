"""What tables and figures ask of the runs."""

from __future__ import annotations

import copy
from pathlib import Path

import yaml

from iunet.data.registry import read_registry
from iunet.runs.names import entries, plan, plan_entry
from iunet.runs.requests import (
    NOT_FINISHED,
    Results,
    cost_requests,
    files_of,
    run_requests,
    supernet_requests,
    trials_requests,
)

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
REGISTRY = read_registry([ROOT / "config" / "datasets.csv"])
RESULTS = Results("results", (0, 1), {"nomao": "not in the mirror"})


def runs(entry: str) -> list:
    return plan_entry(CONFIG, REGISTRY, entry)


def of(requests: list[dict], **facts) -> list[dict]:
    return [r for r in requests if all(r[key] == value for key, value in facts.items())]


def test_every_method_is_asked_for_in_its_own_way():
    requests = run_requests(runs("tables.table7"), RESULTS)
    assert len(requests) == 40 * 7 * 2
    vehicle = of(requests, dataset="vehicle", seed=1)
    kinds = {request["method"]: request["kind"] for request in vehicle}
    assert kinds == {
        "dense": "dense",
        "omp": "cut",
        "beta_lasso": "cut",
        "iunet": "cut",
        "xgb": "tuned",
        "tabnet": "tuned",
        "mlp_c": "tuned",
    }
    folder = "results/runs/vehicle"
    (iunet,) = of(vehicle, method="iunet")
    assert iunet["selection"] == f"{folder}/mlp_tab/selection-iunet.json"
    evaluation = f"{folder}/mlp_tab/kappa0.25-ilo/seed1/evaluation.json"
    assert iunet["evaluations"] == {"kappa0.25-ilo": evaluation} and iunet["own_selection"]
    (lasso,) = of(vehicle, method="beta_lasso")
    assert len(lasso["evaluations"]) == 5
    (xgb,) = of(vehicle, method="xgb")
    assert xgb["evaluations"] == {"xgb": f"{folder}/xgb/seed1/evaluation.json"}
    assert xgb["selection"] is None


def test_ablations_use_the_ratio_of_iunet():
    requests = run_requests(runs("tables.table4"), RESULTS, "iunet")
    (without,) = of(requests, dataset="cifar10", method="iunet_no_ilo", seed=0)
    assert without["selection"].endswith("cifar10/mlp_vis/selection-iunet.json")
    assert not without["own_selection"]
    (bare,) = of(requests, dataset="cifar10", method="iunet_no_prune", seed=0)
    assert (bare["kind"], bare["selection"]) == ("supernet", None)
    assert {request["network"] for request in requests} == {"mlp_vis", "mlp_tab"}


def test_ablations_with_other_cuts_use_their_own_choice():
    config = copy.deepcopy(CONFIG)
    row = {"kappa": 0.25, "objective": "ilo"}
    config["methods"]["longer"] = {**row, "finetune": {"batch_size": 64}}
    config["tables"]["table4"]["methods"] = ["iunet", "iunet_no_ilo", "longer"]
    requests = run_requests(plan_entry(config, REGISTRY, "tables.table4"), RESULTS, "iunet")
    chosen = {r["method"]: r["selection"] for r in of(requests, dataset="vehicle", seed=0)}
    assert chosen["iunet_no_ilo"] == chosen["iunet"] != chosen["longer"]
    assert chosen["longer"].endswith("selection-longer.json")


def test_missing_data_sets_and_unfinished_runs_are_said():
    gone = of(run_requests(runs("tables.table7"), RESULTS), dataset="nomao")
    assert {request["missing"] for request in gone} == {"not in the mirror"}
    assert files_of(gone) == []
    there = "results/runs/vehicle/mlp_tab/dense/seed0/evaluation.json"
    partial = Results("results", (0, 1), {}, exists=lambda path: path == there)
    requests = of(run_requests(runs("tables.table7"), partial), dataset="vehicle", method="dense")
    assert [request["missing"] for request in requests] == [None, NOT_FINISHED]
    assert files_of(requests) == [there]


def test_table6_is_the_papers_four_columns():
    pairs = {(run.method.network, run.method.name) for run in runs("tables.table6")}
    assert pairs == {
        ("mlp_vis", "dense"),
        ("mlp_vis", "iunet"),
        ("cnn", "dense"),
        ("resnet18", "iunet"),
    }


def test_figures_ask_for_files_beside_the_supernet():
    files = {"histograms": "histograms.safetensors", "report": "supernet.json"}
    requests = supernet_requests(runs("figures.figure3"), RESULTS, files)
    assert len(requests) == 3 * 4 * 2
    folder = "results/runs/cifar10/mlp_vis/kappa1-sup/seed0"
    assert requests[0]["histograms"] == f"{folder}/histograms.safetensors"
    assert f"{folder}/supernet.json" in files_of(requests)


def test_trials_and_costs():
    tuned = trials_requests(runs("tables.table7"), RESULTS, "tuning")
    assert len(tuned) == 40 * 3 and tuned[0]["trials"].endswith("xgb/tuning/trials.csv")
    costs = cost_requests(runs("tables.table7"), RESULTS, lambda seed: "tuning")
    studies = of(costs, dataset="vehicle", method="xgb", seed=None)
    assert [request["reports"] for request in studies] == [
        ["results/runs/vehicle/xgb/tuning/study.json"]
    ]
    (lasso,) = of(costs, dataset="vehicle", method="beta_lasso", seed=0)
    assert len(lasso["reports"]) == 10
    per_seed = cost_requests(runs("tables.table7"), RESULTS, lambda seed: f"tuning-seed{seed}")
    assert len(of(per_seed, dataset="vehicle", method="xgb", seed=None)) == 2


def test_the_plan_is_that_of_all_tables_and_figures():
    planned = set(plan(CONFIG, REGISTRY))
    each = [set(runs(key)) for key in entries(CONFIG)]
    assert planned == set.union(*each) and len(planned) < sum(map(len, each))
