"""Tables of scores: mean ± std over seeds by row and column, compared with the paper's.

Of the paper tables 1, 4 and 6, and the controls; others use `score_table`, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from iunet.labels import METRIC_LABELS, SCORES, method_label, method_order
from iunet.results.collect import Results, is_tabular
from iunet.results.selection import of_results
from iunet.runs.names import SURVIVORS, base_network
from iunet.tables.cells import cell_of, grouped_table
from iunet.tables.document import Cell, Column, TableDocument, compare_with_paper
from iunet.tables.paper_values import MODELS, PLACE, Published, paper_cells, paper_table4

if TYPE_CHECKING:
    import pandas as pd

MEAN_NOTE = (
    "Mean ± sample standard deviation (n − 1) over seeds; without ± there is one seed. Agreement "
    "with the paper: |ours − paper| ≤ t·√(s²/n + s_paper²/3), t being the 97.5 % quantile of "
    "Student's t at Welch's degrees of freedom and the paper's ± taken for a sample standard "
    "deviation of 3 seeds; n/a where one of the two is missing. If all cells were equal to the "
    "paper's, 95 % of the judged ones would agree."
)
SPREAD_NOTE = MEAN_NOTE + " The best of each row, as rounded here, is bold."
SWAPPED_NOTE = (
    "The paper's MLP_TAB-family columns look computed with the arguments of balanced accuracy "
    "swapped, so they are compared with our swapped balanced accuracy; XGB, TABN and MLP_TAB+C "
    "with balanced accuracy. The paper gives no ± for these three: they look taken from Kadra et "
    "al. (2021)."
)
PRIMARY = ["primary", *SCORES]


def score_table(
    runs: pd.DataFrame,
    caption: str,
    metrics: list[str],
    labels: dict[str, str],
    rows: tuple[str, ...] = ("network", "dataset"),
    column: str = "method",
    paper: Published | None = None,
    column_metric: Callable[[str], str | None] = lambda name: None,
    notes: Iterable[str] = (),
    **form: Any,
) -> TableDocument:
    """Mean test scores of `runs` (one row per seed).

    The columns of `labels` come first, then what else the runs have. `column_metric` says with
    which of our metrics a column of the paper is compared, where it does not depend on the row.
    `form` is as in `plain_table`.
    """
    labels = {name: method_label(name) for name in [*labels, *runs[column]]} | labels

    def cells(key: tuple, part: pd.DataFrame) -> dict[str, Cell]:
        found = {}
        for name in labels:
            own = part[part[column] == name]
            found[name] = cell_of(own, {metric: f"test_{metric}" for metric in metrics})
            found[name].notes += density_note(own)
            compare_with_paper(found[name], (paper or {}).get((*key, name)))
        return found

    return grouped_table(
        runs,
        rows,
        [Column(name, label, column_metric(name)) for name, label in labels.items()],
        cells,
        caption,
        [SPREAD_NOTE, *notes],
        metrics=metrics,
        metric_labels=metric_labels(metrics),
        best_along="row",
        **form,
    )


def method_labels(*methods: str) -> dict[str, str]:
    """The labels of methods, in the order that they have everywhere."""
    return {method: method_label(method) for method in method_order(methods)}


def density_note(rows: pd.DataFrame) -> list[str]:
    """The share of weights that β-LASSO keeps, which no config sets."""
    survived = rows[rows["cut"].map(lambda cut: str(cut).startswith(SURVIVORS)).astype(bool)]
    shares = (survived["kept_encoder_weights"] / survived["encoder_weights"]).dropna()
    percent = float(f"{100 * shares.mean():.2g}")  # of two digits, and 100 is not 1e+02
    return [] if shares.empty else [f"keeps {percent:g} % of the encoder's weights"]


def metric_labels(metrics: Iterable[str]) -> dict[str, str]:
    return {metric: METRIC_LABELS[metric] for metric in metrics if metric in METRIC_LABELS}


# ---- the tables

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
    labels = method_labels(*runs["method"])
    return score_table(runs, CONTROLS_CAPTION, PRIMARY, labels, notes=[CONTROLS_NOTE])
