"""Table 6: pruned MLPs compared with the CNN that MLP_VIS contains."""

from __future__ import annotations

from iunet.results.collect import Results
from iunet.results.selection import of_results
from iunet.runs.names import base_network
from iunet.tables.document import TableDocument
from iunet.tables.scores import paper_cells, score_table

TITLE = "Table 6: pruned MLP against CNN"
KIND = "vision"
COLUMNS = {  # the paper's columns by network and method
    ("mlp_vis", "dense"): "mlp_vis",
    ("mlp_vis", "iunet"): "iunet_mlp_vis",
    ("cnn", "dense"): "cnn",
    ("resnet18", "iunet"): "iunet_resnet18",
}
LABELS = {
    "mlp_vis": "MLP_VIS",
    "iunet_mlp_vis": "IUNET (MLP_VIS)",
    "cnn": "CNN",
    "iunet_resnet18": "IUNET (RESNET)",
}
PAIRS = tuple(COLUMNS)


def build(results: Results) -> TableDocument:
    runs = of_results(results.runs)
    pairs = zip(runs["network"].map(base_network), runs["method"], strict=True)
    return score_table(
        runs.assign(model=[COLUMNS[pair] for pair in pairs]),
        "Test accuracy (%) of IUNET's pruned networks, and of the CNN that MLP_VIS contains, which "
        "also shares its weights.",
        ["accuracy", "balanced_accuracy"],
        LABELS,
        rows=("dataset",),
        column="model",
        paper=paper_cells(6, "dataset", "model"),
        column_metric=lambda model: "accuracy",
    )
