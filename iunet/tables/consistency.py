"""Tables 3 and 5: predictions that stay the same under a transform, untrained and trained."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from iunet.labels import dataset_label, network_label
from iunet.paper import paper_table
from iunet.results.reports import TRANSFORMS
from iunet.tables.cells import cell_of, grouped, in_order, select
from iunet.tables.context import Context
from iunet.tables.document import (
    VALUE,
    Cell,
    Column,
    PaperValue,
    Row,
    TableDocument,
    Value,
    compare_with_paper,
    mark_best,
)
from iunet.tables.names import is_tabular
from iunet.tables.scores import SPREAD_NOTE

if TYPE_CHECKING:
    import pandas as pd

CAPTION = (
    "Consistency (%): test samples whose predicted label stays the same under a transform. "
    "Untrained: the supernetwork θ† and IUNET's subnetwork mask ⊙ θ†, as the paper says. Trained: "
    "the supernetwork, the dense network, and IUNET's fine-tuned subnetwork. A constant predictor "
    "scores 100 %, so the number of distinct labels that each predicts stands beside it, and as a "
    "second metric Cohen's kappa of the labels for x and g(x): 0 is chance, 1 is always the same."
)
UNTRAINED = {"supernet": "Supernet, untrained", "iunet": "IUNET, untrained"}
TRAINED = {
    "supernet_trained": "Supernet, trained",
    "dense_trained": "Dense, trained",
    "iunet_trained": "IUNET, fine-tuned",
}
NETWORKS = UNTRAINED | TRAINED
# Whose column of the paper each is compared with; the dense network may be what it calls supernet.
PAPERS = {name: "iunet" if name.startswith("iunet") else "supernet" for name in NETWORKS}
LABELS = "_distinct_labels"
KAPPA = "kappa"
METRICS = {VALUE: "Consistency (%), number of labels", KAPPA: "Cohen's kappa, number of labels"}
CONSTANT = "constant"  # in place of a kappa, which a constant predictor has none of


NOTE = (
    "BatchNorm's running statistics are those of one pass over the untransformed train "
    "split in untrained networks, and those of their training in trained ones. All "
    "networks of a seed see the same draws of the transforms. The paper's text says that "
    "it counts labels that flip; its numbers mean labels that stay."
)


def consistency_table(number: int, frame: pd.DataFrame, context: Context) -> TableDocument:
    """From the rows of `iunet.results.selection.consistency`."""
    rows, cells = [], {}
    for network in in_order(frame["network"]):
        of_network = select(frame, network=network)
        for dataset, part in grouped(of_network, ["dataset"]).items():
            for transform in transforms_of(part, network):
                key = f"{network}/{dataset[0]}/{transform}"
                labels = [network_label(network), dataset_label(dataset[0]), transform]
                rows.append(Row(key, labels, context.row_notes(dataset[0])))
                cells[key] = _cells(number, part, network, dataset[0], transform)
    columns = [Column(key, label, VALUE, key in TRAINED) for key, label in NETWORKS.items()]
    columns += [Column(key + LABELS, f"Labels: {label}") for key, label in NETWORKS.items()]
    best = SPREAD_NOTE + " The untrained networks and the trained ones have a best each."
    table = TableDocument(
        caption=CAPTION,
        row_header=["Network", "Dataset", "Transform"],
        rows=rows,
        columns=columns,
        metrics=list(METRICS),
        cells=cells,
        metric_labels=METRICS,
        notes=[best, NOTE, *_resemblance(cells)],
    )
    mark_best(table, list(UNTRAINED))
    mark_best(table, list(TRAINED))
    return table


def _resemblance(cells: dict[str, dict[str, Cell]]) -> list[str]:
    """Which of our networks the paper's column "supernet" is nearest to, in a sentence."""
    names = [name for name, of in PAPERS.items() if of == "supernet"]
    rows = [{name: row[name].difference for name in names} for row in cells.values()]
    rows = [row for row in rows if None not in row.values()]
    if not rows:
        return []
    far = {name: fmean(abs(row[name]) for row in rows) for name in names}
    nearest = min(far, key=far.get)
    shown = [f"{NETWORKS[name]} {far[name]:.3f}" for name in names]
    return [
        f"The paper's column “supernet” is nearest to our column “{NETWORKS[nearest]}”. Mean "
        f"absolute difference in points, over the cells that all have ({len(rows)}): "
        f"{'; '.join(shown)}."
    ]


def transforms_of(frame: pd.DataFrame, network: str) -> list[str]:
    """The transforms of the reports; if there is none, those that the network's data have."""
    found = in_order(frame["transform"].dropna())
    default = [t for t in TRANSFORMS if (t == "feat") == is_tabular(network)]
    return found or default


def _cells(
    number: int, frame: pd.DataFrame, network: str, dataset: str, transform: str
) -> dict[str, Cell]:
    cells = {}
    for name in NETWORKS:
        rows = select(frame, method=name)
        rows = rows[(rows["transform"] == transform) | rows["transform"].isna()]
        cell = cell_of(rows, {VALUE: "same", KAPPA: "kappa"})
        if VALUE in cell.values:
            cell.values.setdefault(KAPPA, Value(text=CONSTANT))
        paper = paper_consistency(number, network, dataset, transform, PAPERS[name])
        compare_with_paper(cell, paper)
        cells[name], cells[name + LABELS] = cell, _labels(rows)
    return {key: cells[key] for key in sorted(cells, key=lambda key: LABELS in key)}


def _labels(rows: pd.DataFrame) -> Cell:
    """How many labels a network predicts: the same beside either metric."""
    cell = cell_of(rows, dict.fromkeys(METRICS, "distinct_labels"))
    cell.notes = []  # they stand in the cell beside it
    for value in cell.values.values():
        counts = rows["distinct_labels"].dropna().astype(int)
        low, high = counts.min(), counts.max()
        value.text = f"{low}" if low == high else f"{low}–{high}"
    return cell


def paper_consistency(
    number: int, network: str, dataset: str, transform: str, method: str
) -> PaperValue | None:
    for row in paper_table(number):
        if (row["network"], row["dataset"], row["transform"]) == (network, dataset, transform):
            mean, std = row[f"{method}_mean"], row[f"{method}_std"]
            return PaperValue(float(mean), float(std), VALUE)
    return None
