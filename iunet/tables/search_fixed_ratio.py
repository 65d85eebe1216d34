"""Appendix E.2: do the methods rank the same with one ratio for all image sets?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import method_label, network_label
from iunet.runs.entries import Benchmark
from iunet.runs.requests import requests_at_each_cut, run_requests
from iunet.tables.ask import SEARCHES, Ask
from iunet.tables.cells import in_order, select, summarise
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value
from iunet.tables.frame import read_runs
from iunet.tables.scores import About
from iunet.tables.searches import search_document

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Appendix E.2: one compression ratio for all image data sets"
GROUP = SEARCHES
KIND = "vision"


def asks(bench: Benchmark) -> Ask:
    """Every method with its own choice, and those that have ratios at each of them."""
    cells = bench.cells_of("tables.search_fixed_ratio")
    with_ratios = [cell for cell in cells if cell.method.recipe == "iunet"]
    fixed = requests_at_each_cut(bench, with_ratios)
    return Ask(cells, run_requests(bench, cells), more={"fixed": fixed})


def build(ask: Ask, about: About) -> TableDocument:
    return search_fixed_ratio(read_runs(ask.more["fixed"]), read_runs(ask.requests), about)


def search_fixed_ratio(
    fixed: pd.DataFrame, chosen: pd.DataFrame, about: About | None = None
) -> TableDocument:
    """Do the methods rank the same with one ratio for all image sets?

    `chosen` has all methods with the ratios chosen per data set; `fixed` those that have a ratio,
    at each ratio. The others have the same score in both.
    """
    about = about or About()
    methods = in_order(chosen["method"])
    columns = [
        c
        for m in methods
        for c in (Column(m, method_label(m)), Column(f"{m}_rank", f"Rank of {method_label(m)}"))
    ]
    columns += [Column("same_order", "Same ranking"), Column("same_datasets", "Data sets alike")]
    rows, cells = [], {}
    for network in in_order(chosen["network"]):
        base = _scores(select(chosen, network=network), methods)
        key = f"{network}/chosen"
        rows.append(Row(key, [network_label(network), "chosen per data set"]))
        cells[key] = _ranking_cells(base, base, first=True)
        at_ratio = select(fixed, network=network)
        for ratio in sorted(at_ratio["ratio"].dropna().unique()):
            varied = in_order(at_ratio["method"])
            scores = base.copy()
            ours = _scores(select(at_ratio, ratio=ratio), varied)
            scores[varied] = ours.reindex(base.index)[varied]
            key = f"{network}/ratio{ratio:g}"
            rows.append(Row(key, [network_label(network), f"r = {ratio:g} for all"]))
            cells[key] = _ranking_cells(scores, base, first=False)
    table = search_document(
        "search_fixed_ratio",
        TITLE,
        "Average test accuracy (%) and average rank (1 is best) of the methods over the data sets, "
        "with the ratio chosen per data set and with one ratio for all, and whether the methods "
        "come in the same order.",
        ["Network", "Ratio"],
        rows,
        columns,
        cells,
        about,
        best_along="none",
    )
    table.notes[0] = "Only data sets with a score of every method count in a row."
    table.notes.append(_fixed_verdict(rows, cells))
    return table


def _scores(frame: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Mean test accuracy: data sets by methods."""
    import pandas as pd

    datasets = in_order(frame["dataset"])
    content = {}
    for method in methods:
        parts = [select(frame, dataset=d, method=method)["test_accuracy"] for d in datasets]
        means = [summarise(part) for part in parts]
        content[method] = [mean.mean if mean else None for mean in means]
    return pd.DataFrame(content, index=datasets, dtype=float)


def _ranking_cells(scores: pd.DataFrame, base: pd.DataFrame, first: bool) -> dict[str, Cell]:
    complete = scores.dropna().index.intersection(base.dropna().index)
    names = [*(n for m in base for n in (m, f"{m}_rank")), "same_order", "same_datasets"]
    if complete.empty:
        return {name: Cell(missing="no data set with every method") for name in names}
    ranks, base_ranks = _ranks(scores.loc[complete]), _ranks(base.loc[complete])
    cells = {}
    for method in base:
        cells[method] = Cell(values={VALUE: Value(float(scores.loc[complete, method].mean()))})
        cells[f"{method}_rank"] = Cell(values={VALUE: Value(float(ranks[method].mean()))})
    same = ranks.mean().rank().equals(base_ranks.mean().rank())
    alike = int((ranks == base_ranks).all(axis=1).sum())
    text = "–" if first else "yes" if same else "no"
    cells["same_order"] = Cell(values={VALUE: Value(text=text)})
    cells["same_datasets"] = Cell(values={VALUE: Value(text=f"{alike} of {len(complete)}")})
    return cells


def _ranks(scores: pd.DataFrame) -> pd.DataFrame:
    return scores.round(3).rank(axis=1, ascending=False, method="average")


def _fixed_verdict(rows: list[Row], cells: dict[str, dict[str, Cell]]) -> str:
    values = [cells[row.key]["same_order"].values.get(VALUE) for row in rows]
    answers = [value.text for value in values if value and value.text in ("yes", "no")]
    if not answers:
        return "No fixed ratio can be compared yet."
    kept = answers.count("yes")
    return f"The ranking is the same with {kept} of {len(answers)} fixed ratios."
