"""Table 9: statistics of the tabular data sets, beside the paper's."""

from __future__ import annotations

from iunet.runs.entries import Benchmark
from iunet.tables.ask import PAPER, Ask
from iunet.tables.data_statistics import ask_for_splits, table9
from iunet.tables.document import TableDocument
from iunet.tables.scores import About

TITLE = "Table 9: statistics of the tabular data sets"
GROUP = PAPER
KIND = "tabular"


def asks(bench: Benchmark) -> Ask:
    return ask_for_splits(bench, "table9")


def build(ask: Ask, about: About) -> TableDocument:
    return table9(ask.more, TITLE)
