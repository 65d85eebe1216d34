"""What is shown: the files behind tables, figures, runs.csv and the page, and their lineage.

Made from the config alone, at every start of Snakemake: light.
"""

from __future__ import annotations

from functools import cache, cached_property

from iunet.figures.catalog import declared_figures, figure_module, figure_request, figure_titles
from iunet.paper import paper_digest
from iunet.provenance import digest
from iunet.results.request import every_run, files, request_digest
from iunet.runs import paths
from iunet.runs.entries import Benchmark
from iunet.runs.lineage import Lineage, Stage
from iunet.runs.settings import Config
from iunet.runs.stages import STAGES
from iunet.runs.validate import shown_on_page, validate
from iunet.tables.catalog import (
    declared_tables,
    table_digest,
    table_entry,
    table_names,
    table_request,
)


def benchmark(config: Config) -> Benchmark:
    """The benchmark of a config, with what tables and figures declare."""
    return validate(config, declared_tables() | declared_figures())


class Shown:
    """The tables and figures of a benchmark, and what each reads."""

    def __init__(self, bench: Benchmark):
        self.bench = bench
        self.tables = table_names(bench.config)
        self.figures = figure_titles(bench)  # titles by name
        self.page_tables = shown_on_page(bench.config, "tables", self.tables)
        self.page_figures = {
            name: self.figures[name]
            for name in shown_on_page(bench.config, "figures", self.figures)
        }
        self.table_files = cache(lambda name: files(bench, table_request(bench, name)))
        self.figure = cache(lambda name: figure_request(bench, name))

    def figure_files(self, figure: str) -> list[str]:
        return files(self.bench, self.figure(figure))

    @cached_property
    def rows_files(self) -> list[str]:
        return files(self.bench, every_run(self.bench))

    @cached_property
    def page_files(self) -> dict[str, list[str]]:
        """The documents of the page's tables and figures, and the results of every run.

        Also those of methods that no table shows.
        """
        bench = self.bench
        named = dict.fromkeys(path for cell in bench.cells for path in bench.results_of(cell))
        results = [path for path in named if bench.exists(path)]
        return {
            "tables": [bench.path(paths.TABLE_DOCUMENT, table=name) for name in self.page_tables],
            "figures": [bench.path(paths.FIGURE_REPORT, figure=name) for name in self.page_figures],
            "evaluations": [path for path in results if path.endswith("/evaluation.json")],
            "choices": [path for path in results if not path.endswith("/evaluation.json")],
        }

    @cached_property
    def lineage(self) -> Lineage:
        """The lineage of every job of the workflow."""
        return Lineage(self.bench, STAGES | self._stages())

    def _stages(self) -> dict[str, Stage]:
        """The settings and inputs of the rules of the aggregate stage."""
        return {
            "table": Stage(
                {
                    "asked": lambda bench, point: table_digest(bench, point.table),
                    "paper": lambda bench, point: paper_digest(),
                },
                (lambda bench, point: {"files": self.table_files(point.table)},),
                lambda bench, point: table_entry(point.table).module.__name__,
            ),
            "figure": Stage(
                {"asked": lambda bench, point: request_digest(bench, self.figure(point.figure))},
                (lambda bench, point: {"files": self.figure_files(point.figure)},),
                lambda bench, point: figure_module(bench, point.figure),
            ),
            "rows": Stage(
                {"asked": lambda bench, point: request_digest(bench, every_run(bench))},
                (lambda bench, point: {"files": self.rows_files},),
            ),
            "page": Stage(
                {
                    "config": lambda bench, point: digest(bench.config),
                    "figures": lambda bench, point: self.page_figures,
                    "unavailable": lambda bench, point: bench.unavailable_and_used(),
                },
                (lambda bench, point: self.page_files,),
            ),
        }
