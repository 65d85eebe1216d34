"""Tables 3 and 5: predictions that stay the same under a transform, before any training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import dataset_label, network_label
from iunet.paper import paper_table
from iunet.tables.cells import cell_of, in_order, select
from iunet.tables.document import (
    VALUE,
    Cell,
    Column,
    PaperValue,
    Row,
    TableDocument,
    compare_with_paper,
    mark_best,
)
from iunet.tables.names import TRANSFORMS, is_tabular, stand_in_text
from iunet.tables.scores import SPREAD_NOTE, About

if TYPE_CHECKING:
    import pandas as pd

CAPTION = (
    "Consistency (%): test samples whose predicted label stays the same under a transform, of the "
    "untrained supernetwork θ† and of IUNET's untrained subnetwork mask ⊙ θ†. A constant predictor "
    "scores 100 %, so the number of distinct labels that each predicts stands beside it."
)
LABELS = "_distinct_labels"


def consistency_table(
    number: int, title: str, frame: pd.DataFrame, about: About | None = None
) -> TableDocument:
    about = about or About()
    rows, cells = [], {}
    for network in in_order(frame["network"]):
        for dataset in in_order(select(frame, network=network)["dataset"]):
            of_dataset = select(frame, network=network, dataset=dataset)
            for transform in transforms_of(of_dataset, network):
                key = f"{network}/{dataset}/{transform}"
                labels = [network_label(network), dataset_label(dataset), transform]
                rows.append(Row(key, labels, about.of(dataset)))
                cells[key] = _cells(number, of_dataset, network, dataset, transform)
    scores = ["supernet", "iunet"]
    names = {"supernet": "Supernet", "iunet": "IUNET"}
    columns = [Column(key, names[key], VALUE) for key in scores]
    columns += [Column(key + LABELS, f"Labels, {names[key]}") for key in scores]
    table = TableDocument(
        id=f"table{number}",
        title=title,
        caption=CAPTION + stand_in_text(about.stand_ins),
        row_header=["Network", "Dataset", "Transform"],
        rows=rows,
        columns=columns,
        metrics=[VALUE],
        default_metric=VALUE,
        cells=cells,
        metric_labels={VALUE: "Consistency (%), number of labels"},
        notes=[
            SPREAD_NOTE,
            "BatchNorm uses running statistics of one pass over the untransformed train split. "
            "The paper's text says that it counts labels that flip; its numbers mean labels that "
            "stay.",
            *(about.notes or []),
        ],
    )
    mark_best(table, scores)
    return table


def transforms_of(frame: pd.DataFrame, network: str) -> list[str]:
    """The transforms of the reports; if there is none, those that the network's data have."""
    found = in_order(frame["transform"].dropna())
    default = [t for t in TRANSFORMS if (t == "feat") == is_tabular(network)]
    return found or default


def _cells(
    number: int, frame: pd.DataFrame, network: str, dataset: str, transform: str
) -> dict[str, Cell]:
    cells = {}
    for method in ("supernet", "iunet"):
        rows = select(frame, method=method)
        rows = rows[(rows["transform"] == transform) | rows["transform"].isna()]
        cell = cell_of(rows, {VALUE: "same"})
        compare_with_paper(cell, paper_consistency(number, network, dataset, transform, method))
        labels = cell_of(rows, {VALUE: "distinct_labels"})
        labels.notes = []  # said in the cell beside it
        if VALUE in labels.values:
            counts = rows["distinct_labels"].dropna().astype(int)
            low, high = counts.min(), counts.max()
            labels.values[VALUE].text = f"{low}" if low == high else f"{low}–{high}"
        cells[method], cells[method + LABELS] = cell, labels
    return {key: cells[key] for key in sorted(cells, key=lambda key: LABELS in key)}


def paper_consistency(
    number: int, network: str, dataset: str, transform: str, method: str
) -> PaperValue | None:
    for row in paper_table(number):
        if (row["network"], row["dataset"], row["transform"]) == (network, dataset, transform):
            mean, std = row[f"{method}_mean"], row[f"{method}_std"]
            return PaperValue(float(mean), float(std), VALUE)
    return None
