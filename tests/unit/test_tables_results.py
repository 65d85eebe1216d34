"""Golden tests: every table of the paper from small hand-made frames."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from configs import benchmark, merged
from run_frames import run, table_of
from scipy.stats import ttest_ind_from_stats

from iunet.tables.consistency import consistency_table
from iunet.tables.document import PaperValue, Value, agreement
from iunet.tables.notes import note_subsets, stand_in_text
from iunet.tables.paper_values import METHODS, paper_scores
from iunet.tables.table2 import summary_of


def bests(table, row, metric):
    cells = table.cells[row].items()
    return [key for key, c in cells if metric in c.values and c.values[metric].best]


# ---- agreement


@pytest.mark.parametrize(
    ("ours", "paper", "expected"),
    [
        (Value(60.0, 0.3, 3), PaperValue(60.7, 0.3, "accuracy"), "no"),  # bound 2.776 · 0.2449
        (Value(60.0, 0.3, 3), PaperValue(60.67, 0.3, "accuracy"), "yes"),
        (Value(60.0, 0.3, 2), PaperValue(60.9, 0.3, "accuracy"), "yes"),  # bound 0.9846
        (Value(60.0, None, 1), PaperValue(60.0, 0.3, "accuracy"), "n/a"),
        (Value(60.0, 0.3, 3), PaperValue(60.0, None, "accuracy"), "n/a"),
        (Value(70.0, 0.0, 3), PaperValue(70.0, 0.0, "accuracy"), "yes"),
        (Value(100 * 357 / 422, 0.0, 3), PaperValue(84.597, 0.0, "accuracy"), "yes"),  # rounded
        (Value(84.598, 0.0, 3), PaperValue(84.597, 0.0, "accuracy"), "no"),
        (Value(70.0, 0.0, 3), PaperValue(71.0, 0.3, "accuracy"), "no"),  # bound 4.303 · 0.1732
        (Value(70.0, 0.0, 3), PaperValue(70.7, 0.3, "accuracy"), "yes"),
        (Value(70.0, 0.3, 3), PaperValue(70.7, 0.0, "accuracy"), "yes"),
        (Value(70.0, 0.3, 5), PaperValue(70.4, 0.0, "accuracy"), "no"),  # bound 2.776 · 0.1342
    ],
)
def test_agreement(ours, paper, expected):
    assert agreement(ours, paper) == expected


def test_agreement_is_welchs_t_test():
    draw = np.random.default_rng(0)
    verdicts = Counter()
    for _ in range(2000):
        n = int(draw.integers(2, 9))
        ours_std, paper_std = draw.exponential(size=2) * (draw.random(2) > 0.1)
        if ours_std == paper_std == 0:
            continue
        ours, paper = Value(draw.normal(0, 2), ours_std, n), PaperValue(0.0, paper_std, "accuracy")
        p = ttest_ind_from_stats(ours.mean, ours_std, n, 0.0, paper_std, 3, equal_var=False).pvalue
        assert agreement(ours, paper) == ("yes" if p >= 0.05 else "no")
        verdicts[agreement(ours, paper)] += 1
    assert min(verdicts.values()) > 200


# ---- tables 1 and 6


def vision_rows():
    rows = []
    for method, scores in {"dense": (59.2, 59.3), "omp": (60.0, 61.0)}.items():
        rows += [run("cifar10", "mlp_vis", method, i, s) for i, s in enumerate(scores)]
    failed = {"failed": "every weight died"}
    rows += [run("cifar10", "mlp_vis", "beta_lasso", i, **failed) for i in (0, 1)]
    rows += [run("cifar10", "mlp_vis", "iunet", 0, 64.0, disconnected=True)]
    rows += [run("cifar10", "mlp_vis", "iunet", 1, missing="not finished")]
    return rows


def test_table1():
    table = table_of("table1", *vision_rows())
    cells = table.cells["mlp_vis/cifar10"]
    assert [c.key for c in table.columns] == ["dense", "omp", "beta_lasso", "iunet"]
    omp = cells["omp"].values["accuracy"]
    assert (omp.mean, omp.std, omp.n) == (60.5, pytest.approx(0.5**0.5), 2)  # over n − 1
    assert cells["omp"].paper == PaperValue(59.668, 0.171, "accuracy")
    assert cells["omp"].difference == pytest.approx(0.832)
    assert cells["omp"].agrees == "yes" and cells["dense"].agrees == "yes"
    assert cells["beta_lasso"].missing == "every weight died"
    assert cells["beta_lasso"].paper.mean == 59.349 and cells["beta_lasso"].difference is None
    iunet = cells["iunet"]
    assert (iunet.values["accuracy"].std, iunet.values["accuracy"].n) == (None, 1)
    assert iunet.agrees == "n/a" and iunet.missing is None
    assert iunet.notes == ["not finished (1 of 2 seeds)", "disconnected (1 of 2 seeds)"]
    assert bests(table, "mlp_vis/cifar10", "accuracy") == ["iunet"]


def test_a_method_that_was_not_asked_for_is_shown_as_missing():
    table = table_of("table1", run("cifar10", "mlp_vis", "dense", 0, 50.0))
    assert table.cell("mlp_vis/cifar10", "omp").missing == "not in this run"
    assert bests(table, "mlp_vis/cifar10", "accuracy") == []  # nothing to be better than


def test_a_method_of_the_users_own_has_a_column():
    table = table_of("table1", run("cifar10", "mlp_vis", "mine", 0, 50.0))
    assert [c.key for c in table.columns][-1] == "mine"
    assert table.cell("mlp_vis/cifar10", "mine").paper is None


def test_every_method_failed():
    rows = [run("svhn", "mlp_vis", m, 0, failed="diverged") for m in ("dense", "omp", "iunet")]
    table = table_of("table1", *vision_rows(), *rows)
    assert {c.missing for c in table.cells["mlp_vis/svhn"].values()} == {
        "diverged",
        "not in this run",
    }
    assert bests(table, "mlp_vis/svhn", "accuracy") == []


def test_a_stand_in_is_not_compared_and_a_subset_says_so():
    table = table_of("table1", run("photo_digits", "mlp_vis", "dense", 0, 50.0))
    note_subsets(table, {"photo_digits": "9 of 90 rows"})
    assert table.cell("mlp_vis/photo_digits", "dense").paper is None
    assert table.rows[0].notes == ["subset: 9 of 90 rows"]
    bench = benchmark(merged(stand_ins={"cifar10": "photo_digits"}))
    cells = [SimpleNamespace(dataset="photo_digits")]
    assert "photo_digits for CIFAR10" in stand_in_text(bench, cells)
    assert stand_in_text(bench, []) == ""


def test_table6():
    table = table_of(
        "table6",
        run("svhn", "mlp_vis", "dense", 0, 84.0),
        run("svhn", "mlp_vis", "iunet", 0, 89.0),
        run("svhn", "cnn", "dense", 0, 91.0004),
        run("svhn", "resnet18", "iunet", 0, 91.0),
    )
    assert [c.key for c in table.columns] == ["mlp_vis", "iunet_mlp_vis", "cnn", "iunet_resnet18"]
    means = [cell.values["accuracy"].mean for cell in table.cells["svhn"].values()]
    assert means == [84.0, 89.0, 91.0004, 91.0]
    assert [c.paper.mean for c in table.cells["svhn"].values()] == [84.463, 89.357, 91.892, 94.02]
    assert bests(table, "svhn", "accuracy") == ["cnn", "iunet_resnet18"]  # equal as shown


# ---- table 4


def test_table4_compares_each_kind_with_its_metric():
    table = table_of(
        "table4",
        run("cifar10", "mlp_vis", "iunet", 0, 64.0, balanced=10.0),
        run("vehicle", "mlp_tab", "iunet", 0, 60.0, balanced=70.0, swapped=81.805),
        run("vehicle", "mlp_tab", "iunet_no_pis", 0, 60.0, balanced=75.0, swapped=80.0),
    )
    image, tabular = table.cells["mlp_vis/cifar10"], table.cells["mlp_tab/vehicle"]
    assert image["iunet"].values["primary"].mean == 64.0
    assert tabular["iunet"].values["primary"].mean == 70.0
    assert image["iunet"].paper == PaperValue(64.847, 0.121, "accuracy")
    assert tabular["iunet"].paper == PaperValue(81.805, 2.065, "swapped_balanced_accuracy")
    assert tabular["iunet"].difference == pytest.approx(0)
    assert image["dense"].paper == PaperValue(59.266, 0.05, "accuracy")  # ± of table 1
    assert tabular["dense"].paper.std is None
    assert bests(table, "mlp_tab/vehicle", "primary") == ["iunet_no_pis"]
    assert bests(table, "mlp_tab/vehicle", "swapped_balanced_accuracy") == ["iunet"]


# ---- tables 3 and 5


def consistency_frame():
    def row(dataset, network, method, seed, transform, same, labels):
        key = {"dataset": dataset, "network": network, "method": method, "seed": seed}
        return key | {"transform": transform, "same": same, "distinct_labels": labels}

    rows = [
        row("cifar10", "mlp_vis", "supernet", 0, "resize", 44.0, 10),
        row("cifar10", "mlp_vis", "supernet", 1, "resize", 45.0, 9),
        row("cifar10", "mlp_vis", "iunet", 0, "resize", 100.0, 1),
        row("cifar10", "mlp_vis", "iunet", 1, "resize", 96.0, 1),
    ]
    gone = {"dataset": "mfeat-factors", "network": "mlp_tab", "seed": 0, "missing": "not finished"}
    rows += [gone | {"method": method} for method in ("supernet", "iunet")]
    return pd.DataFrame(rows).assign(failed=None, kappa=None)


@pytest.mark.parametrize("number", [3, 5])
def test_consistency_tables(number):
    table = consistency_table(number, consistency_frame())
    assert [row.key for row in table.rows] == [
        "mlp_vis/cifar10/resize",
        "mlp_tab/mfeat-factors/feat",
    ]
    cells = table.cells["mlp_vis/cifar10/resize"]
    assert cells["iunet"].values["value"].mean == 98.0
    assert cells["iunet"].paper == PaperValue(97.349, 4.59, "value")
    assert cells["iunet"].agrees == "yes"
    assert cells["supernet"].difference == pytest.approx(44.5 - 44.096)
    assert cells["supernet_distinct_labels"].values["value"].text == "9–10"
    assert cells["iunet_distinct_labels"].values["value"].text == "1"
    assert bests(table, "mlp_vis/cifar10/resize", "value") == ["iunet"]
    gone = table.cells["mlp_tab/mfeat-factors/feat"]
    assert gone["iunet"].missing == "not finished"
    assert (gone["supernet"].paper is not None) == (number == 3)  # not in the paper's 5


# ---- tables 7 and 2


def tabular_frame(datasets=("vehicle", "kc1"), methods=METHODS):
    rows = []
    for place, dataset in enumerate(datasets):
        for rank, method in enumerate(methods):
            score = 70.0 + place + rank
            network = method if method in ("xgb", "tabnet", "mlp_c") else "mlp_tab"
            facts = {"balanced": score - 5, "swapped": score - 10}
            rows += [run(dataset, network, method, seed, score, **facts) for seed in (0, 1)]
    return rows


def test_table7():
    table = table_of("table7", *tabular_frame())
    cells = table.cells["vehicle"]
    assert {m: cells[m].values["accuracy"].mean for m in ("dense", "mlp_c")} == {
        "dense": 70.0,
        "mlp_c": 76.0,
    }
    assert cells["iunet"].paper == PaperValue(81.805, 2.065, "swapped_balanced_accuracy")
    assert cells["iunet"].difference == pytest.approx(63.0 - 81.805)
    assert cells["dense"].paper == PaperValue(80.427, None, "swapped_balanced_accuracy")
    assert cells["xgb"].paper == PaperValue(74.973, None, "balanced_accuracy")
    assert cells["xgb"].difference == pytest.approx(69.0 - 74.973)
    assert cells["xgb"].agrees == "n/a" and cells["iunet"].agrees == "no"
    assert [c.paper_metric for c in table.columns] == ["swapped_balanced_accuracy"] * 4 + [
        "balanced_accuracy"
    ] * 3
    assert bests(table, "vehicle", "balanced_accuracy") == ["mlp_c"]


def test_the_papers_table7_as_a_document_gives_its_table2():
    """The whole way: frames with the paper's own scores agree with the paper's table 2."""
    rows = [
        run(dataset, "mlp_tab", method, 0, score)
        for (dataset, method), score in paper_scores().stack().items()
    ]
    table = table_of("table2", *rows)
    for row in table.rows:
        for cell in table.cells[row.key].values():
            assert abs(cell.difference) <= 0.00051 and cell.agrees == "n/a"
    assert "40 of 40 data sets" in table.caption
    assert table.cell("num_top1", "mlp_c").values["like_the_paper"].text == "16"
    assert bests(table, "average_rank", "balanced_accuracy") == ["mlp_c"]
    assert bests(table, "average_accuracy", "balanced_accuracy") == ["iunet"]


def test_table2_ties():
    scores = pd.DataFrame({"a": [90.0, 50.0], "b": [90.0001, 60.0], "c": [80.0, 60.0]})
    summary = summary_of(scores)
    assert list(summary.loc["num_top1"]) == [1, 2, 1]  # all tied winners, as shown
    assert list(summary.loc["average_rank"]) == [(1.5 + 3) / 2, 1.5, (3 + 1.5) / 2]
    assert summary.loc["average_accuracy", "b"] == pytest.approx(75.00005)


def test_table2_counts_complete_data_sets():
    rows = tabular_frame(("vehicle", "kc1", "own"), METHODS[:3])
    rows = [r for r in rows if not (r["dataset"] == "kc1" and r["method"] == "omp")]
    rows.append(run("kc1", "mlp_tab", "omp", 0, missing="not finished"))
    table = table_of("table2", *rows)
    assert "2 of 3 data sets" in table.caption
    assert any("1 do not: kc1" in note for note in table.notes)
    assert any("not ranked: IUNET, XGB" in note for note in table.notes)
    assert table.cell("average_rank", "xgb").missing == "not in this run"
    assert table.cell("average_rank", "dense").values["accuracy"].mean == 3.0
    assert table.cell("average_rank", "dense").paper is None  # one data set is not the paper's


def test_table2_compares_a_part_with_the_same_part_of_the_paper():
    table = table_of("table2", *tabular_frame(("vehicle",)))
    cell = table.cell("average_accuracy", "xgb")
    assert cell.paper.mean == 74.973 and cell.difference == pytest.approx(69.0 - 74.973)
    assert any("same 1 data sets and 7 methods" in note for note in table.notes)


def test_summary_of_nothing():
    rows = [run("vehicle", "mlp_tab", m, 0, missing="not finished") for m in METHODS]
    table = table_of("table2", *rows)
    assert "0 of 1 data sets" in table.caption
    assert table.cell("num_top1", "iunet").missing == "not finished"


def test_metrics_tabular():
    table = table_of("metrics_tabular", *tabular_frame(("vehicle",)))
    cells = table.cells["vehicle/iunet"]
    assert [cells[m].values["value"].mean for m in cells] == [73.0, 68.0, 63.0]
    assert cells["swapped_balanced_accuracy"].paper.mean == 81.805
    assert cells["balanced_accuracy"].paper is None
    assert table.cells["vehicle/xgb"]["balanced_accuracy"].paper.mean == 74.973


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
    table = table_of("table4", *(run(dataset, network, method, 0, 70.0) for method in methods))
    assert any("supernet_finetuned" in note for note in table.notes) is says


@pytest.mark.parametrize(("n_kept", "said"), [(123, "12"), (999, "100"), (4, "0.4")])
def test_beta_lasso_says_how_much_it_keeps(n_kept, said):
    kept = {"cut": "survivors", "chosen": True, "kept_encoder_weights": n_kept}
    kept |= {"encoder_weights": 1000, "supernet": "kappa1-lasso0.1"}
    lasso = run("cifar10", "mlp_vis", "beta_lasso", 0, 60.0, **kept)
    table = table_of("table1", lasso, run("cifar10", "mlp_vis", "omp", 0, 61.0))
    keeps = f"keeps {said} % of the encoder's weights"
    assert table.cell("mlp_vis/cifar10", "beta_lasso").notes == [keeps]
    assert table.cell("mlp_vis/cifar10", "omp").notes == []


def test_controls_stand_in_their_order_and_in_the_row_of_their_network():
    scores = {"omp_lr16": 61.0, "iunet": 64.0, "omp": 60.0}
    rows = [run("cifar10", "mlp_vis-alpha2", "dense_small", 0, 50.0)]
    rows += [run("cifar10", "mlp_vis", method, 0, score) for method, score in scores.items()]
    table = table_of("controls", *rows)
    assert [c.key for c in table.columns] == ["omp", "iunet", "omp_lr16", "dense_small"]
    assert [row.key for row in table.rows] == ["mlp_vis/cifar10"]
    assert table.cell("mlp_vis/cifar10", "dense_small").values["primary"].mean == 50
    assert table.cell("mlp_vis/cifar10", "iunet").values["primary"].best


def test_an_experiment_has_the_configs_order_and_differences_to_its_first_method():
    table = table_of(
        "my_ablation",
        run("photo", "mlp_vis", "mine", 0, 60.0, balanced=50.0),
        run("wine", "mlp_tab", "mine", 0, 80.0, balanced=70.0),
        run("wine", "mlp_tab", "mine", 1, 80.0, balanced=72.0),
        run("wine", "mlp_tab", "iunet", 0, 90.0, balanced=69.0),
        run("wine", "mlp_tab", "iunet", 1, 90.0, balanced=70.0),
        run("wine", "mlp_tab", "dense", 0, missing="not finished"),
    )
    keys = ["mine", "iunet", "iunet-mine", "dense", "dense-mine"]
    assert [column.key for column in table.columns] == keys
    assert table.columns[2].label == "IUNET − mine"
    cells = table.cells["mlp_tab/wine"]
    means = [cells[key].values["primary"].mean for key in keys[:3]]
    assert means == [71.0, 69.5, -1.5] and cells["iunet-mine"].values["accuracy"].mean == 10.0
    difference = cells["iunet-mine"].values["primary"]
    assert difference.std == pytest.approx(0.5**0.5)  # of the differences: -1 and -2
    assert difference.text == "−1.500" and not difference.best
    assert cells["mine"].values["primary"].best
    assert cells["dense"].missing == cells["dense-mine"].missing == "not finished"
    photo = table.cells["mlp_vis/photo"]
    assert photo["mine"].values["primary"].mean == 60.0
    assert photo["iunet-mine"].missing == "not in this run"


def test_an_experiments_learners_are_in_the_row_of_their_data_set():
    xgb = run("wine", "xgb", "xgb", 0, 80.0, stage="tuned")
    dense, other = (run("wine", network, "dense", 0, 78.0) for network in ("mlp_tab", "mlp_vis"))
    for runs, rows in (
        ([dense, xgb], ["mlp_tab/wine"]),
        ([xgb], ["tuned/wine"]),
        ([dense, other, xgb], ["mlp_tab/wine", "mlp_vis/wine", "tuned/wine"]),
    ):
        table = table_of("my_ablation", *runs)
        assert [row.key for row in table.rows] == rows
    table = table_of("my_ablation", dense, xgb)
    assert table.cell("mlp_tab/wine", "xgb-dense").values["primary"].mean == 2.0
