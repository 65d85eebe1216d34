"""Appendix E.2: the weight λ of the contrastive loss, and compression ratio and κ on tables.

Choices are made on validation data.
"""

from __future__ import annotations

from iunet.labels import dataset_label, network_label
from iunet.results.collect import Results
from iunet.results.selection import METHOD, of_results, of_subnetworks
from iunet.tables.cells import cell_of, in_order, plain_table, select
from iunet.tables.document import VALUE, Cell, TableDocument, Value

AVERAGE = "average"
SPREAD = "Mean ± sample standard deviation over seeds; the best is bold."
LAMBDA_CAPTION = (
    "Validation score (%) of IUNET by λ: accuracy on images, balanced accuracy on tables."
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
    datasets = in_order(runs["dataset"])
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
