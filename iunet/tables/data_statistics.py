"""Tables 8 and 9: statistics of the data sets, beside the paper's and whether they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.paper import official_rows, paper_table
from iunet.runs import paths
from iunet.runs.entries import NOT_FINISHED, Benchmark
from iunet.tables.ask import Ask
from iunet.tables.document import VALUE, Cell, Column, PaperValue, Row, TableDocument, Value
from iunet.tables.render.forms import Rendered, csv_text, simple_html, simple_markdown

YES, OFF_BY_ONE, NO = "yes", "off by one", "no"
MISSING, NOT_IN_PAPER = "missing", "not in the paper"
MARKS = {YES: "✓", OFF_BY_ONE: "±1", NO: "✗"}


def same(ours: float, paper: str) -> str:
    return YES if ours == float(paper) else NO


def same_size(ours: int, paper: str) -> str:
    """The paper rounds its split sizes down, scikit-learn up: a difference of 1 is expected."""
    difference = abs(ours - int(paper))
    return YES if difference == 0 else OFF_BY_ONE if difference == 1 else NO


def same_percentage(ours: float, paper: str) -> str:
    """Equal in the two decimals that the paper gives."""
    return YES if abs(ours - float(paper)) <= 0.005 + 1e-9 else NO


def same_rows(ours: int, paper: str) -> str:
    low, _, high = paper.partition("-")
    low, high = int(low), int(high or low)
    return YES if low <= ours <= high else NO


@dataclass(frozen=True)
class Quantity:
    """A column of the paper's table."""

    key: str
    header: str
    agreement: Callable[[Any, str], str]
    decimals: int = 0


SIZES = [
    Quantity(f"n_{part}", f"# {part.title()}", same_size) for part in ("train", "valid", "test")
]
TABLE8 = [
    *(Quantity(size.key, f"{size.header} Instances", same) for size in SIZES),
    Quantity("n_classes", "Number of Classes", same),
]
TABLE9 = [
    Quantity("n_rows", "# Rows", same_rows),
    *SIZES,
    Quantity("n_features", "# Feats", same),
    Quantity("majority_pct", "Majority", same_percentage, decimals=2),
    Quantity("minority_pct", "Minority", same_percentage, decimals=2),
    Quantity("openml_task_id", "OpenML ID", same),
]


def ask_for_splits(bench: Benchmark, table: str) -> Ask:
    """Which data sets, and why some of them will be missing."""
    names = bench.datasets_of_table(table)
    available = {
        name: bench.path(paths.SPLIT_REPORT, dataset=name)
        for name in names
        if name not in bench.unavailable
    }
    there = {name: path for name, path in available.items() if bench.exists(path)}
    missing = {
        name: bench.unavailable.get(name, NOT_FINISHED) for name in names if name not in there
    }
    more = {"splits": list(there.values()), "datasets": names, "missing": missing}
    return Ask(files=list(there.values()), more=more)


def table8(ask: dict[str, Any], title: str) -> TableDocument:
    """`ask` has the split reports, the data sets, and why some are missing."""
    ours = {split["dataset"]: split for split in map(read_json, ask["splits"])}
    rows = compare(TABLE8, ours, paper_rows(8), ask["datasets"], ask["missing"])
    return document_of("table8", title, TABLE8, rows)


def table9(ask: dict[str, Any], title: str) -> TableDocument:
    splits = {split["dataset"]: split for split in map(read_json, ask["splits"])}
    ours = {name: tabular_statistics(split) for name, split in splits.items()}
    paper = {name: row | {"n_rows": rows_of_paper(name)} for name, row in paper_rows(9).items()}
    rows = compare(TABLE9, ours, paper, ask["datasets"], ask["missing"])
    return document_of("table9", title, TABLE9, rows)


def paper_rows(number: int) -> dict[str, dict[str, str]]:
    return {row["dataset"]: row for row in paper_table(number)}


def tabular_statistics(split: dict[str, Any]) -> dict[str, Any]:
    """The columns of table 9 for one data set; the number of features counts the target."""
    totals = [sum(entry[part] for part in ("train", "valid", "test")) for entry in split["classes"]]
    n_rows = sum(totals)
    provenance = split["provenance"]
    task = provenance.get("task_id") or provenance.get("instead_of", {}).get("location")
    return {
        **split,
        "n_rows": n_rows,
        "n_features": split["n_features"] + 1,
        "majority_pct": 100 * max(totals) / n_rows,
        "minority_pct": 100 * min(totals) / n_rows,
        "openml_task_id": int(task) if task else None,
    }


def rows_of_paper(dataset: str) -> str:
    """The number of rows that the paper's rounded split sizes imply, or its range."""
    low, high = official_rows(dataset)
    return f"{low}" if low == high else f"{low}-{high}"


def compare(
    quantities: list[Quantity],
    ours: dict[str, dict[str, Any]],
    paper: dict[str, dict[str, str]],
    datasets: list[str],
    missing: dict[str, str],
) -> list[dict[str, Any]]:
    """One row per data set: each quantity, the paper's value, and whether they agree."""
    rows = []
    for dataset in datasets:
        if dataset not in ours and dataset not in missing:
            raise UserError(
                f"There is no split of the data set '{dataset}' to make the table from."
            )
        row: dict[str, Any] = {"dataset": dataset}
        for quantity in quantities:
            value = ours.get(dataset, {}).get(quantity.key)
            published = paper.get(dataset, {}).get(quantity.key)
            row[quantity.key] = value
            row[f"{quantity.key}_paper"] = published
            row[f"{quantity.key}_agrees"] = _agreement(quantity, value, published, dataset in ours)
        provenance = ours.get(dataset, {}).get("provenance", {})
        row["source"] = provenance.get("source")
        row["subset"] = subset_text(provenance.get("subset"))
        row["missing"] = missing.get(dataset)
        rows.append(row)
    return rows


def _agreement(quantity: Quantity, ours: Any, paper: str | None, present: bool) -> str:
    if not present:
        return MISSING
    if paper is None:
        return NOT_IN_PAPER
    return NO if ours is None else quantity.agreement(ours, paper)


def subset_text(subset: dict[str, int] | None) -> str | None:
    if not subset:
        return None
    if "n_rows" in subset:
        return "{n_rows} of {official_n_rows} rows".format(**subset)
    return "{n_train}+{n_test} of {official_n_train}+{official_n_test} images".format(**subset)


def document_of(
    id: str, title: str, quantities: list[Quantity], rows: list[dict[str, Any]]
) -> TableDocument:
    """The table as a document; CSV, Markdown and HTML show ours beside the paper's in one cell."""
    rendered = Rendered(
        title,
        ["Dataset", *(quantity.header for quantity in quantities)],
        [_cells(row, quantities) for row in rows],
        _notes(rows, quantities),
    )
    own_forms = {
        "csv": csv_text(rows),
        "markdown": simple_markdown(rendered),
        "html": simple_html(rendered),
    }
    return TableDocument(
        id=id,
        title=title,
        caption="Our splits beside the paper's table.",
        row_header=["Dataset"],
        rows=[
            Row(
                row["dataset"],
                [row["dataset"]],
                [f"subset: {row['subset']}"] if row["subset"] else [],
            )
            for row in rows
        ],
        columns=[Column(q.key, q.header, VALUE) for q in quantities],
        metrics=[VALUE],
        default_metric=VALUE,
        cells={row["dataset"]: {q.key: _document_cell(row, q) for q in quantities} for row in rows},
        decimals=2,
        notes=_notes(rows, quantities)[1:],  # the first explains brackets, which are not there
        best_along="none",
        own_forms=own_forms,
    )


def _document_cell(row: dict[str, Any], quantity: Quantity) -> Cell:
    value, paper = row[quantity.key], row[f"{quantity.key}_paper"]
    cell = Cell(missing=row["missing"])
    if value is not None:
        cell.values[VALUE] = Value(float(value), text=f"{value:.{quantity.decimals}f}")
    elif not row["missing"]:
        cell.missing = "not known of this source"
    if paper is None:
        return cell
    if "-" in paper:  # the range of rows that rounded split sizes imply
        cell.notes.append(f"the paper implies {paper}")
        return cell
    cell.paper = PaperValue(float(paper), None, VALUE)
    agrees = row[f"{quantity.key}_agrees"]
    if value is not None:
        cell.difference = float(value) - float(paper)
        cell.agrees = "yes" if agrees == YES else "no"
    if agrees == OFF_BY_ONE:
        cell.notes.append("differs by one: the paper rounds split sizes down, scikit-learn up")
    return cell


def _cells(row: dict[str, Any], quantities: list[Quantity]) -> list[str]:
    name = row["dataset"] + (" (subset)" if row["subset"] else "")
    return [name, *(_cell(row, quantity) for quantity in quantities)]


def _cell(row: dict[str, Any], quantity: Quantity) -> str:
    """ours (paper's, mark)."""
    value, paper = row[quantity.key], row[f"{quantity.key}_paper"]
    text = "–" if value is None else f"{value:.{quantity.decimals}f}"
    if paper is None:
        return text
    return f"{text} ({paper} {MARKS.get(row[f'{quantity.key}_agrees'], '')}".rstrip() + ")"


def _notes(rows: list[dict[str, Any]], quantities: list[Quantity]) -> list[str]:
    agreements = Counter(row[f"{q.key}_agrees"] for row in rows for q in quantities)
    notes = [
        "Each cell is our value, then in brackets the paper's and whether they agree: ✓ equal, "
        "±1 a split size that differs by one (the paper rounds down, scikit-learn up), ✗ different."
    ]
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
    if strangers := [
        row["dataset"] for row in rows if row[f"{quantities[0].key}_agrees"] == NOT_IN_PAPER
    ]:
        notes.append(f"Not in the paper: {', '.join(strangers)}.")
    if subsets := [f"{row['dataset']} ({row['subset']})" for row in rows if row["subset"]]:
        notes.append(f"Subsets of the official data: {', '.join(subsets)}.")
    if absent := [f"{row['dataset']} ({row['missing']})" for row in rows if row["missing"]]:
        notes.append(f"Missing: {', '.join(absent)}.")
    return notes
