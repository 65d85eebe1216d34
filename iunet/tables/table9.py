"""Table 9: statistics of the tabular data sets, compared with the paper's."""

from __future__ import annotations

from iunet.results.collect import Results
from iunet.tables.data_statistics import TABLE9, statistics_table
from iunet.tables.document import TableDocument

TITLE = "Table 9: statistics of the tabular data sets"
KIND = "tabular"


def build(results: Results) -> TableDocument:
    """The paper's number of features counts the target."""
    datasets = results.datasets.assign(n_features=results.datasets["n_features"] + 1)
    return statistics_table(9, TABLE9, datasets)
