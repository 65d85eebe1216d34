"""Table 4: IUNET without one of its parts."""

from __future__ import annotations

import pandas as pd

from iunet.labels import dataset_label, method_label, network_label
from iunet.tables.cells import in_order, select, with_extras
from iunet.tables.document import Column, Row, TableDocument
from iunet.tables.names import is_tabular, paper_metric
from iunet.tables.scores import SWAPPED_NOTE, About, Line, paper_cells, paper_value, score_table

TABLE4_METHODS = ["dense", "iunet_no_prune", "iunet_no_ilo", "iunet_no_pis", "iunet"]
DENSE_NOTE = (
    "The paper's table 4 gives no ± for the dense networks; those on images are its table 1's, "
    "whose ± stands here."
)
METRICS = ["primary", "accuracy", "balanced_accuracy", "swapped_balanced_accuracy"]


def table4(frame: pd.DataFrame, about: About | None = None) -> TableDocument:
    """The ablations, on images and tables; all use the ratio chosen for IUNET."""
    about = about or About()
    frame = with_primary(frame)
    published = paper_cells_of_table4()
    rows = [
        Line(
            Row(
                f"{network}/{dataset}",
                [network_label(network), dataset_label(dataset)],
                about.of(dataset),
            ),
            {"network": network, "dataset": dataset},
        )
        for network in in_order(frame["network"])
        for dataset in in_order(select(frame, network=network)["dataset"])
    ]
    methods = with_extras(TABLE4_METHODS, in_order(frame["method"]))
    columns = [Line(Column(m, method_label(m)), {"method": m}) for m in methods]
    table = score_table(
        frame,
        rows,
        columns,
        METRICS,
        lambda k: paper_value(
            published.get((k["network"], k["dataset"], k["method"])),
            paper_metric(k["method"], is_tabular(k["network"])),
        ),
        about,
        "IUNET without pruning, without ILO and without PIS, at the compression ratio chosen for "
        "IUNET. Images: test accuracy (%), tables: balanced accuracy (%).",
        id="table4",
        title="Table 4: ablations",
        row_header=["Network", "Dataset"],
        default_metric="primary",
    )
    if any(is_tabular(network) for network in in_order(frame["network"])):
        table.notes.insert(1, SWAPPED_NOTE)
    if not all(is_tabular(network) for network in in_order(frame["network"])):
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


def with_primary(frame: pd.DataFrame) -> pd.DataFrame:
    """The metric that counts: accuracy of images, balanced accuracy of tables (SPEC section 6)."""
    tabular = frame["network"].map(is_tabular).astype(bool)
    columns = {}
    for part in ("valid", "test"):
        balanced, plain = frame[f"{part}_balanced_accuracy"], frame[f"{part}_accuracy"]
        columns[f"{part}_primary"] = balanced.where(tabular, plain)
    return frame.assign(**columns)
