"""Table 3: predictions that stay the same under a transform, on one image set and one table."""

from __future__ import annotations

from iunet.runs.entries import Benchmark
from iunet.runs.requests import run_requests
from iunet.tables.ask import PAPER, Ask
from iunet.tables.consistency import consistency_table
from iunet.tables.document import TableDocument
from iunet.tables.frame import read_consistency
from iunet.tables.scores import About

TITLE = "Table 3: consistency under invariant transforms"
GROUP = PAPER
PAIRS = (
    ("mlp_vis", "dense"),
    ("mlp_vis", "iunet"),
    ("mlp_tab", "dense"),
    ("mlp_tab", "iunet"),
)


def asks(bench: Benchmark) -> Ask:
    cells = bench.cells_of("tables.table3")
    return Ask(cells, run_requests(bench, cells, supernets=True))


def build(ask: Ask, about: About) -> TableDocument:
    return consistency_table(3, TITLE, read_consistency(ask.requests), about)
