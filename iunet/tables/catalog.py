"""The tables, in the order of the page: for each its title, its function, and the runs it shows.

A table is a function of this package that makes the document from the results. Its module may have

    request(bench)    the runs and files it is made of, if not those of its entry in the config
    settings(bench)   the values of the config that it shows

These modules are imported at every start of Snakemake, so they import pandas inside functions.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from iunet.provenance import digest
from iunet.results.collect import Results
from iunet.results.request import Request, request_digest, request_of
from iunet.runs.entries import Benchmark, Declared, Pairs, why_empty
from iunet.runs.settings import Config
from iunet.tables.document import TableDocument
from iunet.tables.notes import stand_in_text, tuning_notes

# The groups of the page: first the ledger, or the answer for the user's own data; then the paper's
# tables, appendix E.2, what goes beyond the paper, the user's own experiments, and the evidence of
# what is wrong in the paper.
ANSWER = "answer"
CLAIMS, PAPER, SEARCHES, BEYOND = "claims", "paper", "searches", "beyond"
OWN, EVIDENCE = "own", "evidence"


@dataclass(frozen=True)
class TableEntry:
    title: str
    group: str
    function: str  # that makes it, with its module of this package
    kind: str | None = None  # of data, if it is for one kind only
    pairs: Pairs = ()  # its networks and methods, if a config cannot choose them
    key: str | None = None  # the config's entry with its runs, if that has not its name

    @property
    def module(self) -> Any:
        return importlib.import_module(f"iunet.tables.{self.function.partition('.')[0]}")

    def build(self, results: Results) -> TableDocument:
        return getattr(self.module, self.function.partition(".")[2])(results)


TABLES = {
    "claims": TableEntry("The paper's claims", CLAIMS, "claims.build"),
    "table1": TableEntry(
        "Table 1: pruning methods on image data sets", PAPER, "scores.table1", kind="vision"
    ),
    "table2": TableEntry(
        "Table 2: summary of the tabular data sets", PAPER, "table2.build", key="tables.table7"
    ),
    "table3": TableEntry(
        "Table 3: consistency under invariant transforms",
        PAPER,
        "consistency.table3",
        pairs=(
            ("mlp_vis", "dense"),
            ("mlp_vis", "iunet"),
            ("mlp_tab", "dense"),
            ("mlp_tab", "iunet"),
        ),
    ),
    "table4": TableEntry("Table 4: ablations", PAPER, "scores.table4"),
    "table5": TableEntry(
        "Table 5: consistency on all image data sets",
        PAPER,
        "consistency.table5",
        kind="vision",
        pairs=(("mlp_vis", "dense"), ("mlp_vis", "iunet")),
    ),
    "table6": TableEntry(
        "Table 6: pruned MLP against CNN",
        PAPER,
        "scores.table6",
        kind="vision",
        pairs=(("mlp_vis", "dense"), ("mlp_vis", "iunet"), ("cnn", "dense"), ("resnet18", "iunet")),
    ),
    "table7": TableEntry("Table 7: tabular data sets", PAPER, "table7.table7", kind="tabular"),
    "table8": TableEntry(
        "Table 8: statistics of the vision data sets",
        PAPER,
        "data_statistics.table8",
        kind="vision",
    ),
    "table9": TableEntry(
        "Table 9: statistics of the tabular data sets",
        PAPER,
        "data_statistics.table9",
        kind="tabular",
    ),
    "search_lambda": TableEntry(
        "Appendix E.2: the weight λ of the contrastive loss", SEARCHES, "searches.search_lambda"
    ),
    "search_tabular": TableEntry(
        "Appendix E.2: compression ratio and κ on tables",
        SEARCHES,
        "searches.search_tabular",
        kind="tabular",
    ),
    "search_fixed_ratio": TableEntry(
        "Appendix E.2: one compression ratio for all image data sets",
        SEARCHES,
        "searches.search_fixed_ratio",
        kind="vision",
    ),
    "ranking": TableEntry(
        "Ranking of the methods on tabular data", BEYOND, "ranking.build", key="tables.table7"
    ),
    "metrics_tabular": TableEntry(
        "All metrics of the tabular data sets",
        BEYOND,
        "table7.metrics_tabular",
        key="tables.table7",
    ),
    "controls": TableEntry("Controls", BEYOND, "scores.controls"),
    "laziness": TableEntry(
        "Laziness: masks compared with those of the initial weights", BEYOND, "laziness.build"
    ),
    "locality": TableEntry(
        "Locality and selectivity of first-layer masks", BEYOND, "locality.build"
    ),
    "expected_densities": TableEntry(
        "Expected densities of the initial weights", BEYOND, "expected_densities.build"
    ),
    "efficiency": TableEntry(
        "Efficiency: size and speed of dense and pruned networks", BEYOND, "efficiency.build"
    ),
    "cost": TableEntry("Cost of the methods", BEYOND, "cost.build"),
    "metric_problem": TableEntry(
        "The metric of the paper's table 7", EVIDENCE, "metric_problem.build"
    ),
}
# Only for a table or images of the user's own.
OF_OWN_DATA = {
    "best_method": TableEntry("The methods on your data", ANSWER, "best_method.build"),
}


def table_entry(name: str) -> TableEntry:
    """A table of the catalog; any other name is an experiment of the config."""
    experiment = TableEntry(
        f"Experiment {name}", OWN, "experiment.build", key=f"experiments.{name}"
    )
    return (OF_OWN_DATA | TABLES).get(name, experiment)


def table_names(config: Config) -> list[str]:
    """Every table of a config, in the order of the page; the first is for the user's own data."""
    return [*(OF_OWN_DATA if config["own"] else ()), *TABLES, *config["experiments"]]


def declared_tables() -> dict[str, Declared]:
    """The kinds and pairs of the tables, by their keys in the config."""
    return {f"tables.{name}": Declared(e.kind, e.pairs) for name, e in TABLES.items()}


# ---- what a table is made of, from the config alone


def table_key(name: str) -> str:
    """The key in the config of the runs that a table shows."""
    return table_entry(name).key or f"tables.{name}"


def why_table_empty(bench: Benchmark, name: str) -> str | None:
    """Why a table has no data set to show; None if it has one."""
    return why_empty(bench.config, table_key(name))


def table_request(bench: Benchmark, name: str) -> Request:
    """Which runs and files a table is made of: none, if it has no data set."""
    if why_table_empty(bench, name):
        return Request()
    module = table_entry(name).module
    if hasattr(module, "request"):
        return module.request(bench)
    return request_of(bench, table_key(name))


def table_settings(bench: Benchmark, name: str) -> dict[str, Any]:
    """The values of the config that a table shows."""
    module = table_entry(name).module
    if not hasattr(module, "settings") or why_table_empty(bench, name):
        return {}
    return module.settings(bench)


def table_digest(bench: Benchmark, name: str) -> str:
    """A fingerprint of everything that a table is made of, except the content of its files."""
    request = table_request(bench, name)
    texts = [stand_in_text(bench, request.cells), tuning_notes(bench, request.cells)]
    facts = [*texts, table_settings(bench, name), why_table_empty(bench, name)]
    return digest(request_digest(bench, request), facts)
