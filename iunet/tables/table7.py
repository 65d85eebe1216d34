"""Table 7: seven methods on every tabular data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.baselines.catalog import LEARNERS
from iunet.labels import SCORES, method_label, method_order
from iunet.paper import paper_table
from iunet.results.collect import Results
from iunet.results.selection import of_results
from iunet.tables.document import PaperValue, TableDocument
from iunet.tables.scores import SWAPPED_NOTE, Published, paper_metric, score_table

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Table 7: tabular data sets"
KIND = "tabular"
METHODS = method_order(["dense", "omp", "beta_lasso", "iunet", *LEARNERS])


def build(results: Results) -> TableDocument:
    return table7(of_results(results.runs))


def table7(runs: pd.DataFrame) -> TableDocument:
    """From one row per seed, which table 2, the ranking and all metrics are made from, too."""
    return score_table(
        runs,
        "Test scores (%) on the tabular data sets. OMP, β-LASSO and IUNET prune MLP_TAB; XGB, TABN "
        "and MLP_TAB+C are tuned on each data set.",
        SCORES,
        {method: tabular_label(method) for method in METHODS},
        rows=("dataset",),
        paper=paper_table7(),
        column_metric=lambda method: paper_metric(method, "mlp_tab"),
        notes=[SWAPPED_NOTE],
        default_metric="balanced_accuracy",
    )


def tabular_label(method: str) -> str:
    return "MLP_TAB" if method == "dense" else method_label(method)


def paper_table7() -> Published:
    """By data set and method; only IUNET has a std."""
    values = {}
    for row in paper_table(7):
        for method in METHODS:
            std = float(row["iunet_std"]) if method == "iunet" else None
            column = "mlp_tab" if method == "dense" else method
            metric = paper_metric(method, "mlp_tab")
            values[row["dataset"], method] = PaperValue(float(row[column]), std, metric)
    return values
