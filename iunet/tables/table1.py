"""Table 1: the pruning methods on image data sets, for every network."""

from __future__ import annotations

from iunet.labels import method_order
from iunet.results.collect import Results
from iunet.results.selection import of_results
from iunet.tables.context import Context
from iunet.tables.document import TableDocument
from iunet.tables.scores import paper_cells, score_table

TITLE = "Table 1: pruning methods on image data sets"
KIND = "vision"
METHODS = method_order(["dense", "omp", "beta_lasso", "iunet"])


def build(results: Results, context: Context) -> TableDocument:
    return score_table(
        of_results(results.runs),
        context,
        "Test accuracy (%) of pruning methods on image data sets; Dense is the network itself.",
        ["accuracy", "balanced_accuracy"],
        columns=METHODS,
        paper=paper_cells(1, "network", "dataset", "method"),
        metric_of=lambda keys: "accuracy",
        column_metric=lambda method: "accuracy",
    )
