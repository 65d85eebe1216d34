"""The paper's own tables as frames of runs, so that the rule of verdicts applies to them too.

A mean ± std becomes three made-up seeds with that mean and that spread. For a mean alone they are
equal and `spread` is False: only an interval over data sets can use them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from iunet.tables.consistency import paper_consistency
from iunet.tables.score_tables import MODELS
from iunet.tables.scores import Published, paper_cells
from iunet.tables.table7 import paper_table7

if TYPE_CHECKING:
    import pandas as pd

# Three numbers of mean 0 and standard deviation 1, in two ways that do not correlate: one for
# IUNET, one for what it is compared with, so that a difference has the variance of both.
OURS, THEIRS = (-1.0, 0.0, 1.0), (3**-0.5, -2 * 3**-0.5, 3**-0.5)
VALUES = ("same", "test_primary", "test_accuracy", "test_balanced_accuracy")
PLACE = ("network", "dataset", "method")


@functools.cache
def paper_frames() -> dict[str, pd.DataFrame]:
    """By table, with the columns that claims compare."""
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
