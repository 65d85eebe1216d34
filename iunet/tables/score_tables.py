"""Tables 1, 4 and 6, and the controls: mean scores of methods, beside the paper's."""

from __future__ import annotations

from iunet.results.collect import Results, is_tabular
from iunet.results.selection import of_results
from iunet.runs.names import base_network
from iunet.tables.document import TableDocument
from iunet.tables.paper_values import MODELS, PLACE, paper_cells, paper_table4
from iunet.tables.scores import (
    PRIMARY,
    SWAPPED_NOTE,
    method_labels,
    primary_table,
    score_table,
)

ABLATIONS = ("dense", "iunet_no_prune", "iunet_no_ilo", "iunet_no_pis", "iunet")
ABLATIONS_CAPTION = (
    "IUNET without pruning, without ILO and without PIS, at the compression ratio chosen for "
    "IUNET. Images: test accuracy (%), tables: balanced accuracy (%)."
)
DENSE_NOTE = (
    "The paper's table 4 gives no ± for the dense networks. Those on images are the same as in its "
    "table 1, so the ± of that table is used."
)
RECIPE_NOTE = (
    "On tables IUNET no prune is one network trained by SGD, while IUNET is a snapshot ensemble "
    "trained by AdamW: between the two lie pruning and the recipe. The method supernet_finetuned, "
    "the same supernet fine-tuned by that recipe without a mask, separates them."
)
MODEL_LABELS = {
    "mlp_vis": "MLP_VIS",
    "iunet_mlp_vis": "IUNET (MLP_VIS)",
    "cnn": "CNN",
    "iunet_resnet18": "IUNET (RESNET)",
}
CONTROLS_CAPTION = (
    "IUNET and controls that share all but one of its properties. Methods with IUNET's ratios use "
    "the one that was chosen for IUNET. Images: test accuracy (%), tables: balanced "
    "accuracy (%)."
)
CONTROLS_NOTE = (
    "Mask: shuffled keeps IUNET's number of weights in every layer, random only the number of all; "
    "other seed is the mask of the next seed's supernet, initial that of |θ†| alone. Fresh "
    "starts fine-tuning from new initial weights, trained from those of the supernet. lr × 16 is "
    "the step that κ = 0.25 amounts to under BatchNorm. Relative ranks weights by |θ| over the "
    "spread of their layer's initial weights, layer-wise keeps the same part of every layer. The "
    "small dense network has as many parameters as a subnetwork with the ratio `shrink`, whatever "
    "ratio is chosen."
)


def table1(results: Results) -> TableDocument:
    """The pruning methods on image data sets, for every network."""
    return score_table(
        of_results(results.runs),
        "Test accuracy (%) of pruning methods on image data sets; Dense is the network itself.",
        ["accuracy", "balanced_accuracy"],
        method_labels("dense", "omp", "beta_lasso", "iunet"),
        paper=paper_cells(1, *PLACE),
        column_metric=lambda method: "accuracy",
    )


def table4(results: Results) -> TableDocument:
    """IUNET without one of its parts, all at the ratio that was chosen for IUNET."""
    runs = of_results(results.runs, choice_of="iunet")
    tabular = runs["network"].map(is_tabular).astype(bool)
    notes = [DENSE_NOTE] * (not tabular.all()) + [SWAPPED_NOTE] * bool(tabular.any())
    notes += [RECIPE_NOTE] * bool((tabular & runs["method"].eq("iunet_no_prune")).any())
    labels = method_labels(*ABLATIONS)
    return score_table(runs, ABLATIONS_CAPTION, PRIMARY, labels, paper=paper_table4(), notes=notes)


def table6(results: Results) -> TableDocument:
    """Pruned MLPs compared with the CNN that MLP_VIS contains."""
    runs = of_results(results.runs)
    pairs = zip(runs["network"].map(base_network), runs["method"], strict=True)
    return score_table(
        runs.assign(model=[MODELS[pair] for pair in pairs]),
        "Test accuracy (%) of IUNET's pruned networks, and of the CNN that MLP_VIS contains, which "
        "also shares its weights.",
        ["accuracy", "balanced_accuracy"],
        MODEL_LABELS,
        rows=("dataset",),
        column="model",
        paper=paper_cells(6, "dataset", "model"),
        column_metric=lambda model: "accuracy",
    )


def controls(results: Results) -> TableDocument:
    """What of IUNET's parts makes the difference, with the scores of table 4.

    A control on a variant of the network (fewer units) is in the row of the network itself.
    """
    runs = of_results(results.runs, choice_of="iunet")
    runs = runs.assign(network=runs["network"].map(base_network))
    return primary_table(runs, CONTROLS_CAPTION, [CONTROLS_NOTE])
