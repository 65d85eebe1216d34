"""Tables beyond the paper: ranking, the metric problem, efficiency and cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from run_frames import layers_of, results_of, run, table_of
from scipy.stats import friedmanchisquare, wilcoxon

from iunet.artifacts import write_json
from iunet.baselines.catalog import LEARNERS
from iunet.tables import expected_densities
from iunet.tables.catalog import table_entry
from iunet.tables.document import VALUE
from iunet.tables.locality import CONVOLUTION
from iunet.tables.metric_problem import MAJORITY, NEITHER, ONE, telling_cells
from iunet.tables.paper_values import METHODS, paper_scores
from iunet.tables.ranking import critical_difference, paper_ranking, smallest_p
from iunet.tables.table2 import summary_of

# ---- ranking


def test_too_few_data_sets_cannot_tell_methods_apart():
    for n_sets, n_methods in ((6, 4), (8, 4), (12, 3)):
        scores = {
            f"m{i}": [10.0 * i + 0.1 * s * (i + 1) for s in range(n_sets)] for i in range(n_methods)
        }
        p_values = critical_difference(pd.DataFrame(scores)).p_values
        found = min(p for a in p_values for b, p in p_values[a].items() if a != b)
        assert found == pytest.approx(smallest_p(n_sets, n_methods))


def test_ranking_of_the_papers_scores():
    scores = paper_scores()
    ranking = critical_difference(scores)
    expected = summary_of(scores).loc["average_rank"]
    assert ranking.ranks == pytest.approx(expected.to_dict())
    assert next(iter(ranking.ranks)) == "mlp_c" and ranking.n_datasets == 40
    assert ranking.friedman_p == pytest.approx(
        friedmanchisquare(*(scores[m] for m in scores)).pvalue
    )
    # Holm: the smallest of 21 p-values times 21, and never below the one before it.
    raw = {
        (a, b): wilcoxon(scores[a], scores[b], zero_method="zsplit").pvalue
        for i, a in enumerate(METHODS)
        for b in METHODS[i + 1 :]
    }
    adjusted, running = {}, 0.0
    for place, pair in enumerate(sorted(raw, key=raw.get)):
        running = max(running, min(1.0, raw[pair] * (len(raw) - place)))
        adjusted[pair] = running
    for (a, b), p in adjusted.items():
        assert ranking.p_values[a][b] == pytest.approx(p) == ranking.p_values[b][a]


def test_the_papers_own_numbers_hardly_tell_iunet_apart():
    """Wilcoxon's p-values of the paper's table 7, after Holm: of its rivals only TabNet differs."""
    p_values = paper_ranking().p_values["iunet"]
    assert p_values["dense"] == pytest.approx(0.775, abs=0.001)
    assert p_values["beta_lasso"] == pytest.approx(0.516, abs=0.001)
    assert p_values["omp"] == p_values["mlp_c"] == p_values["xgb"] == 1.0
    assert p_values["tabnet"] < 1e-5
    table = table_of("ranking", run("vehicle", "mlp_tab", "iunet", 0, 60.0))
    note = next(note for note in table.notes if "the paper's own table 7" in note)
    differs, not_so = note.split("; not from ")
    assert "40 data sets" in differs and "TABN (p = " in differs
    for name in ("MLP_TAB+C (p = 1)", "OMP (p = 1)", "MLP_TAB (p = 0.77)", "β-LASSO (p = 0.52)"):
        assert name in not_so


def test_cliques_hold_what_does_not_differ():
    ranking = critical_difference(paper_scores())
    for group in ranking.cliques:
        assert all(ranking.p_values[a][b] >= 0.05 for a in group for b in group if a != b)
    together = {(a, b) for group in ranking.cliques for a in group for b in group}
    for a in METHODS:
        for b in METHODS:
            if a != b and ranking.p_values[a][b] >= 0.05:
                assert (a, b) in together


def test_clear_differences_and_ties():
    rng = np.random.default_rng(0)
    base = rng.uniform(60, 80, 20)
    scores = pd.DataFrame({"good": base + 5, "same": base, "equal": base, "bad": base - 5})
    ranking = critical_difference(scores)
    assert ranking.ranks == {"good": 1.0, "same": 2.5, "equal": 2.5, "bad": 4.0}
    assert ranking.p_values["same"]["equal"] == 1.0
    assert ranking.p_values["good"]["bad"] < 0.01
    assert ranking.cliques == [["same", "equal"]]


@pytest.mark.parametrize(
    "scores",
    [
        pd.DataFrame({"a": [1.0], "b": [2.0], "c": [3.0]}),
        pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]}),
        pd.DataFrame({"a": [1.0, None], "b": [2.0, 2.0], "c": [1.0, 1.0]}),
        pd.DataFrame({"a": [None], "b": [None]}, dtype=float),
        pd.DataFrame(),
    ],
)
def test_too_little_to_rank(scores):
    ranking = critical_difference(scores)
    assert ranking.problem.startswith("not enough data") and ranking.p_values is None


def test_all_equal():
    scores = pd.DataFrame({m: [50.0, 60.0, 70.0] for m in "abc"})
    ranking = critical_difference(scores)
    assert ranking.friedman_p == 1.0 and ranking.cliques == [["a", "b", "c"]]


def test_ranking_table():
    rows = [
        run(dataset, "mlp_tab", method, 0, score)
        for (dataset, method), score in paper_scores().stack().items()
    ]
    table = table_of("ranking", *rows)
    assert [row.key for row in table.rows] == list(table.data["ranks"])
    assert table.cell("mlp_c", "rank").values["value"].mean == pytest.approx(2.5875)
    p = table.cell("mlp_c", "tabnet").values["value"].mean
    assert p == table.data["p_values"]["tabnet"]["mlp_c"]
    assert "over 40 data sets" in table.caption and "Friedman" in table.notes[0]
    table = table_of("ranking", *rows[:7])  # one data set
    assert table.notes[0].startswith("No test: not enough data: 1 data sets and 7 methods")
    assert table.cell("mlp_c", "dense").missing == "not enough data"
    assert table_of("ranking", run("a", "mlp_tab", "omp", 0, missing="gone")).rows == []


# ---- the metric problem


def test_majority_cells_of_the_paper():
    """All that docs/method.md, section 9, names, found from the numbers."""
    cells = [cell for cell in telling_cells() if cell["is"] == MAJORITY]
    assert {(cell["dataset"], cell["value"], cell["finding"]) for cell in cells} == {
        ("credit-g", 70.0, "majority rate 140/200"),
        ("kc1", 84.597, "majority rate 357/422"),
        ("bank-marketing", 88.3, "majority rate 7985/9043"),
        ("apsfailure", 98.191, "majority rate 14925/15200"),
        ("click-prediction", 83.206, "majority rate 66479/79897"),
    }
    assert len(cells) == 10 and not {cell["method"] for cell in cells} & set(LEARNERS)
    assert {cell["comparison"] for cell in cells} == {"a constant predictor has 50 %"}
    assert "10 of 160 cells" in table_of("metric_problem").caption


def test_attainable_cells_of_the_paper():
    cells = [cell for cell in telling_cells() if cell["is"] != MAJORITY]
    assert {cell["dataset"] for cell in cells} == {"mfeat-factors", "cnae-9", "segment"}
    for cell in cells:
        assert cell["is"] == (ONE if cell["method"] in LEARNERS else NEITHER)


def test_metric_problem_document():
    table = table_of("metric_problem")
    assert len(table.rows) == 10 + 21
    cells = table.cells["majority/kc1/iunet"]
    assert cells["paper"].values["value"].mean == 84.597
    assert cells["finding"].values["value"].text == "majority rate 357/422"
    assert table.cells["equal/segment/iunet"]["finding"].values["value"].text == "not attainable"
    finding = table.cells["equal/segment/xgb"]["finding"].values["value"].text
    assert finding == "attainable as k/462"


# ---- efficiency


MEASURED = {
    "dataset": "vehicle",
    "network": "mlp_tab",
    "method": "iunet",
    "bytes_dense": 220_000,
    "bytes_pruned": 40_000,
    "latency_1_dense_ms": 0.5,
    "latency_1_pruned_ms": 0.6,
    "form": "smaller",
}


def test_efficiency(tmp_path):
    write_json(tmp_path / "latency.json", MEASURED)
    results = results_of(
        run("vehicle", "mlp_tab", "iunet", 0, 60.0, balanced=70.0),
        run("vehicle", "mlp_tab", "iunet", 1, 60.0, balanced=72.0, kept_parameters=301),
        run("vehicle", "xgb", "xgb", 0, 60.0, kept_parameters=None),
        run("vehicle", "mlp_tab", "omp", 0, missing="not finished"),
    )
    results = replace(results, artifacts=[str(tmp_path / "latency.json")])
    table = table_entry("efficiency").build(results)
    cells = table.cells["vehicle/mlp_tab/iunet"]
    assert cells["score"].values["value"].mean == 71.0
    assert cells["kept_parameters"].values["value"].mean == 300.5
    assert cells["parameters"].values["value"].text == "1,000"
    assert cells["ensemble_kept_parameters"].values["value"].text == "900"  # of three members
    assert cells["kept_encoder_weights"].values["value"].mean > 0
    assert cells["bytes_pruned"].values["value"].text == "40,000"
    assert cells["latency_1_pruned_ms"].values["value"].mean == 0.6
    assert cells["form"].values["value"].text == "smaller"
    assert cells["latency_128_dense_ms"].missing == "not measured"
    assert table.cells["vehicle/xgb/xgb"]["kept_parameters"].missing == "has no such count"
    gone = table.cells["vehicle/mlp_tab/omp"]
    assert {cell.missing for cell in gone.values()} == {"not finished"}


# ---- cost


def test_cost():
    place = {"supernet": "kappa0.25-ilo", "cut": "ratio8"}
    tuned = {"stage": "tuned", "supernet": "xgb", "study": "tuning", "study_seconds": 90.0}
    tuned |= {"trials_complete": 7, "trials_failed": 1, "refit_seconds": 2.0}
    table = table_of(
        "cost",
        run("vehicle", "mlp_tab", "iunet", 0, supernet_seconds=10.0, finetune_seconds=4.0, **place),
        run("vehicle", "mlp_tab", "iunet", 1, supernet_seconds=12.0, finetune_seconds=4.0, **place),
        run("vehicle", "mlp_tab", "iunet", 2, missing="not finished", **place),
        run("vehicle", "xgb", "xgb", 0, **tuned),
        run("vehicle", "xgb", "xgb", 1, **tuned),
        run("vehicle", "tabnet", "tabnet", 0, stage="tuned", missing="not in the mirror"),
    )
    iunet, xgb = table.cells["mlp_tab/iunet"], table.cells["xgb/xgb"]
    assert iunet["seconds_per_run"].values["value"].mean == 15.0
    assert iunet["total"].values["value"].mean == 30.0
    assert iunet["total"].notes == ["1 of 3 parts are missing: not finished"]
    assert iunet["trials_per_dataset"].values["value"].text == "0"
    assert xgb["trials_per_dataset"].values["value"].mean == 8
    assert xgb["tuning_per_dataset"].values["value"].mean == 90.0
    assert xgb["total"].values["value"].mean == 94.0
    assert table.cells["tabnet/tabnet"]["total"].missing == "not in the mirror"


# ---- masks


def pruned(method="omp", seed=0, network="mlp_tab", **facts):
    place = {"supernet": "kappa1-sup", "cut": "ratio8", "ratio": 8.0, "mask_overlap": 1.0}
    return run("vehicle", network, method, seed, 60.0, **(place | facts))


def test_laziness_has_the_densities_of_layers():
    masks = [pruned(seed=0, disconnected=True, **layers_of(8, 0.5, 0.0, 1.0))]
    masks += [pruned(seed=1, **layers_of(8, 0.25, 0.125, 1.0))]
    masks += [pruned(seed=2, missing="not finished"), pruned("iunet", missing="not finished")]
    table = table_of("laziness", *masks)
    key = "vehicle/mlp_tab/omp/ratio8"
    value = {column.key: table.cell(key, column.key).values[VALUE] for column in table.columns}
    assert (value["first"].mean, value["second"].mean, value["last"].mean) == (0.375, 0.0625, 1.0)
    assert value["overlap"].mean == 1 and value["overlap"].n == 2
    assert value["smallest"].text == "0.062 (2)" and value["disconnected"].text == "1 of 2"
    assert value["dead_units"].mean == pytest.approx(100 * (12 / 24 + 13 / 24) / 2)
    assert table.cell(key, "overlap").notes == ["not finished (1 of 3 seeds)"]
    assert table.cell("vehicle/mlp_tab/iunet/ratio8", "overlap").missing == "not finished"


def first_layer(**facts):
    found = {"measure": "raw features", "value": 2.0, "shuffled": 4.0, "ratio": 0.5}
    found |= {"units": 16, "left_out": 4} | facts
    return {f"first_layer_{key}": value for key, value in found.items()}


def test_locality_of_first_layers():
    table = table_of(
        "locality",
        pruned(seed=0, **first_layer()),
        pruned(seed=1, disconnected=True, **first_layer(value=4.0, ratio=1.0)),
        pruned("iunet", network="cnn"),
        pruned("iunet", failed="all died"),
    )
    cells = table.cells["vehicle/mlp_tab/omp/ratio8"]
    assert cells["measure"].values[VALUE].text == "raw features"
    assert (cells["value"].values[VALUE].mean, cells["ratio"].values[VALUE].mean) == (3.0, 0.75)
    assert cells["left_out"].values[VALUE].mean == 25.0
    assert cells["value"].notes == ["disconnected (1 of 2 seeds)"]
    assert table.cell("vehicle/cnn/iunet/ratio8", "ratio").missing == CONVOLUTION
    assert table.cell("vehicle/mlp_tab/iunet/ratio8", "ratio").missing == "all died"


# ---- expected densities


def test_data_sets_of_one_shape_share_a_row():
    size = {"n_train": 1, "n_valid": 1, "n_test": 1, "n_inputs": 3072, "n_classes": 10, "side": 32}
    case = {"network": "mlp_vis", "options": {"alpha": 8}, "ratios": [8], "size": size}
    cases = [case | {"dataset": name} for name in ("cifar10", "svhn")]
    cases.append(case | {"dataset": "cifar10", "network": "resnet18", "ratios": [2]})
    cases[-1]["options"] = {"width": 1.0}
    sets = [{"dataset": "cifar10", **size}, {"dataset": "svhn", "missing": "not finished"}]
    results = replace(results_of(datasets=sets), settings={"cases": cases, "init": "torch_default"})
    table = expected_densities.build(results)
    key = "mlp_vis/3072/32/ratio8"
    assert [row.labels for row in table.rows] == [
        ["MLP_VIS", "CIFAR10, SVHN", "8"],
        ["RESNET", "CIFAR10", "2"],
    ]
    assert table.cell(key, "second").values[VALUE].mean == 0
    assert table.cell(key, "smallest_torch_default").values[VALUE].text == "0.0000 (2)"
    assert table.cell(key, "smallest_he_normal").values[VALUE].mean > 0.02
    assert table.cell("resnet18/3072/32/ratio2", "smallest_glorot").values[VALUE].text == "its own"
