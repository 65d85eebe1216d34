"""Table 3: predictions that stay the same under a transform, on one image set and one table."""

from __future__ import annotations

from iunet.results.collect import Results
from iunet.results.selection import consistency
from iunet.tables.consistency import consistency_table
from iunet.tables.document import TableDocument

TITLE = "Table 3: consistency under invariant transforms"
PAIRS = (
    ("mlp_vis", "dense"),
    ("mlp_vis", "iunet"),
    ("mlp_tab", "dense"),
    ("mlp_tab", "iunet"),
)


def build(results: Results) -> TableDocument:
    return consistency_table(3, consistency(results.runs))
