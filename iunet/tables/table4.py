"""Table 4: IUNET without one of its parts."""

from __future__ import annotations

from iunet.results.collect import Results, is_tabular
from iunet.results.selection import of_results
from iunet.tables.document import TableDocument
from iunet.tables.scores import (
    PRIMARY,
    SWAPPED_NOTE,
    Published,
    method_labels,
    paper_cells,
    score_table,
)

TITLE = "Table 4: ablations"
METHODS = ("dense", "iunet_no_prune", "iunet_no_ilo", "iunet_no_pis", "iunet")
CAPTION = (
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


def build(results: Results) -> TableDocument:
    """All use the ratio that was chosen for IUNET."""
    runs = of_results(results.runs, choice_of="iunet")
    tabular = runs["network"].map(is_tabular).astype(bool)
    notes = [DENSE_NOTE] * (not tabular.all()) + [SWAPPED_NOTE] * bool(tabular.any())
    notes += [RECIPE_NOTE] * bool((tabular & runs["method"].eq("iunet_no_prune")).any())
    labels = method_labels(*METHODS)
    return score_table(runs, CAPTION, PRIMARY, labels, paper=paper_table4(), notes=notes)


def paper_table4() -> Published:
    """The paper's table 4, with the ± of table 1 where that has the same run.

    Table 4 gives none for the dense networks; those on images are table 1's.
    """
    published = paper_cells(4, "network", "dataset", "method")
    elsewhere = paper_cells(1, "network", "dataset", "method")
    for key, value in published.items():
        if value.std is None and key in elsewhere and elsewhere[key].mean == value.mean:
            published[key] = elsewhere[key]
    return published
