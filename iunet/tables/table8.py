"""Table 8: statistics of the vision data sets, beside the paper's."""

from __future__ import annotations

from iunet.runs.entries import Benchmark
from iunet.tables.ask import PAPER, Ask
from iunet.tables.data_statistics import ask_for_splits, table8
from iunet.tables.document import TableDocument
from iunet.tables.scores import About

TITLE = "Table 8: statistics of the vision data sets"
GROUP = PAPER
KIND = "vision"


def asks(bench: Benchmark) -> Ask:
    return ask_for_splits(bench, "table8")


def build(ask: Ask, about: About) -> TableDocument:
    return table8(ask.more, TITLE)
