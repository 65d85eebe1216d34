"""An experiment of the user's own (`experiments` in the config): its methods on its data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iunet.labels import method_label
from iunet.results.collect import Results
from iunet.results.selection import of_results
from iunet.tables.document import TableDocument
from iunet.tables.render.view import number_text
from iunet.tables.scores import PRIMARY, score_table

if TYPE_CHECKING:
    import pandas as pd

CAPTION = (
    "Images: test accuracy (%), tables: balanced accuracy (%), each method at the ratio that "
    "was chosen for it."
)
NOTE = "Differences are in points, between runs of one seed."
TUNED = "tuned"
PLACE = ["dataset", "network", "seed"]


def build(results: Results) -> TableDocument:
    """Every method, in the config's order, and its difference to the first one."""
    runs = _learners_in_rows_of_networks(of_results(results.runs))
    first, *others = runs["method"].unique()
    gaps = {method: f"{method}-{first}" for method in others}
    labels = {first: method_label(first)}
    for method, gap in gaps.items():
        labels |= {method: method_label(method), gap: f"{method_label(method)} − {labels[first]}"}
    found = score_table(
        _with_differences(runs, first, gaps),
        CAPTION,
        PRIMARY,
        labels,
        notes=[NOTE] * bool(gaps),
        best_among=[[first, *others]],
    )
    for row in found.cells.values():
        for value in (value for gap in gaps.values() for value in row[gap].values.values()):
            value.text = number_text(value.mean, found.decimals, sign=True)
    return found


def _learners_in_rows_of_networks(runs: pd.DataFrame) -> pd.DataFrame:
    """A tuned learner is in the row of its data set's network; with several, in one of its own."""
    tuned = runs["stage"] == "tuned"
    networks = runs[~tuned].groupby("dataset")["network"].agg(["first", "nunique"])
    only = networks.loc[networks["nunique"] == 1, "first"].to_dict()
    rows = runs["dataset"].map(lambda dataset: only.get(dataset, TUNED))
    return runs.assign(network=runs["network"].where(~tuned, rows))


def _with_differences(runs: pd.DataFrame, first: str, gaps: dict[str, str]) -> pd.DataFrame:
    """The runs, and as further methods the differences of their scores to the first method's."""
    import pandas as pd

    scores, reasons = [f"test_{metric}" for metric in PRIMARY], ["missing", "failed"]
    by_place = runs.set_index(PLACE)
    parts = dict(iter(by_place.groupby("method")[[*scores, *reasons]]))
    found = [runs]
    for method, gap in gaps.items():
        ours, theirs = parts[method].align(parts[first], join="inner", axis=0)
        difference = ours[scores] - theirs[scores]
        why = ours[reasons].where(ours[reasons].notna(), theirs[reasons])
        found.append(difference.join(why).assign(method=gap).reset_index())
    return pd.concat(found, ignore_index=True)
