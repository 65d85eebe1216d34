"""Tables beyond the paper: ranking, the metric problem, efficiency and cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from run_reports import frame_of, run, write
from scipy.stats import friedmanchisquare, wilcoxon

from iunet.errors import UserError
from iunet.tables.cost import cost, read_costs
from iunet.tables.efficiency import efficiency
from iunet.tables.experiment import experiment
from iunet.tables.metric_problem import (
    attainable_cells,
    majority_cells,
    metric_problem,
    metric_problem_document,
    split_facts,
)
from iunet.tables.ranking import critical_difference, paper_ranking, ranking_document, smallest_p
from iunet.tables.table2 import paper_scores, table2_of
from iunet.tables.table7 import METHODS, table7

# ---- experiments


def test_an_experiment_has_its_methods_beside_each_other():
    frame = frame_of(
        run("photo", "mlp_vis", "mine", 0, 60.0, balanced=50.0),
        run("wine", "mlp_tab", "mine", 0, 80.0, balanced=70.0),
        run("wine", "mlp_tab", "iunet", 0, 90.0, balanced=85.0),
        run("wine", "mlp_tab", "iunet", 1, 90.0, balanced=87.0),
        run("wine", "mlp_tab", "omp", 0, missing="not finished"),
    )
    table = experiment("my_ablation", frame)
    assert (table.id, table.title) == ("my_ablation", "Experiment my_ablation")
    shown = {
        (row, column): cell.values["primary"].mean if cell.values else cell.missing
        for row, cells in table.cells.items()
        for column, cell in cells.items()
        if row == "mlp_tab/wine"
    }
    assert shown[("mlp_tab/wine", "iunet")] == 86.0
    assert shown[("mlp_tab/wine", "mine")] == 70.0
    assert shown[("mlp_tab/wine", "omp")] == "not finished"
    assert table.cells["mlp_vis/photo"]["mine"].values["primary"].mean == 60.0


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
    expected = table2_of(scores).loc["average_rank"]
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
    table, _ = ranking_document(table7(frame_of(run("vehicle", "mlp_tab", "iunet", 0, 60.0))))
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


def test_ranking_document():
    rows = [
        run(dataset, "mlp_tab", method, 0, score)
        for (dataset, method), score in paper_scores().stack().items()
    ]
    table, ranking = ranking_document(table7(frame_of(*rows)))
    assert [row.key for row in table.rows] == list(ranking.ranks)
    assert table.cell("mlp_c", "rank").values["value"].mean == pytest.approx(2.5875)
    p = table.cell("mlp_c", "tabnet").values["value"].mean
    assert p == ranking.p_values["tabnet"]["mlp_c"]
    assert "over 40 data sets" in table.caption and "Friedman" in table.notes[0]
    rows = rows[:7]  # one data set
    table, _ = ranking_document(table7(frame_of(*rows)))
    assert table.notes[0].startswith("No test: not enough data: 1 data sets and 7 methods")
    assert table.cell("mlp_c", "dense").missing == "not enough data"
    table, _ = ranking_document(table7(frame_of(run("a", "mlp_tab", "omp", 0, missing="gone"))))
    assert table.rows == []


# ---- the metric problem


def test_majority_cells_of_the_paper():
    """All that docs/method.md, section 9, names, found from the numbers."""
    found = {(c.dataset, c.value, c.rows, c.n) for c in majority_cells(split_facts())}
    assert found == {
        ("credit-g", 70.0, 140, 200),
        ("kc1", 84.597, 357, 422),
        ("bank-marketing", 88.3, 7985, 9043),
        ("apsfailure", 98.191, 14925, 15200),
        ("click-prediction", 83.206, 66479, 79897),
    }
    evidence = metric_problem()
    assert evidence["counts"]["mlp_tab"]["majority"] == 10
    assert evidence["counts"]["tuned"]["majority"] == 0
    assert {c["constant_balanced_accuracy"] for c in evidence["majority"]} == {50.0}
    assert "10 of 160 cells" in evidence["summary"]


def test_attainable_cells_of_the_paper():
    cells = attainable_cells(split_facts())
    assert {c.dataset for c in cells} == {"mfeat-factors", "cnae-9", "segment"}
    for cell in cells:
        tuned = cell.method in ("xgb", "tabnet", "mlp_c")
        assert (cell.as_one, cell.as_mean) == (tuned, tuned)


def test_our_own_splits_count_first():
    classes = [{"test": 140}, {"test": 60}]
    split = {"dataset": "credit-g", "classes": classes, "provenance": {}}
    facts = split_facts({"credit-g": split})
    assert facts["credit-g"].source == "split" and facts["credit-g"].majority == {200: [140]}
    other = split | {"classes": [{"test": 139}, {"test": 61}]}
    names = {c.dataset for c in majority_cells(split_facts({"credit-g": other}))}
    assert "credit-g" not in names and "kc1" in names
    part = split | {"provenance": {"subset": {"n_rows": 200}}}
    assert split_facts({"credit-g": part})["credit-g"].source == "table 9"


def test_metric_problem_document():
    table = metric_problem_document()
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


def test_efficiency():
    frame = frame_of(
        run("vehicle", "mlp_tab", "iunet", 0, 60.0, balanced=70.0),
        run("vehicle", "mlp_tab", "iunet", 1, 60.0, balanced=72.0, kept_parameters=301),
        run("vehicle", "xgb", "xgb", 0, 60.0, kept_parameters=None),
        run("vehicle", "mlp_tab", "omp", 0, missing="not finished"),
    )
    table = efficiency(frame, [MEASURED])
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
    with pytest.raises(UserError, match="two measurements of vehicle, mlp_tab, iunet"):
        efficiency(frame, [MEASURED, MEASURED])


# ---- cost


@pytest.fixture
def costs(tmp_path):
    def report(name, seconds, **more):
        return write(tmp_path, name, {"times": {"total_s": seconds, "training_s": 1.0}} | more)

    def ask(method, seed, reports, network="mlp_tab", dataset="vehicle", missing=None):
        key = {"dataset": dataset, "network": network, "method": method, "seed": seed}
        return key | {"reports": reports, "missing": missing}

    report.ask = ask
    return report


def test_cost(costs):
    requests = [
        costs.ask("iunet", 0, [costs("a.json", 10.0), costs("b.json", 4.0)]),
        costs.ask("iunet", 1, [costs("c.json", 12.0), costs("d.json", 4.0)]),
        costs.ask("iunet", 2, [], missing="not finished"),
        costs.ask("xgb", None, [costs("e.json", 90.0, counts={"complete": 7, "failed": 1})], "xgb"),
        costs.ask("xgb", 0, [costs("f.json", 2.0)], "xgb"),
        costs.ask("tabnet", None, [], "tabnet", missing="not asked for"),
    ]
    table = cost(read_costs(requests))
    iunet, xgb = table.cells["mlp_tab/iunet"], table.cells["xgb/xgb"]
    assert iunet["seconds_per_run"].values["value"].mean == 15.0
    assert iunet["total"].values["value"].mean == 30.0
    assert iunet["total"].notes == ["1 of 3 parts are missing: not finished"]
    assert iunet["trials_per_dataset"].values["value"].text == "0"
    assert xgb["trials_per_dataset"].values["value"].mean == 8
    assert xgb["tuning_per_dataset"].values["value"].mean == 90.0
    assert xgb["total"].values["value"].mean == 92.0
    assert table.cells["tabnet/tabnet"]["total"].missing == "not asked for"


@pytest.mark.parametrize("times", [{}, {"total_s": None}, {"total_s": -1.0}])
def test_a_report_without_a_time(costs, tmp_path, times):
    path = write(tmp_path, "bad.json", {"times": times})
    with pytest.raises(UserError, match=r"bad.json has no time"):
        read_costs([costs.ask("iunet", 0, [path])])
