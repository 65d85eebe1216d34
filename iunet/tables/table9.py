"""Table 9: statistics of the tabular data sets, beside the paper's."""

from __future__ import annotations

from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.runs.entries import Benchmark
from iunet.tables.data_statistics import TABLE9, statistics_table
from iunet.tables.document import TableDocument

TITLE = "Table 9: statistics of the tabular data sets"
KIND = "tabular"


def request(bench: Benchmark) -> Request:
    """The splits of the data sets, and no run."""
    return Request(datasets=bench.datasets_of_table("table9"))


def build(results: Results) -> TableDocument:
    """The paper's number of features counts the target."""
    datasets = results.datasets.assign(n_features=results.datasets["n_features"] + 1)
    return statistics_table(9, TABLE9, datasets)
