"""Appendix E.2: λ, then ratio and κ on tables, chosen on validation data; one ratio for all."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from iunet.labels import dataset_label, method_label, network_label
from iunet.results.collect import Results
from iunet.results.selection import METHOD, mean_scores, of_results, of_subnetworks, ranks
from iunet.tables.cells import (
    NONE,
    cell,
    cell_of,
    cut_off_notes,
    plain_table,
    problems_of,
    select,
)
from iunet.tables.document import VALUE, Cell, TableDocument, Value

if TYPE_CHECKING:
    import pandas as pd

AVERAGE = "average"
SPREAD = "Mean ± sample standard deviation over seeds; the best is bold."
LAMBDA_CAPTION = (
    "Validation score (%) of IUNET by λ: accuracy on images, balanced accuracy on tables."
)
FIXED_CAPTION = (
    "Average test accuracy (%) and average rank (1 is best) of the methods over the data sets, "
    "with the ratio, and β-LASSO's l1, chosen per data set and with one for all, and whether "
    "the methods come in the same order."
)


def search_lambda(results: Results) -> TableDocument:
    """Validation scores of the chosen ratios by λ, which is that of a method's supernets."""
    weights = results.runs.groupby(METHOD)["lambda"].first()
    runs = of_results(results.runs)
    runs = runs.join(weights.rename("weight"), on=METHOD)
    columns = {f"lambda{value:g}": value for value in sorted(set(runs["weight"]))}

    labels = {column: f"λ = {value:g}" for column, value in columns.items()}
    lines = {}
    for (network, dataset), part in runs.groupby(["network", "dataset"], sort=False):
        content = {
            column: cell_of(part[part["weight"] == value], {VALUE: "valid_primary"})
            for column, value in columns.items()
        }
        head = [network_label(network), dataset_label(dataset)]
        lines[f"{network}/{dataset}"] = (head, content)
    averages = {column: average([line[column] for _, line in lines.values()]) for column in columns}
    lines[AVERAGE] = (["", "average"], averages)
    table = plain_table(
        LAMBDA_CAPTION, ["Network", "Dataset"], labels, lines, [SPREAD], best_along="row"
    )
    places = {label: (AVERAGE, column) for column, label in labels.items()}
    table.notes.append(winner_note(table, places, "λ = 1", "every data set and λ"))
    return table


def search_tabular(results: Results) -> TableDocument:
    """Compression ratio and κ on tables."""
    runs = of_subnetworks(results.runs)
    datasets = runs["dataset"].unique()
    points = [
        (ratio, kappa)
        for ratio in sorted(set(runs["ratio"]))
        for kappa in sorted(set(runs["kappa"]), reverse=True)
    ]
    lines, places = {}, {}
    for ratio, kappa in points:
        key = f"ratio{ratio:g}-kappa{kappa:g}"
        part = select(runs, ratio=ratio, kappa=kappa)
        content = {
            d: cell_of(select(part, dataset=d), {VALUE: "valid_balanced_accuracy"})
            for d in datasets
        }
        content[AVERAGE] = average(list(content.values()))
        lines[key] = ([f"{ratio:g}", f"{kappa:g}"], content)
        places[f"r = {ratio:g}, κ = {kappa:g}"] = (key, AVERAGE)
    table = plain_table(
        "Validation balanced accuracy (%) of IUNET by compression ratio r and κ.",
        ["r", "κ"],
        {**{d: dataset_label(d) for d in datasets}, AVERAGE: "Average"},
        lines,
        [SPREAD],
        best_along="column",
    )
    table.notes.append(winner_note(table, places, "r = 8, κ = 0.25", "every data set"))
    return table


def average(cells: list[Cell]) -> Cell:
    """The mean of cells; incomplete if one of them has no value."""
    values = [cell.values[VALUE].mean for cell in cells if VALUE in cell.values]
    if len(values) < len(cells) or not cells:
        return Cell(missing="incomplete")
    return Cell(values={VALUE: Value(sum(values) / len(values))})


def winner_note(
    table: TableDocument, places: dict[str, tuple[str, str]], paper: str, needed: str
) -> str:
    """Which of the places (row and column, by their names) is the best, and the paper's choice."""
    values = {name: table.cell(*place).values.get(VALUE) for name, place in places.items()}
    if not values or None in values.values():
        return f"The averages need {needed}: no winner can be named yet. The paper chose {paper}."
    rounded = {name: round(value.mean, table.decimals) for name, value in values.items()}
    ours = " and ".join(n for n, value in rounded.items() if value == max(rounded.values()))
    same = "the same" if ours == paper else "another"
    return f"Best on average: {ours}. The paper chose {paper}: {same}."


# ---- one setting for all image sets


def search_fixed_ratio(results: Results) -> TableDocument:
    """Do the methods rank the same with one setting for all image sets?

    A row for what was chosen per data set, then one for each setting for all of them.

    The setting is the compression ratio of the methods that have one, and the l1 of β-LASSO.
    Methods without them have the same score in all rows.
    """
    chosen, fixed = of_results(results.runs), of_subnetworks(results.runs)
    methods = chosen["method"].unique()
    lines = {}
    for network in chosen["network"].unique():
        per_set = select(chosen, network=network)
        base = mean_scores(per_set, "test_accuracy").reindex(columns=methods)
        settings = _settings(select(fixed, network=network))
        chose = "chosen per data set"
        with_l1 = any(l1 != NONE for _, _, l1, _ in settings)
        first = ("chosen", chose, chose if with_l1 else NONE, per_set)
        for key, *labels, runs in [first, *settings]:
            varied = runs["method"].unique()
            scores = base.copy()
            scores[varied] = mean_scores(runs, "test_accuracy").reindex(base.index)[varied]
            content = _ranking(scores, base, runs)
            if key == "chosen" and not content["same_order"].missing:
                content["same_order"] = cell(None)
            lines[f"{network}/{key}"] = ([network_label(network), *labels], content)
    columns = {}
    for method in methods:
        label = method_label(method)
        columns |= {method: label, f"{method}_rank": f"Rank of {label}"}
    columns |= {"same_order": "Same ranking", "same_datasets": "Data sets alike"}
    notes = ["Only data sets with a score of every method count in a row.", _note(lines)]
    return plain_table(FIXED_CAPTION, ["Network", "Ratio", "l1 of β-LASSO"], columns, lines, notes)


def _settings(fixed: pd.DataFrame) -> list[tuple[str, str, str, pd.DataFrame]]:
    """Every ratio with every l1: a key, both as labels, and the runs of both.

    The ratio, or the l1, is None if no method has one.
    """
    lasso = fixed["l1"].notna()
    ratios = sorted(fixed[~lasso]["ratio"].dropna().unique()) or [None]
    all_l1 = sorted(fixed[lasso]["l1"].unique()) or [None]
    found = []
    for ratio, l1 in itertools.product(ratios, all_l1):
        values = {"ratio": ratio, "l1_": l1}.items()
        if key := "-".join(f"{name}{v:g}" for name, v in values if v is not None):
            labels = [NONE if v is None else f"{v:g} for all" for v in (ratio, l1)]
            runs = fixed[(~lasso & (fixed["ratio"] == ratio)) | (fixed["l1"] == l1)]
            found.append((key, *labels, runs))
    return found


def _ranking(scores: pd.DataFrame, base: pd.DataFrame, runs: pd.DataFrame) -> dict[str, Cell]:
    """Means and ranks, and whether they are those of `base`.

    A network with a layer that lost all weights has a score, too: a note says so.
    """
    complete = scores.dropna().index.intersection(base.dropna().index)
    cells = {}
    if complete.empty:
        reasons = {
            f"{method_label(method)}: {problem}": None
            for method, part in runs.groupby("method", sort=False)
            for problem in problems_of(part)
        }
        problems = f" ({'; '.join(reasons)})" if reasons else ""
        reason = f"no data set with every method{problems}"
        names = [*(n for m in base for n in (m, f"{m}_rank")), "same_order", "same_datasets"]
        cells = {name: Cell(missing=reason) for name in names}
    else:
        own_ranks, base_ranks = ranks(scores.loc[complete]), ranks(base.loc[complete])
        for method in base:
            cells[method] = cell(scores.loc[complete, method].mean())
            cells[f"{method}_rank"] = cell(own_ranks[method].mean())
        same = own_ranks.mean().rank().equals(base_ranks.mean().rank())
        alike = int((own_ranks == base_ranks).all(axis=1).sum())
        cells["same_order"] = cell("yes" if same else "no")
        cells["same_datasets"] = cell(f"{alike} of {len(complete)}")
    for method in base:
        cells[method].notes += cut_off_notes(select(runs, method=method), of="runs")
    return cells


def _note(lines: dict[str, tuple[list[str], dict[str, Cell]]]) -> str:
    values = [content["same_order"].values.get(VALUE) for _, content in lines.values()]
    answers = [value.text for value in values if value and value.text in ("yes", "no")]
    if not answers:
        return "No fixed setting can be compared yet."
    kept = answers.count("yes")
    return f"The ranking is the same with {kept} of {len(answers)} fixed settings."
