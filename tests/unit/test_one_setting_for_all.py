"""Appendix E.2: the ranking with one ratio and one l1 for all; and what table 4 says of recipes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from iunet.data.registry import read_registry
from iunet.labels import SCORES
from iunet.runs.entries import Benchmark
from iunet.tables import search_fixed_ratio as module
from iunet.tables.catalog import table_attribute
from iunet.tables.frame import make_frame
from iunet.tables.reports import refuse_repeated
from iunet.tables.search_fixed_ratio import search_fixed_ratio
from iunet.tables.table4 import table4

ROOT = Path(__file__).resolve().parents[2]
SETS = ("cifar10", "svhn")


def run(dataset, method, score=None, network="mlp_vis", **facts):
    row = {"dataset": dataset, "network": network, "method": method, "seed": 0}
    scores = {f"{part}_{name}": score for part in ("valid", "test") for name in SCORES}
    return row | (scores if score is not None else {}) | facts


def runs(method, score, **facts):
    """On two data sets, the second a point higher."""
    return [run(dataset, method, score + i, **facts) for i, dataset in enumerate(SETS)]


def lasso(l1, score):
    return runs("beta_lasso", score, supernet=f"kappa1-lasso{l1}", cut="survivors")


@pytest.fixture
def chosen():
    scores = {"dense": 60, "omp": 61, "beta_lasso": 62, "iunet": 65}
    return make_frame([row for method, score in scores.items() for row in runs(method, score)])


def text(table, row, column):
    return table.cell(row, column).values["value"].text


def test_every_ratio_with_every_l1(chosen):
    ratios = {2: (60.5, 64), 8: (61, 66)}
    rows = [
        row
        for ratio, scores in ratios.items()
        for method, score in zip(("omp", "iunet"), scores, strict=True)
        for row in runs(method, score, ratio=float(ratio), supernet="kappa1-sup")
    ]
    rows += lasso("0.000001", 62) + lasso("0.00001", 59)
    table = search_fixed_ratio(make_frame(rows), chosen)
    keys = [f"ratio{r}-l1_{l1}" for r in (2, 8) for l1 in ("1e-06", "1e-05")]
    assert [row.key for row in table.rows] == [f"mlp_vis/{key}" for key in ["chosen", *keys]]
    assert table.rows[1].labels == ["MLP_VIS", "2 for all", "1e-06 for all"]
    same = [text(table, f"mlp_vis/{key}", "same_order") for key in keys]
    assert same == ["yes", "no", "yes", "no"]  # β-LASSO falls behind at the larger l1
    found = table.cells["mlp_vis/ratio2-l1_1e-05"]
    means = {m: found[m].values["value"].mean for m in ("dense", "omp", "beta_lasso", "iunet")}
    assert means == {"dense": 60.5, "omp": 61.0, "beta_lasso": 59.5, "iunet": 64.5}
    ranks = [found[f"{m}_rank"].values["value"].mean for m in means]
    assert ranks == [3, 2, 4, 1]
    assert table.notes[-1] == "The ranking is the same with 2 of 4 fixed settings."


def test_networks_that_are_cut_off_are_marked(chosen):
    """At large ratios a layer may lose all weights; the score is then that of a constant."""
    rows = runs("omp", 10, ratio=8.0, supernet="kappa1-sup", disconnected=True)
    rows += runs("iunet", 66, ratio=8.0, supernet="kappa1-sup", disconnected=False)
    table = search_fixed_ratio(make_frame(rows), chosen)
    assert table.cell("mlp_vis/ratio8", "omp").notes == ["disconnected (2 of 2 runs)"]
    assert table.cell("mlp_vis/ratio8", "iunet").notes == []
    assert table.cell("mlp_vis/chosen", "omp").notes == []


def test_an_l1_at_which_every_weight_dies_says_so(chosen):
    rows = runs("omp", 61, ratio=2.0) + runs("iunet", 64, ratio=2.0)
    dead = {"supernet": "kappa1-lasso0.1", "failed": "every weight died"}
    rows += [run(dataset, "beta_lasso", **dead) for dataset in SETS]
    table = search_fixed_ratio(make_frame(rows), chosen)
    missing = table.cell("mlp_vis/ratio2-l1_0.1", "same_order").missing
    assert missing == "no data set with every method (β-LASSO: every weight died)"


def test_without_lasso_only_ratios_are_fixed(chosen):
    chosen = chosen[chosen["method"] != "beta_lasso"]
    rows = runs("omp", 60.5, ratio=2.0) + runs("iunet", 64, ratio=2.0)
    table = search_fixed_ratio(make_frame(rows), chosen)
    assert [row.key for row in table.rows] == ["mlp_vis/chosen", "mlp_vis/ratio2"]
    assert table.rows[1].labels[2] == "–"


def test_what_the_config_asks_for():
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    registry = read_registry([ROOT / "config" / "datasets.csv"])
    bench = Benchmark(config, registry, fixed=table_attribute("PAIRS"))
    ask = module.asks(bench)
    fixed = ask.more["fixed"]
    refuse_repeated(fixed)
    per_run = {}
    for request in fixed:
        assert len(request["evaluations"]) == 1 and request["choice"] is None
        key = (request["network"], request["method"], request["dataset"], request["seed"])
        per_run.setdefault(key, []).append((request["supernet"], request["cut"]))
    networks, methods = {key[0] for key in per_run}, {key[1] for key in per_run}
    assert networks == {"mlp_vis", "resnet18"}
    assert methods == {"omp", "beta_lasso", "iunet_no_ilo", "iunet_no_pis", "iunet"}
    for (_, method, _, _), candidates in per_run.items():
        grid = config["beta_lasso"]["l1"] if method == "beta_lasso" else (2, 4, 8, 16)
        assert len(set(candidates)) == len(candidates) == len(grid)
    assert set(ask.inputs()) >= {path for r in fixed for path in r["evaluations"].values()}


# ---- table 4


@pytest.mark.parametrize(
    ("network", "methods", "says"),
    [
        ("mlp_tab", ["iunet_no_prune", "iunet"], True),
        ("mlp_tab", ["iunet"], False),
        ("mlp_vis", ["iunet_no_prune", "iunet"], False),
    ],
)
def test_table4_says_that_the_recipe_differs_on_tables(network, methods, says):
    dataset = "vehicle" if network == "mlp_tab" else "cifar10"
    table = table4(make_frame([run(dataset, method, 70.0, network) for method in methods]))
    assert any("supernet_finetuned" in note for note in table.notes) is says
