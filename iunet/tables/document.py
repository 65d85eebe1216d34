"""The table document: the content of a table, before it becomes CSV, Markdown, HTML or LaTeX.

It is written as `results/tables/<id>.json`. A cell holds a value for each metric of the table, the
paper's value where it has one, and the reason if there is nothing of ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

VALUE = "value"  # the one metric of tables of other numbers than scores
YES, NO, NOT_KNOWN = "yes", "no", "n/a"  # whether a value agrees with the paper's
PAPER_SEEDS = 3
PAPER_ROUNDING = 0.0005  # the paper's scores have three decimals


@dataclass
class Value:
    """One number with its spread over seeds, or a text."""

    mean: float | None = None
    std: float | None = None  # sample standard deviation; none with a single seed
    n: int | None = None  # seeds
    best: bool = False
    text: str | None = None  # shown instead of the number


@dataclass
class PaperValue:
    mean: float
    std: float | None
    metric: str  # which of our metrics is like it


@dataclass
class Cell:
    values: dict[str, Value] = field(default_factory=dict)
    paper: PaperValue | None = None
    difference: float | None = None  # ours minus the paper's, in the paper's metric
    agrees: str | None = None  # yes, no, n/a (a std is missing), or None without two values
    missing: str | None = None  # why we have no value
    notes: list[str] = field(default_factory=list)


@dataclass
class Row:
    key: str
    labels: list[str]
    notes: list[str] = field(default_factory=list)


@dataclass
class Column:
    key: str
    label: str
    paper_metric: str | None = None  # none if it depends on the row, or the paper has no such cells
    repeats: bool = False  # the paper's values are in another column too, and count there


@dataclass
class TableDocument:
    """`id`, `title` and what all tables say alike come from the stage (iunet/tables/make.py)."""

    caption: str
    row_header: list[str]
    rows: list[Row]
    columns: list[Column]
    cells: dict[str, dict[str, Cell]]  # by the keys of row and column
    metrics: list[str] = field(default_factory=lambda: [VALUE])
    default_metric: str = ""  # the first, if none is named
    id: str = ""
    title: str = ""
    decimals: int = 3
    notes: list[str] = field(default_factory=list)
    lower_is_better: list[str] = field(default_factory=list)  # keys of rows or columns, or metrics
    metric_labels: dict[str, str] = field(default_factory=dict)
    best_along: str = "row"  # the best of a row, of a column, or of neither ("none")
    data: dict[str, Any] | None = None  # plain numbers behind it, for those who draw them
    # CSV that the table writes in its own way; no part of the document.
    own_csv: str | None = None

    def __post_init__(self) -> None:
        self.default_metric = self.default_metric or self.metrics[0]

    def cell(self, row: str, column: str) -> Cell:
        return self.cells[row][column]

    def to_json(self) -> dict[str, Any]:
        content = asdict(self)
        del content["own_csv"]
        for row in content["cells"].values():
            for cell in row.values():
                cell["values"] = {key: _lean(value) for key, value in cell["values"].items()}
        return content


def _lean(value: dict[str, Any]) -> dict[str, Any]:
    """A text alone, or a number (with its text, if it has one)."""
    if value["mean"] is None:
        return {"text": value["text"] or ""}
    return value if value["text"] is not None else {k: v for k, v in value.items() if k != "text"}


# ---- comparing


def compare_with_paper(cell: Cell, paper: PaperValue | None) -> None:
    """Add the paper's value to a cell, if it has one, and whether it agrees with ours."""
    cell.paper = paper
    ours = cell.values.get(paper.metric) if paper else None
    if ours is not None and ours.mean is not None:
        cell.difference = ours.mean - paper.mean
        cell.agrees = agreement(ours, paper)


def agreement(ours: Value, paper: PaperValue) -> str:
    """Welch's t-test at 5 %: |ours − paper| ≤ t·√(s_ours²/n + s_paper²/3), n/a without a std.

    t is the 97.5 % quantile of Student's t at Welch's degrees of freedom. Both stds are taken as
    those of samples, the paper's of 3 seeds (it does not say which it gives). If both are 0, all
    seeds gave one number, and only the paper's rounding may lie between the two.
    """
    if ours.std is None or paper.std is None:
        return NOT_KNOWN
    difference = abs(ours.mean - paper.mean)
    of_ours, of_paper = ours.std**2 / ours.n, paper.std**2 / PAPER_SEEDS
    if of_ours + of_paper == 0:
        return YES if difference <= PAPER_ROUNDING + 1e-9 else NO
    from scipy.special import stdtrit  # light, unlike scipy.stats

    freedom = (of_ours + of_paper) ** 2 / (
        of_ours**2 / (ours.n - 1) + of_paper**2 / (PAPER_SEEDS - 1)
    )
    bound = float(stdtrit(freedom, 0.975)) * (of_ours + of_paper) ** 0.5
    return YES if difference <= bound + 1e-9 else NO


def mark_best(document: TableDocument, names: Iterable[str]) -> None:
    """Mark the best value of every row (or column) and metric, with all that are shown as equal.

    Only the columns `names` are compared.
    """
    if document.best_along == "row":
        groups = [
            (row.key, [document.cell(row.key, name) for name in names]) for row in document.rows
        ]
    else:
        groups = [(name, [document.cell(row.key, name) for row in document.rows]) for name in names]
    for key, cells in groups:
        for metric in document.metrics:
            values = [cell.values[metric] for cell in cells if metric in cell.values]
            lower = bool({key, metric} & set(document.lower_is_better))
            _mark(values, document.decimals, -1 if lower else 1)


def _mark(values: list[Value], decimals: int, sign: int) -> None:
    numbers = [value for value in values if value.mean is not None]
    if len(numbers) < 2:  # nothing to be better than
        return
    best = max(sign * round(value.mean, decimals) for value in numbers)
    for value in numbers:
        value.best = sign * round(value.mean, decimals) == best
