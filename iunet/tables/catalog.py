"""The tables, in the order of the page. A table is one module of this package, with:

    TITLE             its title
    KIND              optional: the one kind of data that it is for
    PAIRS             optional: its networks and methods, if a config cannot choose them
    ENTRY             optional: the table with the entry of the config that it shows
    request(bench)    optional: the runs and files it is made of, if not those of its entry
    settings(bench)   optional: the values of the config that it shows
    build(results)    the table document; called in the table's own job

These modules are imported at every start of Snakemake, so they import pandas inside functions.

Every experiment of the config is a table too, with the experiment's name, made by one module.
"""

from __future__ import annotations

import importlib
from typing import Any

from iunet.provenance import digest
from iunet.results.request import Request, request_digest, request_of
from iunet.runs.entries import Benchmark, Declared, why_empty
from iunet.runs.settings import Config
from iunet.tables.notes import stand_in_text, tuning_notes

# The groups of the page: first the ledger, or the answer for the user's own data; then the paper's
# tables, appendix E.2, what goes beyond the paper, the user's own experiments, and the evidence of
# what is wrong in the paper.
ANSWER = "answer"
CLAIMS, PAPER, SEARCHES, BEYOND = "claims", "paper", "searches", "beyond"
OWN, EVIDENCE = "own", "evidence"
TABLES = {
    "claims": CLAIMS,
    **{f"table{number}": PAPER for number in range(1, 10)},
    "search_lambda": SEARCHES,
    "search_tabular": SEARCHES,
    "search_fixed_ratio": SEARCHES,
    "ranking": BEYOND,
    "metrics_tabular": BEYOND,
    "controls": BEYOND,
    "laziness": BEYOND,
    "locality": BEYOND,
    "expected_densities": BEYOND,
    "efficiency": BEYOND,
    "cost": BEYOND,
    "metric_problem": EVIDENCE,
}

OF_OWN_DATA = {"best_method": ANSWER}  # only for a table or images of the user's own


def table_module(name: str) -> Any:
    """The module of a table; any other name is an experiment of the config."""
    known = name in OF_OWN_DATA | TABLES
    return importlib.import_module(f"iunet.tables.{name if known else 'experiment'}")


def table_group(name: str) -> str:
    """The group of a table on the page."""
    return (OF_OWN_DATA | TABLES).get(name, OWN)


def table_title(name: str) -> str:
    title = table_module(name).TITLE
    return f"{title} {name}" if table_group(name) == OWN else title


def table_names(config: Config) -> list[str]:
    """Every table of a config, in the order of the page; the first is for the user's own data."""
    return [*(OF_OWN_DATA if config["own"] else ()), *TABLES, *config["experiments"]]


def declared_tables() -> dict[str, Declared]:
    """The kinds and pairs of the tables, by their keys in the config."""
    modules = {f"tables.{name}": table_module(name) for name in TABLES}
    return {
        key: Declared(getattr(module, "KIND", None), getattr(module, "PAIRS", ()))
        for key, module in modules.items()
    }


# ---- what a table is made of, from the config alone


def entry_of(name: str) -> str:
    """The key in the config of the runs that a table shows."""
    if table_group(name) == OWN:
        return f"experiments.{name}"
    return f"tables.{getattr(table_module(name), 'ENTRY', name)}"


def why_table_empty(bench: Benchmark, name: str) -> str | None:
    """Why a table has no data set to show; None if it has one."""
    return why_empty(bench.config, entry_of(name))


def table_request(bench: Benchmark, name: str) -> Request:
    """Which runs and files a table is made of: none, if it has no data set."""
    if why_table_empty(bench, name):
        return Request()
    module = table_module(name)
    if hasattr(module, "request"):
        return module.request(bench)
    return request_of(bench, entry_of(name))


def table_settings(bench: Benchmark, name: str) -> dict[str, Any]:
    """The values of the config that a table shows."""
    module = table_module(name)
    if not hasattr(module, "settings") or why_table_empty(bench, name):
        return {}
    return module.settings(bench)


def table_digest(bench: Benchmark, name: str) -> str:
    """A fingerprint of everything that a table is made of, except the content of its files."""
    request = table_request(bench, name)
    texts = [stand_in_text(bench, request.cells), tuning_notes(bench, request.cells)]
    facts = [*texts, table_settings(bench, name), why_table_empty(bench, name)]
    return digest(request_digest(bench, request), facts)
