"""Tables 3 and 5: predictions that stay the same under a transform, untrained and trained."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from iunet.results.collect import Results, is_tabular
from iunet.results.reports import TRANSFORMS
from iunet.results.selection import consistency
from iunet.tables.cells import cell_of, grouped_table, select
from iunet.tables.document import (
    VALUE,
    Cell,
    Column,
    PaperValue,
    TableDocument,
    Value,
    compare_with_paper,
)
from iunet.tables.paper_values import paper_consistency
from iunet.tables.scores import SPREAD_NOTE

if TYPE_CHECKING:
    import pandas as pd

CAPTION = (
    "Consistency (%): test samples whose predicted label stays the same under a transform. "
    "Untrained: the supernetwork θ† and IUNET's subnetwork mask ⊙ θ†, as the paper says. Trained: "
    "the supernetwork, the dense network, and IUNET's fine-tuned subnetwork. A constant predictor "
    "scores 100 %, so the table also has the number of distinct labels that each network predicts, "
    "and as a second metric Cohen's kappa of the labels for x and g(x): 0 is chance, 1 is always "
    "the same."
)
UNTRAINED = {"supernet": "Supernet, untrained", "iunet": "IUNET, untrained"}
TRAINED = {
    "supernet_trained": "Supernet, trained",
    "dense_trained": "Dense, trained",
    "iunet_trained": "IUNET, fine-tuned",
}
NETWORKS = UNTRAINED | TRAINED
# The paper's column that each is compared with; its supernet may be the dense network.
PAPERS = {name: "iunet" if name.startswith("iunet") else "supernet" for name in NETWORKS}
LABELS = "_distinct_labels"
KAPPA = "kappa"
METRICS = {VALUE: "Consistency (%), number of labels", KAPPA: "Cohen's kappa, number of labels"}
CONSTANT = "constant"  # shown for the kappa of a constant predictor, which has none


NOTE = (
    "BatchNorm's running statistics are those of one pass over the untransformed train "
    "split in untrained networks, and those of their training in trained ones. All "
    "networks of a seed see the same draws of the transforms. The paper's text says that "
    "it counts labels that flip; its numbers mean labels that stay."
)


def table3(results: Results) -> TableDocument:
    """One image set and one table."""
    return consistency_table(3, consistency(results.runs))


def table5(results: Results) -> TableDocument:
    """All image sets."""
    return consistency_table(5, consistency(results.runs))


def consistency_table(number: int, frame: pd.DataFrame) -> TableDocument:
    """From the rows of `iunet.results.selection.consistency`."""
    import pandas as pd

    published = paper_consistency(number)
    parts = [frame[:0]]
    for (network, _), part in frame.groupby(["network", "dataset"], sort=False):
        transforms = [*part["transform"].dropna().unique()]
        default = [t for t in TRANSFORMS if (t == "feat") == is_tabular(network)]
        for transform in transforms or default:  # what has none is missing under each
            own = part[(part["transform"] == transform) | part["transform"].isna()]
            parts.append(own.assign(transform=transform))

    def cells(key: tuple, part: pd.DataFrame) -> dict[str, Cell]:
        return _cells(part, {name: published.get((*key, of)) for name, of in PAPERS.items()})

    columns = [Column(name, label, VALUE, name in TRAINED) for name, label in NETWORKS.items()]
    columns += [Column(name + LABELS, f"Labels: {label}") for name, label in NETWORKS.items()]
    table = grouped_table(
        pd.concat(parts),
        ("network", "dataset", "transform"),
        columns,
        cells,
        CAPTION,
        [SPREAD_NOTE + " The untrained networks and the trained ones have a best each.", NOTE],
        metrics=list(METRICS),
        metric_labels=METRICS,
        best_along="row",
        best_among=[UNTRAINED, TRAINED],
    )
    table.notes += _resemblance(table.cells)
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


def _cells(part: pd.DataFrame, papers: dict[str, PaperValue | None]) -> dict[str, Cell]:
    cells, labels = {}, {}
    for name, paper in papers.items():
        rows = select(part, method=name)
        cells[name] = cell_of(rows, {VALUE: "same", KAPPA: KAPPA})
        labels[name + LABELS] = _labels(rows)
        if VALUE in cells[name].values:
            cells[name].values.setdefault(KAPPA, Value(text=CONSTANT))
        compare_with_paper(cells[name], paper)
    return cells | labels


def _labels(rows: pd.DataFrame) -> Cell:
    """How many labels a network predicts: the same in both metrics."""
    cell = cell_of(rows, dict.fromkeys(METRICS, "distinct_labels"))
    cell.notes = []  # the network's own cell has them
    for value in cell.values.values():
        counts = rows["distinct_labels"].dropna().astype(int)
        low, high = counts.min(), counts.max()
        value.text = f"{low}" if low == high else f"{low}–{high}"
    return cell
