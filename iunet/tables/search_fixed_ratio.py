"""Appendix E.2: do the methods rank the same with one setting for all image sets?

The setting is the compression ratio of the methods that have one, and the l1 of β-LASSO.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import method_label, network_label
from iunet.runs.entries import Benchmark
from iunet.runs.names import SupernetName
from iunet.runs.requests import requests_at_each_cut, run_requests
from iunet.tables.ask import SEARCHES, Ask
from iunet.tables.cells import cut_off_notes, in_order, select, summarise, troubles_of
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value
from iunet.tables.frame import read_runs
from iunet.tables.scores import About
from iunet.tables.searches import search_document

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Appendix E.2: one compression ratio for all image data sets"
GROUP = SEARCHES
KIND = "vision"
NONE = "–"  # no method has such a setting


def asks(bench: Benchmark) -> Ask:
    """Every method with its own choice, and those that have one at each of their candidates."""
    cells = bench.cells_of("tables.search_fixed_ratio")
    fixed = requests_at_each_cut(bench, [cell for cell in cells if cell.method.cuts])
    return Ask(cells, run_requests(bench, cells), more={"fixed": fixed})


def build(ask: Ask, about: About) -> TableDocument:
    return search_fixed_ratio(read_runs(ask.more["fixed"]), read_runs(ask.requests), about)


def search_fixed_ratio(
    fixed: pd.DataFrame, chosen: pd.DataFrame, about: About | None = None
) -> TableDocument:
    """Do the methods rank the same with one ratio, and one l1, for all image sets?

    `chosen` has all methods with what was chosen per data set; `fixed` those that have a ratio at
    each ratio, and β-LASSO at each l1. The others have the same score in both.
    """
    about = about or About()
    methods = in_order(chosen["method"])
    columns = [
        c
        for m in methods
        for c in (Column(m, method_label(m)), Column(f"{m}_rank", f"Rank of {method_label(m)}"))
    ]
    columns += [Column("same_order", "Same ranking"), Column("same_datasets", "Data sets alike")]
    fixed = fixed.assign(l1=fixed["supernet"].map(_l1))
    rows, cells = [], {}
    for network in in_order(chosen["network"]):
        of_network = select(chosen, network=network)
        base = _scores(of_network, methods)
        key, chose = f"{network}/chosen", "chosen per data set"
        settings = _settings(select(fixed, network=network))
        with_l1 = any(l1 is not None for _, l1, _ in settings)
        rows.append(Row(key, [network_label(network), chose, chose if with_l1 else NONE]))
        cells[key] = _ranking_cells(base, base, _troubles(of_network), first=True)
        _note_cut_off(cells[key], of_network, methods)
        for ratio, l1, runs in settings:
            varied = in_order(runs["method"])
            scores = base.copy()
            scores[varied] = _scores(runs, varied).reindex(base.index)[varied]
            parts = {"ratio": ratio, "l1_": l1}.items()
            setting = "-".join(f"{name}{v:g}" for name, v in parts if v is not None)
            key = f"{network}/{setting}"
            rows.append(Row(key, [network_label(network), _for_all(ratio), _for_all(l1)]))
            cells[key] = _ranking_cells(scores, base, _troubles(runs), first=False)
            _note_cut_off(cells[key], runs, varied)
    table = search_document(
        "search_fixed_ratio",
        TITLE,
        "Average test accuracy (%) and average rank (1 is best) of the methods over the data sets, "
        "with the ratio, and β-LASSO's l1, chosen per data set and with one for all, and whether "
        "the methods come in the same order.",
        ["Network", "Ratio", "l1 of β-LASSO"],
        rows,
        columns,
        cells,
        about,
        best_along="none",
    )
    table.notes[0] = "Only data sets with a score of every method count in a row."
    table.notes.append(_fixed_verdict(rows, cells))
    return table


def _l1(supernet: str | None) -> float | None:
    return SupernetName.parse(supernet).l1 if supernet else None


def _for_all(value: float | None) -> str:
    return NONE if value is None else f"{value:g} for all"


def _settings(fixed: pd.DataFrame) -> list[tuple[float | None, float | None, pd.DataFrame]]:
    """Every ratio with every l1, and the runs of both; None where no method has the one."""
    lasso = fixed["l1"].notna()
    ratios = sorted(fixed[~lasso]["ratio"].dropna().unique()) or [None]
    all_l1 = sorted(fixed[lasso]["l1"].unique()) or [None]
    pairs = [(ratio, l1) for ratio in ratios for l1 in all_l1 if (ratio, l1) != (None, None)]
    return [
        (ratio, l1, fixed[(~lasso & (fixed["ratio"] == ratio)) | (fixed["l1"] == l1)])
        for ratio, l1 in pairs
    ]


def _troubles(runs: pd.DataFrame) -> str:
    """Why methods have no score, if some have none."""
    found = {
        f"{method_label(method)}: {reason}": None
        for method in in_order(runs["method"])
        for reason in troubles_of(select(runs, method=method))
    }
    return "; ".join(found)


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


def _ranking_cells(
    scores: pd.DataFrame, base: pd.DataFrame, troubles: str, first: bool
) -> dict[str, Cell]:
    complete = scores.dropna().index.intersection(base.dropna().index)
    names = [*(n for m in base for n in (m, f"{m}_rank")), "same_order", "same_datasets"]
    if complete.empty:
        reason = "no data set with every method" + (f" ({troubles})" if troubles else "")
        return {name: Cell(missing=reason) for name in names}
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


def _note_cut_off(cells: dict[str, Cell], runs: pd.DataFrame, methods: list[str]) -> None:
    """A network with a layer that lost all weights has a score, too."""
    for method in methods:
        cells[method].notes += cut_off_notes(select(runs, method=method), of="runs")


def _ranks(scores: pd.DataFrame) -> pd.DataFrame:
    return scores.round(3).rank(axis=1, ascending=False, method="average")


def _fixed_verdict(rows: list[Row], cells: dict[str, dict[str, Cell]]) -> str:
    values = [cells[row.key]["same_order"].values.get(VALUE) for row in rows]
    answers = [value.text for value in values if value and value.text in ("yes", "no")]
    if not answers:
        return "No fixed setting can be compared yet."
    kept = answers.count("yes")
    return f"The ranking is the same with {kept} of {len(answers)} fixed settings."
