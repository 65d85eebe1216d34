"""Tables 8 and 9: statistics of the data sets, compared with the paper's."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iunet.escape import csv_text
from iunet.paper import official_rows, paper_table
from iunet.results.collect import Results
from iunet.results.reports import GREY_SCALE, subset_text
from iunet.tables.cells import plain_table
from iunet.tables.document import (
    NO,
    VALUE,
    YES,
    Cell,
    Column,
    PaperValue,
    TableDocument,
    Value,
)

if TYPE_CHECKING:
    import pandas as pd

OFF_BY_ONE, MISSING, NOT_IN_PAPER = "off by one", "missing", "not in the paper"


@dataclass(frozen=True)
class Quantity:
    """A column of the paper's table."""

    key: str
    header: str
    decimals: int = 0
    rounded: bool = False  # the paper rounds its split sizes down, scikit-learn up

    def agreement(self, ours: float | None, paper: str | None) -> str:
        """Equal in the decimals that the paper gives, or within the range that it implies."""
        if paper is None:
            return NOT_IN_PAPER
        if ours is None:
            return NO
        low, _, high = paper.partition("-")
        distance = max(float(low) - ours, ours - float(high or low), 0)
        if distance <= (0.5 * 10**-self.decimals + 1e-9 if self.decimals else 0):
            return YES
        return OFF_BY_ONE if self.rounded and distance == 1 else NO


PARTS = ("train", "valid", "test")
TABLE8 = [
    *(Quantity(f"n_{part}", f"# {part.title()} Instances") for part in PARTS),
    Quantity("n_classes", "Number of Classes"),
]
TABLE9 = [
    Quantity("n_rows", "# Rows"),
    *(Quantity(f"n_{part}", f"# {part.title()}", rounded=True) for part in PARTS),
    Quantity("n_features", "# Feats"),
    Quantity("majority_pct", "Majority", decimals=2),
    Quantity("minority_pct", "Minority", decimals=2),
    Quantity("openml_task_id", "OpenML ID"),
]


def table8(results: Results) -> TableDocument:
    return statistics_table(8, TABLE8, results.datasets)


def table9(results: Results) -> TableDocument:
    """The paper's number of features counts the target."""
    datasets = results.datasets.assign(n_features=results.datasets["n_features"] + 1)
    return statistics_table(9, TABLE9, datasets)


def statistics_table(
    number: int, quantities: list[Quantity], datasets: pd.DataFrame
) -> TableDocument:
    """Of the frame of data sets; the CSV has ours, the paper's and the agreement side by side."""
    paper = {row["dataset"]: dict(row) for row in paper_table(number)}
    for name, row in paper.items() if number == 9 else ():
        low, high = official_rows(name)  # what its rounded split sizes imply
        row["n_rows"] = f"{low}" if low == high else f"{low}-{high}"
    lines = [
        _line(quantities, ours, paper.get(ours["dataset"], {}))
        for ours in datasets.astype(object).to_dict("records")
    ]
    return plain_table(
        "Our splits, compared with the paper's table.",
        ["Dataset"],
        [Column(q.key, q.header, VALUE) for q in quantities],
        {
            line["dataset"]: ([line["dataset"]], {q.key: _cell(line, q) for q in quantities})
            for line in lines
        },
        _notes(lines, quantities),
        decimals=2,
        own_csv=csv_text(lines),
    )


def _line(
    quantities: list[Quantity], ours: dict[str, Any], paper: dict[str, str]
) -> dict[str, Any]:
    """A data set: each quantity, the paper's value, and whether the two agree."""
    there = ours["missing"] is None
    line: dict[str, Any] = {"dataset": ours["dataset"]}
    for quantity in quantities:
        key = quantity.key
        value = ours[key] if there and ours[key] == ours[key] else None  # not NaN
        value = value if value is None or quantity.decimals else int(value)
        published = paper.get(key)
        agrees = quantity.agreement(value, published) if there else MISSING
        line |= {key: value, f"{key}_paper": published, f"{key}_agrees": agrees}
    line["source"] = ours["source"] if there else None
    line["subset"] = ours["subset"] and subset_text(ours["subset"])
    return line | {"missing": ours["missing"]}


def _cell(line: dict[str, Any], quantity: Quantity) -> Cell:
    value, paper = line[quantity.key], line[f"{quantity.key}_paper"]
    cell = Cell(missing=line["missing"])
    if value is not None:
        cell.values[VALUE] = Value(float(value), text=f"{value:.{quantity.decimals}f}")
    elif not line["missing"]:
        cell.missing = "not known of this source"
    if paper is None:
        return cell
    if "-" in paper:  # the range of rows that rounded split sizes imply
        cell.notes.append(f"the paper implies {paper}")
        return cell
    cell.paper = PaperValue(float(paper), None, VALUE)
    agrees = line[f"{quantity.key}_agrees"]
    if value is not None:
        cell.difference = float(value) - float(paper)
        cell.agrees = YES if agrees == YES else NO
    if agrees == OFF_BY_ONE:
        cell.notes.append("differs by one: the paper rounds split sizes down, scikit-learn up")
    return cell


def _notes(lines: list[dict[str, Any]], quantities: list[Quantity]) -> list[str]:
    agreements = Counter(line[f"{q.key}_agrees"] for line in lines for q in quantities)
    notes = []
    if any(quantity.key == "n_rows" for quantity in quantities):
        notes.append(
            "The paper does not give the number of rows; in brackets is the range that its rounded "
            "split sizes imply. # Feats counts the target, as in the paper."
        )
    compared = agreements[YES] + agreements[OFF_BY_ONE] + agreements[NO]
    if compared:
        notes.append(
            f"Of {compared} values, {agreements[YES]} agree, {agreements[OFF_BY_ONE]} differ by "
            f"one and {agreements[NO]} differ."
        )
    first = f"{quantities[0].key}_agrees"
    if strangers := [line["dataset"] for line in lines if line[first] == NOT_IN_PAPER]:
        notes.append(f"Not in the paper: {', '.join(strangers)}.")
    if subsets := [f"{line['dataset']} ({line['subset']})" for line in lines if line["subset"]]:
        notes.append(f"Subsets of the official data: {', '.join(subsets)}.")
    if grey := [line["dataset"] for line in lines if str(line["source"]).endswith(GREY_SCALE)]:
        notes.append(f"Grey-scale images, given as three equal channels: {', '.join(grey)}.")
    if absent := [f"{line['dataset']} ({line['missing']})" for line in lines if line["missing"]]:
        notes.append(f"Missing: {', '.join(absent)}.")
    return notes
