"""What tables and figures ask of the runs."""

from __future__ import annotations

import copy
from pathlib import Path

import yaml

from iunet.data.registry import read_registry
from iunet.figures.catalog import HISTOGRAMS, figure_request, trained_supernets
from iunet.results.request import files
from iunet.runs.entries import NOT_FINISHED, Benchmark
from iunet.runs.requests import (
    cost_requests,
    files_of,
    requests_at_each_cut,
    run_requests,
    trials_requests,
)
from iunet.tables.catalog import table_attribute

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
REGISTRY = read_registry([ROOT / "config" / "datasets.csv"])
CONFIG["seeds"] = [0, 1]
PAIRS = table_attribute("PAIRS")
BENCH = Benchmark(CONFIG, REGISTRY, {"nomao": "not in the mirror"}, PAIRS)


def cells(entry: str) -> list:
    return BENCH.cells_of(entry)


def changed(**sections) -> Benchmark:
    return Benchmark({**CONFIG, **sections}, REGISTRY, fixed=PAIRS)


def of(requests: list[dict], **facts) -> list[dict]:
    return [r for r in requests if all(r[key] == value for key, value in facts.items())]


def test_every_method_is_asked_for_in_its_own_way():
    requests = run_requests(BENCH, cells("tables.table7"))
    assert len(requests) == 40 * 7 * 2
    vehicle = of(requests, dataset="vehicle", seed=1)
    stages = {request["method"]: request["stage"] for request in vehicle}
    assert stages == {
        "dense": "dense",
        "omp": "subnetwork",
        "beta_lasso": "subnetwork",
        "iunet": "subnetwork",
        "xgb": "tuned",
        "tabnet": "tuned",
        "mlp_c": "tuned",
    }
    folder = "results/runs/vehicle"
    (iunet,) = of(vehicle, method="iunet")
    assert iunet["choice"] == f"{folder}/mlp_tab/choice-iunet.json"
    evaluation = f"{folder}/mlp_tab/kappa0.25-ilo/seed1/ratio8/evaluation.json"
    assert iunet["evaluations"] == {"kappa0.25-ilo/ratio8": evaluation} and iunet["own_choice"]
    assert iunet["supernets"] == {}
    (lasso,) = of(vehicle, method="beta_lasso")
    assert len(lasso["evaluations"]) == 5
    (xgb,) = of(vehicle, method="xgb")
    assert xgb["evaluations"] == {"xgb": f"{folder}/xgb/seed1/evaluation.json"}
    assert xgb["choice"] is None


def test_consistency_asks_for_the_supernet_beside_its_cuts():
    requests = run_requests(BENCH, cells("tables.table3"), supernets=True)
    image = of(requests, network="mlp_vis", method="iunet", seed=0)[0]
    folder = f"results/runs/{image['dataset']}/mlp_vis/kappa0.25-ilo/seed0"
    assert image["supernets"] == {"kappa0.25-ilo": f"{folder}/evaluation.json"}
    assert set(image["evaluations"]) == {f"kappa0.25-ilo/ratio{r}" for r in (2, 4, 8, 16)}
    assert f"{folder}/evaluation.json" in files_of([image])


def test_ablations_use_the_ratio_of_iunet():
    requests = run_requests(BENCH, cells("tables.table4"), choice_of="iunet")
    (without,) = of(requests, dataset="cifar10", method="iunet_no_ilo", seed=0)
    assert without["choice"].endswith("cifar10/mlp_vis/choice-iunet.json")
    assert not without["own_choice"]
    (bare,) = of(requests, dataset="cifar10", method="iunet_no_prune", seed=0)
    assert (bare["stage"], bare["choice"]) == ("supernet", None)
    assert {request["network"] for request in requests} == {"mlp_vis", "mlp_tab"}


def test_controls_use_the_ratio_of_iunet_whatever_their_cuts_are_called():
    """A shuffled mask at another ratio would not have the densities of the mask it stands for."""
    requests = run_requests(BENCH, cells("tables.controls"), choice_of="iunet")
    chosen = {r["method"]: r["choice"] for r in of(requests, dataset="cifar10", seed=0)}
    folder = "results/runs/cifar10/mlp_vis"
    for method in ("omp", "omp_relative", "iunet_shuffled", "iunet_fresh", "iunet_units"):
        assert chosen[method] == f"{folder}/choice-iunet.json", method
    assert chosen["supernet_finetuned"] == f"{folder}/choice-supernet_finetuned.json"  # of ratio 1


def test_ablations_at_other_ratios_use_their_own_choice():
    config = copy.deepcopy(CONFIG)
    row = {"kappa": 0.25, "objective": "ilo"}
    config["methods"]["longer"] = {**row, "finetune": {"batch_size": 64}}
    config["methods"]["smaller"] = {**row, "ratios": [32]}
    config["tables"]["table4"]["methods"] = ["iunet", "longer", "smaller", "beta_lasso"]
    bench = Benchmark(config, REGISTRY, fixed=PAIRS)
    requests = run_requests(bench, bench.cells_of("tables.table4"), choice_of="iunet")
    chosen = {r["method"]: r["choice"] for r in of(requests, dataset="vehicle", seed=0)}
    assert chosen["longer"] == chosen["iunet"]
    assert chosen["smaller"].endswith("choice-smaller.json")
    assert chosen["beta_lasso"].endswith("choice-beta_lasso.json")  # no ratio: what survives


def test_a_cut_for_all_needs_no_choice():
    requests = requests_at_each_cut(BENCH, cells("tables.search_tabular"))
    assert {request["cut"] for request in requests} == {"ratio2", "ratio4", "ratio8"}
    assert {request["choice"] for request in requests} == {None}
    for request in requests:
        (name,) = request["evaluations"]
        assert name.endswith(f"/{request['cut']}")


def test_missing_data_sets_and_unfinished_runs_are_said(tmp_path):
    gone = of(run_requests(BENCH, cells("tables.table7")), dataset="nomao")
    assert {request["missing"] for request in gone} == {"not in the mirror"}
    assert files_of(gone) == []
    partial = changed(partial=True, results=str(tmp_path))
    there = tmp_path / "runs/vehicle/mlp_tab/dense/seed0/evaluation.json"
    there.parent.mkdir(parents=True)
    there.touch()
    requests = run_requests(partial, partial.cells_of("tables.table7"))
    dense = of(requests, dataset="vehicle", method="dense")
    assert [request["missing"] for request in dense] == [None, NOT_FINISHED]
    assert files_of(dense) == [str(there)]


def test_table6_is_the_papers_four_columns():
    pairs = {(cell.method.network, cell.method.name) for cell in cells("tables.table6")}
    assert pairs == {
        ("mlp_vis", "dense"),
        ("mlp_vis", "iunet"),
        ("cnn", "dense"),
        ("resnet18", "iunet"),
    }


def test_figures_ask_for_files_beside_the_supernet():
    supernets = trained_supernets(BENCH, "figure3", HISTOGRAMS)
    assert len(supernets) == 3 * 4 * 2
    folder = "results/runs/cifar10/mlp_vis/kappa1-sup/seed0"
    assert supernets[0]["files"]["histograms"] == f"{folder}/histograms.safetensors"
    assert f"{folder}/supernet.json" in figure_request(BENCH, "figure3").artifacts


def test_figure2_asks_for_the_supernet_and_all_its_cuts():
    asked = files(BENCH, figure_request(BENCH, "figure2"))
    folder = "results/runs/cifar10/mlp_vis/kappa1-sup/seed0"
    assert {f"{folder}/evaluation.json", f"{folder}/ratio8/evaluation.json"} <= set(asked)


def test_trials_and_costs():
    tuned = trials_requests(BENCH, "vehicle")
    assert len(tuned) == 3 and tuned[0]["trials"].endswith("vehicle/xgb/tuning/trials.csv")
    costs = cost_requests(BENCH)
    studies = of(costs, dataset="vehicle", method="xgb", seed=None)
    assert [request["reports"] for request in studies] == [
        ["results/runs/vehicle/xgb/tuning/study.json"]
    ]
    (lasso,) = of(costs, dataset="vehicle", method="beta_lasso", seed=0)
    assert len(lasso["reports"]) == 10
    per_seed = cost_requests(changed(tuning={**CONFIG["tuning"], "study_per": "seed"}))
    assert len(of(per_seed, dataset="vehicle", method="xgb", seed=None)) == 2


def test_the_cells_are_those_of_all_tables_and_figures():
    every = set(BENCH.all_cells)
    each = [set(cells(key)) for key in BENCH.entries()]
    assert every == set.union(*each) and len(every) < sum(map(len, each))
    assert {cell.dataset for cell in every} - {cell.dataset for cell in BENCH.cells} == {"nomao"}
