"""Table 4: IUNET without one of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import SCORES, method_label, method_order
from iunet.runs.entries import Benchmark
from iunet.runs.requests import run_requests
from iunet.tables.ask import PAPER, Ask
from iunet.tables.cells import in_order, with_extras
from iunet.tables.document import Column, TableDocument
from iunet.tables.frame import read_runs
from iunet.tables.names import is_tabular, paper_metric
from iunet.tables.scores import (
    SWAPPED_NOTE,
    About,
    Line,
    network_rows,
    paper_cells,
    paper_value,
    score_table,
    with_primary,
)

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Table 4: ablations"
GROUP = PAPER
METHODS = method_order(["dense", "iunet_no_prune", "iunet_no_ilo", "iunet_no_pis", "iunet"])
DENSE_NOTE = (
    "The paper's table 4 gives no ± for the dense networks; those on images are its table 1's, "
    "whose ± stands here."
)
RECIPE_NOTE = (
    "On tables IUNET no prune is one network trained by SGD, while IUNET is a snapshot ensemble "
    "trained by AdamW: between the two lie pruning and the recipe. The method supernet_finetuned, "
    "the same supernet fine-tuned by that recipe without a mask, separates them."
)
SHOWN = ["primary", *SCORES]


def asks(bench: Benchmark) -> Ask:
    """The ablations use the ratio that was chosen for IUNET."""
    cells = bench.cells_of("tables.table4")
    return Ask(cells, run_requests(bench, cells, choice_of="iunet"))


def build(ask: Ask, about: About) -> TableDocument:
    return table4(read_runs(ask.requests), about)


def table4(frame: pd.DataFrame, about: About | None = None) -> TableDocument:
    """The ablations, on images and tables; all use the ratio chosen for IUNET."""
    about = about or About()
    frame = with_primary(frame)
    published = paper_cells_of_table4()
    rows = network_rows(frame, about)
    methods = with_extras(METHODS, in_order(frame["method"]))
    columns = [Line(Column(m, method_label(m)), {"method": m}) for m in methods]
    table = score_table(
        frame,
        rows,
        columns,
        SHOWN,
        lambda k: paper_value(
            published.get((k["network"], k["dataset"], k["method"])),
            paper_metric(k["method"], is_tabular(k["network"])),
        ),
        about,
        "IUNET without pruning, without ILO and without PIS, at the compression ratio chosen for "
        "IUNET. Images: test accuracy (%), tables: balanced accuracy (%).",
        id="table4",
        title=TITLE,
        row_header=["Network", "Dataset"],
        default_metric="primary",
    )
    tabular = frame["network"].map(is_tabular).astype(bool)
    if (tabular & frame["method"].eq("iunet_no_prune")).any():
        table.notes.insert(1, RECIPE_NOTE)
    if tabular.any():
        table.notes.insert(1, SWAPPED_NOTE)
    if not tabular.all():
        table.notes.insert(1, DENSE_NOTE)
    return table


def paper_cells_of_table4() -> dict[tuple[str, ...], tuple[float, float | None]]:
    """The paper's table 4, with the ± of table 1 where that has the same run.

    Table 4 gives none for the dense networks; those on images are table 1's.
    """
    published = paper_cells(4, "network", "dataset", "method")
    elsewhere = paper_cells(1, "network", "dataset", "method")
    for key, (mean, std) in published.items():
        if std is None and key in elsewhere and elsewhere[key][0] == mean:
            published[key] = elsewhere[key]
    return published
