"""The paper's own values, by the keys of row and column, and as frames of runs for the claims."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from iunet.baselines.catalog import LEARNERS
from iunet.labels import method_order
from iunet.paper import paper_table
from iunet.results.collect import is_tabular
from iunet.tables.document import VALUE, PaperValue

if TYPE_CHECKING:
    import pandas as pd

PLACE = ("network", "dataset", "method")
MODELS = {  # the paper's columns by network and method
    ("mlp_vis", "dense"): "mlp_vis",
    ("mlp_vis", "iunet"): "iunet_mlp_vis",
    ("cnn", "dense"): "cnn",
    ("resnet18", "iunet"): "iunet_resnet18",
}
METHODS = method_order(["dense", "omp", "beta_lasso", "iunet", *LEARNERS])  # of table 7

Published = dict[tuple[str, ...], PaperValue]  # by the keys of row and column


def paper_metric(method: str, network: str) -> str:
    """Which of our metrics a method's column of the paper is compared with."""
    if not is_tabular(network):
        return "accuracy"
    return "balanced_accuracy" if method in LEARNERS else "swapped_balanced_accuracy"


def paper_cells(number: int, *keys: str) -> Published:
    """The values of a table of the paper in long form, by the named columns."""
    found = {}
    for row in paper_table(number):
        metric = paper_metric(row.get("method", ""), row.get("network", "mlp_vis"))
        std = float(row["std"]) if row.get("std") else None
        found[tuple(row[key] for key in keys)] = PaperValue(float(row["mean"]), std, metric)
    return found


def paper_table4() -> Published:
    """The paper's table 4, with the ± of table 1 where that has the same run.

    Table 4 gives none for the dense networks; those on images are table 1's.
    """
    published, elsewhere = paper_cells(4, *PLACE), paper_cells(1, *PLACE)
    for key, value in published.items():
        if value.std is None and key in elsewhere and elsewhere[key].mean == value.mean:
            published[key] = elsewhere[key]
    return published


def paper_table7() -> Published:
    """By data set and method; only IUNET has a std."""
    values = {}
    for row in paper_table(7):
        for method in METHODS:
            std = float(row["iunet_std"]) if method == "iunet" else None
            column = "mlp_tab" if method == "dense" else method
            metric = paper_metric(method, "mlp_tab")
            values[row["dataset"], method] = PaperValue(float(row[column]), std, metric)
    return values


def paper_scores() -> pd.DataFrame:
    """The paper's numbers: data sets by methods."""
    import pandas as pd

    series = pd.Series({key: value.mean for key, value in paper_table7().items()})
    return series.unstack()[METHODS]


def paper_consistency(number: int) -> Published:
    """By network, data set, transform and the paper's column."""
    return {
        (row["network"], row["dataset"], row["transform"], of): PaperValue(
            float(row[f"{of}_mean"]), float(row[f"{of}_std"]), VALUE
        )
        for row in paper_table(number)
        for of in ("supernet", "iunet")
    }


# ---- as frames of runs, so that the rule of verdicts applies to them too

# Three numbers of mean 0 and standard deviation 1, in two ways that do not correlate: one for
# IUNET, one for what it is compared with, so that a difference has the variance of both.
OURS, THEIRS = (-1.0, 0.0, 1.0), (3**-0.5, -2 * 3**-0.5, 3**-0.5)
VALUES = ("same", "test_primary", "test_accuracy", "test_balanced_accuracy")


@functools.cache
def paper_frames() -> dict[str, pd.DataFrame]:
    """By table, with the columns that claims compare.

    A mean ± std becomes three made-up seeds with that mean and that spread. For a mean alone they
    are equal and `spread` is False: only an interval over data sets can use them.
    """
    models = {model: place for place, model in MODELS.items()}
    table6 = {
        (models[model][0], dataset, models[model][1]): value
        for (model, dataset), value in paper_cells(6, "model", "dataset").items()
        if models[model] != ("resnet18", "iunet")  # no part of a claim
    }
    consistency = paper_consistency(3) | paper_consistency(5)
    return {
        "table1": _runs(paper_cells(1, *PLACE)),
        "table4": _runs(paper_cells(4, *PLACE)),
        "table5": _runs(consistency, ("network", "dataset", "transform", "method")),
        "table6": _runs(table6),
        "table7": _runs({("mlp_tab", *key): value for key, value in paper_table7().items()}),
    }


def _runs(published: Published, names: tuple[str, ...] = PLACE) -> pd.DataFrame:
    """A row for every made-up seed; `names` are those of the keys."""
    import pandas as pd

    found = []
    for key, value in published.items():
        head = dict.fromkeys(("transform", "distinct_labels", "missing", "failed"))
        head |= dict(zip(names, key, strict=True)) | {"spread": value.std is not None}
        for seed, step in enumerate(OURS if head["method"] == "iunet" else THEIRS):
            score = value.mean + step * (value.std or 0)
            found.append(head | {"seed": seed} | dict.fromkeys(VALUES, score))
    return pd.DataFrame(found)
