"""Table 5: predictions that stay the same under a transform, on all image sets."""

from __future__ import annotations

from iunet.results.collect import Results
from iunet.results.selection import consistency
from iunet.tables.consistency import consistency_table
from iunet.tables.document import TableDocument

TITLE = "Table 5: consistency on all image data sets"
KIND = "vision"
PAIRS = (("mlp_vis", "dense"), ("mlp_vis", "iunet"))


def build(results: Results) -> TableDocument:
    return consistency_table(5, consistency(results.runs))
