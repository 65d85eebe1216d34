"""Appendix E.2's checks from small hand-made frames."""

from __future__ import annotations

import pytest
from run_frames import run, table_of

SETS = ("cifar10", "svhn")


def test_search_lambda():
    lambdas = {"iunet_lambda0.25": 0.25, "iunet_lambda0.5": 0.5, "iunet": 1.0}
    rows = []
    for method, (image, tabular) in zip(lambdas, [(60, 80), (61, 81), (65, 80)], strict=True):
        own = {"lambda": lambdas[method]}
        rows += [run("cifar10", "mlp_vis", method, s, image + s, **own) for s in (0, 1)]
        rows.append(run("vehicle", "mlp_tab", method, 0, 10.0, balanced=tabular, **own))
    table = table_of("search_lambda", *rows)
    assert [c.label for c in table.columns] == ["λ = 0.25", "λ = 0.5", "λ = 1"]
    assert table.cell("mlp_vis/cifar10", "lambda1").values["value"].mean == 64.5  # validation
    assert table.cell("mlp_tab/vehicle", "lambda0.5").values["value"].best
    assert table.cell("average", "lambda1").values["value"].mean == pytest.approx((64.5 + 79) / 2)
    assert table.notes[-1] == "Best on average: λ = 1. The paper chose λ = 1: the same."
    rows[-1] = run("vehicle", "mlp_tab", "iunet", 0, missing="not finished", **own)
    table = table_of("search_lambda", *rows)
    assert table.cell("average", "lambda1").missing == "incomplete"
    assert "no winner can be named yet" in table.notes[-1]


def grid(scores):
    """Runs at (ratio, κ) with these validation scores on two data sets."""
    return [
        run(dataset, "mlp_tab", f"search_kappa{kappa:g}", 0, score + 1 + i, **at(ratio, kappa))
        for (ratio, kappa), score in scores.items()
        for i, dataset in enumerate(("vehicle", "credit-g"))
    ]


def at(ratio, kappa):
    return {"ratio": ratio, "cut": f"ratio{ratio}", "supernet": f"kappa{kappa}-ilo"}


def test_search_tabular():
    scores = {(2, 0.25): 70, (2, 0.125): 75, (8, 0.25): 72, (8, 0.125): 71}
    table = table_of("search_tabular", *grid(scores))
    points = [["2", "0.25"], ["2", "0.125"], ["8", "0.25"], ["8", "0.125"]]
    assert [row.labels for row in table.rows] == points
    assert table.cell("ratio2-kappa0.125", "average").values["value"].mean == 75.5
    assert table.cell("ratio2-kappa0.125", "vehicle").values["value"].best
    assert not table.cell("ratio8-kappa0.25", "vehicle").values["value"].best
    assert table.notes[-1] == (
        "Best on average: r = 2, κ = 0.125. The paper chose r = 8, κ = 0.25: another."
    )
    missing = grid(scores)
    gone = {"missing": "not finished"} | at(2, 0.25)
    missing[0] = run("vehicle", "mlp_tab", "search_kappa0.25", 0, **gone)
    table = table_of("search_tabular", *missing)
    assert table.cell("ratio2-kappa0.25", "vehicle").missing == "not finished"
    assert "no winner" in table.notes[-1]


# ---- one ratio and one l1 for all


def runs(method, score, chosen=False, **facts):
    """On two data sets, the second a point higher."""
    return [
        run(dataset, "mlp_vis", method, 0, score and score + i, chosen=chosen, **facts)
        for i, dataset in enumerate(SETS)
    ]


def cut(method, ratio, score, chosen=False, **facts):
    place = {"supernet": "kappa1-sup", "cut": f"ratio{ratio}", "ratio": float(ratio)}
    return runs(method, score, chosen, **place, **facts)


def lasso(l1, score, chosen=False, **facts):
    return runs("beta_lasso", score, chosen, supernet=f"kappa1-lasso{l1}", cut="survivors", **facts)


DENSE = runs("dense", 60, chosen=None)


def text(table, row, column):
    return table.cell(row, column).values["value"].text


def test_every_ratio_with_every_l1():
    rows = DENSE + cut("omp", 2, 60.5) + cut("omp", 8, 61, chosen=True)
    rows += cut("iunet", 2, 64) + cut("iunet", 8, 66, chosen=True)
    rows += lasso("0.000001", 62, chosen=True) + lasso("0.00001", 59)
    table = table_of("search_fixed_ratio", *rows)
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
    assert text(table, "mlp_vis/ratio8-l1_1e-06", "same_datasets") == "2 of 2"
    assert table.notes[-1] == "The ranking is the same with 2 of 4 fixed settings."


def test_networks_that_are_cut_off_are_marked():
    """At large ratios a layer may lose all weights; the score is then that of a constant."""
    rows = DENSE + cut("omp", 2, 61, chosen=True) + cut("omp", 8, 10, disconnected=True)
    table = table_of("search_fixed_ratio", *rows)
    assert table.cell("mlp_vis/ratio8", "omp").notes == ["disconnected (2 of 2 runs)"]
    assert table.cell("mlp_vis/chosen", "omp").notes == []
    assert table.rows[1].labels[2] == "–"  # no method has an l1


def test_what_no_setting_has_says_why():
    rows = cut("omp", 2, 61, chosen=True) + lasso("0.01", 60, chosen=True)
    rows += lasso("0.1", None, failed="every weight died")
    table = table_of("search_fixed_ratio", *rows)
    missing = table.cell("mlp_vis/ratio2-l1_0.1", "same_order").missing
    assert missing == "no data set with every method (β-LASSO: every weight died)"
