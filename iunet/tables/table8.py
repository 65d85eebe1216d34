"""Table 8: statistics of the vision data sets, compared with the paper's."""

from __future__ import annotations

from iunet.results.collect import Results
from iunet.tables.data_statistics import TABLE8, statistics_table
from iunet.tables.document import TableDocument

TITLE = "Table 8: statistics of the vision data sets"
KIND = "vision"


def build(results: Results) -> TableDocument:
    return statistics_table(8, TABLE8, results.datasets)
