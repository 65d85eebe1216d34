"""A table without a data set, which says why."""

from __future__ import annotations

from iunet.tables.document import VALUE, TableDocument


def empty_table(name: str, title: str, why: str) -> TableDocument:
    return TableDocument(
        id=name,
        title=title,
        caption=why,
        row_header=["Dataset"],
        rows=[],
        columns=[],
        metrics=[VALUE],
        default_metric=VALUE,
        cells={},
    )
