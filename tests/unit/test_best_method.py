"""The table of the methods on the user's own data."""

from __future__ import annotations

from dataclasses import replace

import pytest
from run_frames import results_of, run

from iunet.artifacts import write_json
from iunet.tables.best_method import build, effective_rows, wilson


def test_methods_are_ranked_with_what_they_cost(tmp_path):
    reports = {
        "split": {"kind": "tabular", "classes": [{"test": 40}, {"test": 10}, {"test": 0}]},
        "refit": {"method": "xgb", "sizes": {"bytes": 2500}},
        "latency": {"method": "iunet", "network": "mlp_tab", "latency_1_dense_ms": 0.5},
    }
    reports["latency"]["latency_1_pruned_ms"] = 0.25
    for name, report in reports.items():
        write_json(tmp_path / f"{name}.json", report)
    found = results_of(
        run("mine", "mlp_tab", "dense", score=80.0, finetune_seconds=30),
        run("mine", "mlp_tab", "iunet", score=90.0, cut="ratio8", chosen=True,
            supernet="kappa0.25-ilo", supernet_seconds=60, finetune_seconds=40),
        run("mine", "xgb", "xgb", score=95.0, stage="tuned", study="tuning", refit_seconds=5,
            study_seconds=600, trials_complete=20, trials_failed=0),
        run("mine", "mlp_tab", "omp", missing="not finished"),
    )  # fmt: skip
    table = build(replace(found, artifacts=[str(tmp_path / f"{name}.json") for name in reports]))
    assert [row.labels for row in table.rows] == [["XGB"], ["IUNET"], ["MLP_TAB"], ["OMP"]]

    def texts(key: str) -> list[str]:
        cells = table.cells[key]
        return [cells[c].values["value"].text for c in ("training", "tuning", "size", "speed")]

    assert texts("xgb/xgb") == ["5 s", "10 min, 20 trials", "2.5 kB", "not measured"]
    assert texts("mlp_tab/iunet") == ["2 min", "none", "3.6 kB", "0.25 ms"]
    assert texts("mlp_tab/dense")[3] == "0.50 ms"
    assert table.cells["mlp_tab/omp"]["score"].missing == "not finished"
    best, *_ = table.data["methods"]
    assert (best["label"], best["score"], best["folder"]) == ("XGB", 95.0, str(tmp_path))
    assert table.data["test_rows"] == 50
    # 50 rows, most of one class, know a balanced accuracy as well as 32 rows of equal classes.
    assert effective_rows([40, 10]) == pytest.approx(32)
    assert (best["low"], best["high"]) == pytest.approx([100 * end for end in wilson(0.95, 32)])


@pytest.mark.parametrize(("right", "rows"), [(0, 5), (30, 32), (50, 50), (700, 1000)])
def test_wilsons_interval_is_scipys(right, rows):
    from scipy.stats import binomtest

    expected = binomtest(right, rows).proportion_ci(method="wilson")
    assert wilson(right / rows, rows) == pytest.approx((expected.low, expected.high))
