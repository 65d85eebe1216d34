"""What the tables of scores share: cells by row and column, with the paper's values beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iunet.labels import dataset_label, network_label
from iunet.paper import paper_table
from iunet.runs.names import SURVIVORS
from iunet.tables.cells import cell_of, in_order, score_columns, select
from iunet.tables.document import (
    Column,
    PaperValue,
    Row,
    TableDocument,
    compare_with_paper,
    mark_best,
)
from iunet.tables.names import is_tabular, metric_labels, stand_in_text

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


@dataclass
class Line:
    """A row or column of a table, and the rows of the frame that belong to it."""

    head: Row | Column
    where: dict[str, Any]


@dataclass
class About:
    """What a table says of its run beside the numbers."""

    stand_ins: dict[str, str] | None = None  # our data set by the paper's that it stands in for
    row_notes: dict[str, list[str]] | None = None  # by data set: "subset"
    notes: list[str] | None = None  # budgets of tuned methods, …

    def of(self, dataset: str) -> list[str]:
        return list((self.row_notes or {}).get(dataset, []))


def network_rows(frame: pd.DataFrame, about: About, column: str = "network") -> list[Line]:
    """A row for every network and data set; `column` of the frame names the network."""
    return [
        Line(
            Row(f"{name}/{data}", [network_label(name), dataset_label(data)], about.of(data)),
            {column: name, "dataset": data},
        )
        for name in in_order(frame[column])
        for data in in_order(select(frame, **{column: name})["dataset"])
    ]


PaperOf = Callable[[dict[str, Any]], PaperValue | None]


def score_table(
    frame: pd.DataFrame,
    rows: list[Line],
    columns: list[Line],
    metrics: list[str],
    paper: PaperOf,
    about: About,
    caption: str,
    **document: Any,
) -> TableDocument:
    """A table of mean test scores; `paper` gives its value for the keys of a row and column."""
    cells = {}
    for row in rows:
        of_row = select(frame, **row.where)
        cells[row.head.key] = {}
        for column in columns:
            part = select(of_row, **column.where)
            cell = cell_of(part, score_columns(metrics))
            cell.notes += density_note(part)
            compare_with_paper(cell, paper(row.where | column.where))
            cells[row.head.key][column.head.key] = cell
    table = TableDocument(
        caption=caption + stand_in_text(about.stand_ins),
        rows=[row.head for row in rows],
        columns=[column.head for column in columns],
        metrics=metrics,
        cells=cells,
        metric_labels=metric_labels(metrics),
        **document,
    )
    table.notes = [SPREAD_NOTE, *table.notes, *(about.notes or [])]
    mark_best(table)
    return table


def density_note(rows: pd.DataFrame) -> list[str]:
    """How much β-LASSO keeps, whose density is found and not given."""
    survived = rows[rows["cut"].astype(str).str.startswith(SURVIVORS)]
    shares = survived["kept_encoder_weights"] / survived["encoder_weights"]
    shares = shares.dropna()
    return [] if shares.empty else [f"keeps {100 * shares.mean():.2g} % of the encoder's weights"]


def paper_cells(number: int, *keys: str) -> dict[tuple[str, ...], tuple[float, float | None]]:
    """(mean, std) of a table of the paper in long form, by the named columns."""
    return {tuple(row[key] for key in keys): _numbers(row, "") for row in paper_table(number)}


def _numbers(row: dict[str, str], prefix: str) -> tuple[float, float | None]:
    std = row.get(f"{prefix}std")
    return float(row[f"{prefix}mean"]), float(std) if std else None


def paper_value(found: tuple[float, float | None] | None, metric: str) -> PaperValue | None:
    return PaperValue(*found, metric) if found else None


def with_primary(frame: pd.DataFrame) -> pd.DataFrame:
    """The metric that counts: accuracy of images, balanced accuracy of tables."""
    tabular = frame["network"].map(is_tabular).astype(bool)
    columns = {}
    for part in ("valid", "test"):
        balanced, plain = frame[f"{part}_balanced_accuracy"], frame[f"{part}_accuracy"]
        columns[f"{part}_primary"] = balanced.where(tabular, plain)
    return frame.assign(**columns)
