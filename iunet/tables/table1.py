"""Table 1: the pruning methods on image data sets, for every network."""

from __future__ import annotations

from iunet.results.collect import Results
from iunet.results.selection import of_results
from iunet.tables.document import TableDocument
from iunet.tables.scores import method_labels, paper_cells, score_table

TITLE = "Table 1: pruning methods on image data sets"
KIND = "vision"


def build(results: Results) -> TableDocument:
    return score_table(
        of_results(results.runs),
        "Test accuracy (%) of pruning methods on image data sets; Dense is the network itself.",
        ["accuracy", "balanced_accuracy"],
        method_labels("dense", "omp", "beta_lasso", "iunet"),
        paper=paper_cells(1, "network", "dataset", "method"),
        column_metric=lambda method: "accuracy",
    )
