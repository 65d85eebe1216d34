"""What is made of table 7: the paper's table 2, and the ranking of the methods."""

from __future__ import annotations

from typing import Any

from iunet.artifacts import write_json
from iunet.tables.document import read_document
from iunet.tables.ranking import ranking_document
from iunet.tables.render.forms import write_table
from iunet.tables.scores import About
from iunet.tables.tabular import table2


def make_table2(table7: str, about: dict[str, Any], output: dict[str, str]) -> None:
    write_table(table2(read_document(table7), About(**about)), output)


def make_ranking(table7: str, about: dict[str, Any], output: dict[str, str]) -> None:
    """The table, and under `ranks` the numbers behind it, for the diagram."""
    document, ranking = ranking_document(read_document(table7), about=About(**about))
    write_json(output.pop("ranks"), ranking.to_json())
    write_table(document, output)
