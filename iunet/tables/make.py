"""One function from requests to a written table, for every table that is made of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iunet.artifacts import read_json
from iunet.tables.ablation import table4
from iunet.tables.appendix import tuning_fixed_ratio, tuning_lambda, tuning_tabular
from iunet.tables.consistency import table3, table5
from iunet.tables.cost import cost, read_costs
from iunet.tables.data_statistics import subset_text
from iunet.tables.document import TableDocument
from iunet.tables.efficiency import efficiency
from iunet.tables.frame import read_consistency, read_runs
from iunet.tables.render.forms import write_table
from iunet.tables.scores import About
from iunet.tables.tabular import metrics_tabular, table7
from iunet.tables.vision import table1, table6

SUBSET = "subset"
Requests = list[dict[str, Any]]
# A table from its requests, from what else it is made of, and from what it says beside numbers.
TABLES: dict[str, Callable[[Requests, dict[str, Any], About], TableDocument]] = {
    "table1": lambda runs, more, about: table1(read_runs(runs), about),
    "table3": lambda runs, more, about: table3(read_consistency(runs), about),
    "table4": lambda runs, more, about: table4(read_runs(runs), about),
    "table5": lambda runs, more, about: table5(read_consistency(runs), about),
    "table6": lambda runs, more, about: table6(read_runs(runs), about),
    "table7": lambda runs, more, about: table7(read_runs(runs), about),
    "metrics_tabular": lambda runs, more, about: metrics_tabular(read_runs(runs), about),
    "tuning_lambda": lambda runs, more, about: tuning_lambda(
        read_runs(runs), more["lambdas"], about
    ),
    "tuning_tabular": lambda runs, more, about: tuning_tabular(
        read_runs(runs), more["kappas"], about
    ),
    "tuning_fixed_ratio": lambda runs, more, about: tuning_fixed_ratio(
        read_runs(more["fixed"]), read_runs(runs), about
    ),
    "efficiency": lambda runs, more, about: efficiency(
        read_runs(runs), [read_json(path) for path in more["measures"]], about
    ),
    "cost": lambda runs, more, about: cost(read_costs(runs), about),
}


def make_table(
    name: str,
    requests: Requests,
    more: dict[str, Any],
    about: dict[str, Any],
    splits: list[str],
    output: dict[str, str],
) -> None:
    said = About(**about, row_notes=subset_notes(splits))
    document = TABLES[name](requests, more, said)
    for row in document.rows:
        if any(note.startswith(SUBSET) for note in row.notes):
            leave_unjudged(document, row.key)
    write_table(document, output)


def leave_unjudged(document: TableDocument, row: str) -> None:
    """Scores on a part of a data set neither agree with the paper's nor contradict them."""
    for cell in document.cells[row].values():
        cell.agrees = cell.agrees and "n/a"


def subset_notes(splits: list[str]) -> dict[str, list[str]]:
    """Which data sets are only a part of the official ones: their scores compare with nothing."""
    notes = {}
    for split in map(read_json, splits):
        if subset := subset_text(split["provenance"].get("subset")):
            notes[split["dataset"]] = [f"{SUBSET}: {subset}"]
    return notes
