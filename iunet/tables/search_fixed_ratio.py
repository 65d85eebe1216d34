"""Appendix E.2: do the methods rank the same with one setting for all image sets?

The setting is the compression ratio of the methods that have one, and the l1 of β-LASSO.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import method_label, network_label
from iunet.results.collect import Results
from iunet.results.selection import of_results, of_subnetworks
from iunet.tables.cells import cut_off_notes, in_order, problems_of, select, text_cell
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Appendix E.2: one compression ratio for all image data sets"
KIND = "vision"
CAPTION = (
    "Average test accuracy (%) and average rank (1 is best) of the methods over the data sets, "
    "with the ratio, and β-LASSO's l1, chosen per data set and with one for all, and whether "
    "the methods come in the same order."
)
NONE = "–"  # no method has such a setting


def build(results: Results) -> TableDocument:
    """A row for what was chosen per data set, then one for each setting for all of them.

    Methods without a ratio, or an l1, have the same score in all rows.
    """
    chosen, fixed = of_results(results.runs), of_subnetworks(results.runs)
    methods = in_order(chosen["method"])
    rows, cells = [], {}
    for network in in_order(chosen["network"]):
        of_network = select(chosen, network=network)
        base = _scores(of_network, methods)
        key, chose = f"{network}/chosen", "chosen per data set"
        settings = _settings(select(fixed, network=network))
        with_l1 = any(l1 is not None for _, l1, _ in settings)
        rows.append(Row(key, [network_label(network), chose, chose if with_l1 else NONE]))
        cells[key] = _ranking_cells(base, base, _problems(of_network), first=True)
        _note_cut_off(cells[key], of_network, methods)
        for ratio, l1, runs in settings:
            varied = in_order(runs["method"])
            scores = base.copy()
            scores[varied] = _scores(runs, varied).reindex(base.index)[varied]
            parts = {"ratio": ratio, "l1_": l1}.items()
            setting = "-".join(f"{name}{v:g}" for name, v in parts if v is not None)
            key = f"{network}/{setting}"
            rows.append(Row(key, [network_label(network), _for_all(ratio), _for_all(l1)]))
            cells[key] = _ranking_cells(scores, base, _problems(runs), first=False)
            _note_cut_off(cells[key], runs, varied)
    return TableDocument(
        caption=CAPTION,
        row_header=["Network", "Ratio", "l1 of β-LASSO"],
        rows=rows,
        columns=_columns(methods),
        cells=cells,
        notes=["Only data sets with a score of every method count in a row.", _note(cells)],
        best_along="none",
    )


def _columns(methods: list[str]) -> list[Column]:
    columns = []
    for method in methods:
        label = method_label(method)
        columns += [Column(method, label), Column(f"{method}_rank", f"Rank of {label}")]
    last = {"same_order": "Same ranking", "same_datasets": "Data sets alike"}
    return columns + [Column(key, label) for key, label in last.items()]


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


def _problems(runs: pd.DataFrame) -> str:
    """Why methods have no score, if some have none."""
    found = {
        f"{method_label(method)}: {reason}": None
        for method in in_order(runs["method"])
        for reason in problems_of(select(runs, method=method))
    }
    return "; ".join(found)


def _scores(frame: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Mean test accuracy: data sets by methods."""
    means = frame.groupby(["dataset", "method"], sort=False)["test_accuracy"].agg(
        lambda s: s.mean()
    )
    return means.unstack().reindex(index=in_order(frame["dataset"]), columns=methods)


def _ranking_cells(
    scores: pd.DataFrame, base: pd.DataFrame, problems: str, first: bool
) -> dict[str, Cell]:
    complete = scores.dropna().index.intersection(base.dropna().index)
    names = [*(n for m in base for n in (m, f"{m}_rank")), "same_order", "same_datasets"]
    if complete.empty:
        reason = "no data set with every method" + (f" ({problems})" if problems else "")
        return {name: Cell(missing=reason) for name in names}
    ranks, base_ranks = _ranks(scores.loc[complete]), _ranks(base.loc[complete])
    cells = {}
    for method in base:
        cells[method] = Cell(values={VALUE: Value(float(scores.loc[complete, method].mean()))})
        cells[f"{method}_rank"] = Cell(values={VALUE: Value(float(ranks[method].mean()))})
    same = ranks.mean().rank().equals(base_ranks.mean().rank())
    alike = int((ranks == base_ranks).all(axis=1).sum())
    text = "–" if first else "yes" if same else "no"
    texts = {"same_order": text, "same_datasets": f"{alike} of {len(complete)}"}
    return cells | {name: text_cell(text) for name, text in texts.items()}


def _note_cut_off(cells: dict[str, Cell], runs: pd.DataFrame, methods: list[str]) -> None:
    """A network with a layer that lost all weights has a score, too."""
    for method in methods:
        cells[method].notes += cut_off_notes(select(runs, method=method), of="runs")


def _ranks(scores: pd.DataFrame) -> pd.DataFrame:
    return scores.round(3).rank(axis=1, ascending=False, method="average")


def _note(cells: dict[str, dict[str, Cell]]) -> str:
    values = [row["same_order"].values.get(VALUE) for row in cells.values()]
    answers = [value.text for value in values if value and value.text in ("yes", "no")]
    if not answers:
        return "No fixed setting can be compared yet."
    kept = answers.count("yes")
    return f"The ranking is the same with {kept} of {len(answers)} fixed settings."
