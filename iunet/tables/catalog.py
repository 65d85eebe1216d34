"""The tables, in the order of the page. A table is one module of this package:

    TITLE, GROUP       what it is called, and where it stands on the page (iunet/tables/ask.py)
    KIND, PAIRS        if it is for one kind of data only, or fixes its networks and methods
    MADE_FROM          if it shows the runs of another table
    asks(bench)        what it is made of (`Ask`), from the config alone
    build(ask, about)  the table document, in the table's own job

Imported at every start of Snakemake, so tables import pandas inside of functions.

An experiment of the config is a table too, named as it is; all of them are made by one module.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from iunet.runs.entries import Benchmark, Declared
    from iunet.runs.settings import Config
    from iunet.tables.ask import Ask
    from iunet.tables.document import TableDocument
    from iunet.tables.scores import About

TABLES = (
    "claims",
    *(f"table{number}" for number in range(1, 10)),
    "search_lambda",
    "search_tabular",
    "search_fixed_ratio",
    "ranking",
    "metrics_tabular",
    "controls",
    "laziness",
    "locality",
    "expected_densities",
    "efficiency",
    "cost",
    "metric_problem",
)


class Table(Protocol):
    """What a module of a table has."""

    TITLE: str
    GROUP: str

    @staticmethod
    def asks(bench: Benchmark) -> Ask: ...

    @staticmethod
    def build(ask: Ask, about: About) -> TableDocument: ...


def table_module(name: str) -> Any:
    """The module of a table; what is none of these is an experiment of the config."""
    return importlib.import_module(f"iunet.tables.{name if name in TABLES else 'experiment'}")


def table_names(config: Config) -> list[str]:
    """Every table of a config, in the order of the page."""
    return [*TABLES, *config["experiments"]]


def table_ask(bench: Benchmark, name: str) -> Ask:
    """What a table is made of: nothing, but the reason, if it has no data set."""
    from iunet.runs.entries import why_empty
    from iunet.tables.ask import Ask

    module = table_module(name)
    own = name not in TABLES
    made_from = getattr(module, "MADE_FROM", name)
    if why := why_empty(bench.config, f"{'experiments' if own else 'tables'}.{made_from}"):
        return Ask(more={"empty": why})
    return module.asks(bench, name) if own else module.asks(bench)


def declared_tables() -> dict[str, Declared]:
    """What the tables say of themselves, by their keys in the config."""
    from iunet.runs.entries import Declared

    modules = {f"tables.{name}": table_module(name) for name in TABLES}
    return {
        key: Declared(getattr(module, "KIND", None), getattr(module, "PAIRS", ()))
        for key, module in modules.items()
    }


def table_attribute(constant: str) -> dict[str, Any]:
    """KIND or PAIRS of those tables that have it, by their keys in the config."""
    modules = {f"tables.{name}": table_module(name) for name in TABLES}
    return {k: getattr(m, constant) for k, m in modules.items() if hasattr(m, constant)}
