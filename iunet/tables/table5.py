"""Table 5: predictions that stay the same under a transform, on all image sets."""

from __future__ import annotations

from iunet.runs.entries import Benchmark
from iunet.runs.requests import run_requests
from iunet.tables.ask import PAPER, Ask
from iunet.tables.consistency import consistency_table
from iunet.tables.document import TableDocument
from iunet.tables.frame import read_consistency
from iunet.tables.scores import About

TITLE = "Table 5: consistency on all image data sets"
GROUP = PAPER
KIND = "vision"
PAIRS = (("mlp_vis", "dense"), ("mlp_vis", "iunet"))


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.table5")
    return Ask(cells, run_requests(bench, cells, supernets=True))


def build(ask: Ask, about: About) -> TableDocument:
    return consistency_table(5, TITLE, read_consistency(ask.requests), about)
