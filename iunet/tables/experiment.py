"""An experiment of the user's own (`experiments` in the config): its methods on its data sets."""

from __future__ import annotations

from iunet.results.collect import Results
from iunet.results.selection import of_results
from iunet.tables.document import TableDocument
from iunet.tables.scores import primary_table

TITLE = "Experiment"


def build(results: Results) -> TableDocument:
    """Every method at the ratio that was chosen for it."""
    caption = (
        "Images: test accuracy (%), tables: balanced accuracy (%), each method at the ratio that "
        "was chosen for it."
    )
    return primary_table(of_results(results.runs), caption)
