"""Appendix E.2's checks from small hand-made frames."""

from __future__ import annotations

import pytest
from run_reports import frame_of, run

from iunet.tables.search_fixed_ratio import search_fixed_ratio
from iunet.tables.search_lambda import search_lambda
from iunet.tables.search_tabular import search_tabular


def test_search_lambda():
    lambdas = {"iunet_lambda0.25": 0.25, "iunet_lambda0.5": 0.5, "iunet": 1.0}
    rows = []
    for method, (image, tabular) in zip(lambdas, [(60, 80), (61, 81), (65, 80)], strict=True):
        rows += [run("cifar10", "mlp_vis", method, s, image + s) for s in (0, 1)]
        rows.append(run("vehicle", "mlp_tab", method, 0, 10.0, balanced=tabular))
    table = search_lambda(frame_of(*rows), lambdas)
    assert [c.label for c in table.columns] == ["λ = 0.25", "λ = 0.5", "λ = 1"]
    assert table.cell("mlp_vis/cifar10", "lambda1").values["value"].mean == 64.5  # validation
    assert table.cell("mlp_tab/vehicle", "lambda0.5").values["value"].best
    assert table.cell("average", "lambda1").values["value"].mean == pytest.approx((64.5 + 79) / 2)
    assert table.notes[-1] == "Best on average: λ = 1. The paper chose λ = 1: the same."
    rows[-1] = run("vehicle", "mlp_tab", "iunet", 0, missing="not finished")
    table = search_lambda(frame_of(*rows), lambdas)
    assert table.cell("average", "lambda1").missing == "incomplete"
    assert "no winner can be named yet" in table.notes[-1]


def grid(scores):
    """Runs at (ratio, κ) with these validation scores on two data sets."""
    return [
        run(dataset, "mlp_tab", f"search_kappa{kappa:g}", 0, score + 1 + i, ratio=ratio)
        for (ratio, kappa), score in scores.items()
        for i, dataset in enumerate(("vehicle", "credit-g"))
    ]


def test_search_tabular():
    kappas = {"search_kappa0.25": 0.25, "search_kappa0.125": 0.125}
    scores = {(2, 0.25): 70, (2, 0.125): 75, (8, 0.25): 72, (8, 0.125): 71}
    table = search_tabular(frame_of(*grid(scores)), kappas)
    assert [row.labels for row in table.rows] == [
        ["2", "0.25"],
        ["2", "0.125"],
        ["8", "0.25"],
        ["8", "0.125"],
    ]
    assert table.cell("ratio2-kappa0.125", "average").values["value"].mean == 75.5
    assert table.cell("ratio2-kappa0.125", "vehicle").values["value"].best
    assert not table.cell("ratio8-kappa0.25", "vehicle").values["value"].best
    assert table.notes[-1] == (
        "Best on average: r = 2, κ = 0.125. The paper chose r = 8, κ = 0.25: another."
    )
    missing = grid(scores)
    missing[0] = run("vehicle", "mlp_tab", "search_kappa0.25", 0, missing="not finished", ratio=2.0)
    table = search_tabular(frame_of(*missing), kappas)
    assert table.cell("ratio2-kappa0.25", "vehicle").missing == "not finished"
    assert "no winner" in table.notes[-1]


def test_search_fixed_ratio():
    def rows(omp, iunet, **facts):
        scores = {"omp": omp, "iunet": iunet}
        return [
            run(d, "mlp_vis", m, 0, value + i, **facts)
            for m, value in scores.items()
            for i, d in enumerate(("cifar10", "svhn"))
        ]

    dense = [run(d, "mlp_vis", "dense", 0, 60 + i) for i, d in enumerate(("cifar10", "svhn"))]
    chosen = frame_of(*dense, *rows(61, 65))
    fixed = frame_of(*rows(60.5, 64, ratio=2.0), *rows(59, 63, ratio=16.0))
    table = search_fixed_ratio(fixed, chosen)
    first, two, sixteen = (table.cells[row.key] for row in table.rows)
    assert first["iunet"].values["value"].mean == 65.5
    assert [first[f"{m}_rank"].values["value"].mean for m in ("dense", "omp", "iunet")] == [3, 2, 1]
    assert two["same_order"].values["value"].text == "yes"
    assert two["same_datasets"].values["value"].text == "2 of 2"
    assert sixteen["same_order"].values["value"].text == "no"  # omp falls behind dense
    assert sixteen["dense"].values["value"].mean == 60.5
    assert table.notes[-1] == "The ranking is the same with 1 of 2 fixed settings."
    gone = frame_of(run("cifar10", "mlp_vis", "omp", 0, missing="not finished", ratio=2.0))
    table = search_fixed_ratio(gone, chosen)
    assert table.cell("mlp_vis/ratio2", "omp").missing.startswith("no data set with every method")
