"""Appendix E.2: the searches for λ and for the tabular ratio and κ, and one ratio for all images.

These choices are made on validation data; only the last check looks at test scores.
"""

from __future__ import annotations

import pandas as pd

from iunet.labels import dataset_label, method_label, network_label
from iunet.tables.ablation import with_primary
from iunet.tables.cells import cell_of, in_order, select, summarise
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value, mark_best
from iunet.tables.names import stand_in_text
from iunet.tables.scores import About

PAPER_LAMBDA = 1.0
PAPER_POINT = (8.0, 0.25)  # compression ratio and κ
AVERAGE = "average"
SPREAD = "Mean ± sample standard deviation over seeds; the best is bold."


def tuning_lambda(
    frame: pd.DataFrame, lambdas: dict[str, float], about: About | None = None
) -> TableDocument:
    """Validation scores by λ; `lambdas` says the λ of each method of the frame."""
    about = about or About()
    frame = with_primary(frame).assign(column=frame["method"].map(lambdas))
    columns = [Column(f"lambda{v:g}", f"λ = {v:g}") for v in sorted(set(lambdas.values()))]
    rows, cells = [], {}
    for network in in_order(frame["network"]):
        for dataset in in_order(select(frame, network=network)["dataset"]):
            key = f"{network}/{dataset}"
            rows.append(
                Row(key, [network_label(network), dataset_label(dataset)], about.of(dataset))
            )
            part = select(frame, network=network, dataset=dataset)
            cells[key] = {
                column.key: cell_of(select(part, column=value), {VALUE: "valid_primary"})
                for column, value in zip(columns, sorted(set(lambdas.values())), strict=True)
            }
    rows.append(Row(AVERAGE, ["", "average"]))
    cells[AVERAGE] = {c.key: average([cells[r.key][c.key] for r in rows[:-1]]) for c in columns}
    table = _document(
        "tuning_lambda",
        "Appendix E.2: the weight λ of the contrastive loss",
        "Validation score (%) of IUNET by λ: accuracy on images, balanced accuracy on tables.",
        ["Network", "Dataset"],
        rows,
        columns,
        cells,
        about,
    )
    mark_best(table)
    winner = winners(table, [(AVERAGE, column.key) for column in columns])
    labels = {column.key: column.label for column in columns}
    names = " and ".join(labels[column] for _, column in winner)
    table.notes.append(_verdict(names, f"λ = {PAPER_LAMBDA:g}", "every data set and λ"))
    return table


def tuning_tabular(
    frame: pd.DataFrame, kappas: dict[str, float], about: About | None = None
) -> TableDocument:
    """Validation balanced accuracy by ratio and κ; `kappas` says the κ of each method."""
    about = about or About()
    frame = frame.assign(kappa=frame["method"].map(kappas))
    datasets = in_order(frame["dataset"])
    columns = [*(Column(d, dataset_label(d)) for d in datasets), Column(AVERAGE, "Average")]
    rows, cells = [], {}
    for ratio in sorted(frame["ratio"].dropna().unique()):
        for kappa in sorted(set(kappas.values()), reverse=True):
            key = _point(ratio, kappa)
            rows.append(Row(key, [f"{ratio:g}", f"{kappa:g}"]))
            part = select(frame, ratio=ratio, kappa=kappa)
            cells[key] = {
                d: cell_of(select(part, dataset=d), {VALUE: "valid_balanced_accuracy"})
                for d in datasets
            }
            cells[key][AVERAGE] = average(list(cells[key].values()))
    table = _document(
        "tuning_tabular",
        "Appendix E.2: compression ratio and κ on tables",
        "Validation balanced accuracy (%) of IUNET by compression ratio r and κ.",
        ["r", "κ"],
        rows,
        columns,
        cells,
        about,
        best_along="column",
    )
    mark_best(table)
    best = winners(table, [(row.key, AVERAGE) for row in rows])
    names = " and ".join(_point_text(key) for key, _ in best)
    table.notes.append(_verdict(names, _point_text(_point(*PAPER_POINT)), "every data set"))
    return table


def tuning_fixed_ratio(
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
    table = _document(
        "tuning_fixed_ratio",
        "Appendix E.2: one compression ratio for all image data sets",
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


def average(cells: list[Cell]) -> Cell:
    """The mean of cells; incomplete if one of them has no value."""
    values = [cell.values[VALUE].mean for cell in cells if VALUE in cell.values]
    if len(values) < len(cells) or not cells:
        return Cell(missing="incomplete")
    return Cell(values={VALUE: Value(sum(values) / len(values))})


def winners(table: TableDocument, places: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The places whose value is the best of them; none if one has no value."""
    values = [table.cell(*place).values.get(VALUE) for place in places]
    if not values or any(value is None for value in values):
        return []
    best = max(round(value.mean, table.decimals) for value in values)
    return [p for p, v in zip(places, values, strict=True) if round(v.mean, table.decimals) == best]


def _verdict(ours: str, paper: str, needed: str) -> str:
    if not ours:
        return f"The averages need {needed}: no winner can be named yet. The paper chose {paper}."
    same = "the same" if ours == paper else "another"
    return f"Best on average: {ours}. The paper chose {paper}: {same}."


def _point(ratio: float, kappa: float) -> str:
    return f"ratio{ratio:g}-kappa{kappa:g}"


def _point_text(key: str) -> str:
    return key.replace("ratio", "r = ").replace("-kappa", ", κ = ")


def _scores(frame: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Mean test accuracy: data sets by methods."""
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


def _document(
    id: str,
    title: str,
    caption: str,
    row_header: list[str],
    rows: list[Row],
    columns: list[Column],
    cells: dict[str, dict[str, Cell]],
    about: About,
    best_along: str = "row",
) -> TableDocument:
    return TableDocument(
        id=id,
        title=title,
        caption=caption + stand_in_text(about.stand_ins),
        row_header=row_header,
        rows=rows,
        columns=columns,
        metrics=[VALUE],
        default_metric=VALUE,
        cells=cells,
        notes=[SPREAD, *(about.notes or [])],
        best_along=best_along,
    )
