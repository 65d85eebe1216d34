# The functions by which the rules of tables, figures and the page find their inputs and parameters.

from iunet.page import page_sources
from iunet.paper import paper_digest
from iunet.runs.lineage import made_from
from iunet.study.requests import files_of_rows, row_requests


@cache
def ask_of_table(table):
    return table_ask(BENCH, table)


def table_splits(wildcards):
    """The splits of a table's data sets, whose reports say whether a set is a subset."""
    names = dict.fromkeys(cell.dataset for cell in ask_of_table(wildcards.table).cells)
    files = [BENCH.path(paths.SPLIT_REPORT, dataset=n) for n in names if n not in BENCH.unavailable]
    return [path for path in files if BENCH.exists(path)]


def table_files():
    """A table in all its forms."""
    shown = report(
        f"{paths.TABLE}.html",
        caption="../../reports/captions/table.rst",
        category="Tables",
        labels={"table": "{table}"},
    )
    forms = {"csv": "csv", "markdown": "md", "latex": "tex", "json": "json"}
    return {form: f"{paths.TABLE}.{ending}" for form, ending in forms.items()} | {"html": shown}


@cache
def all_rows():
    return row_requests(BENCH)


@cache
def ask_of_figure(figure):
    return figure_ask(BENCH, figure)


def experiment_files(wildcards):
    """The tables and pictures of the config's experiments, and nothing else."""
    names = list(config["experiments"])
    if not names:
        raise WorkflowError(
            "The config has no experiments: name one under 'experiments', as docs/runs.md shows."
        )
    tables = expand(f"{paths.TABLE}.csv", table=names)
    return tables + expand(f"{paths.FIGURE}.png", figure=names)


def page_runs(stem):
    """Of every run: its evaluations, or the choices, also of methods that no table shows."""
    files = dict.fromkeys(path for cell in BENCH.cells for path in BENCH.results_of(cell))
    return [path for path in files if BENCH.exists(path) and Path(path).name.startswith(stem)]


def config_name():
    """The config files, the default first; paths as a reader of the page can follow them."""
    files = dict.fromkeys(Path(path).absolute() for path in reversed(workflow.configfiles))
    roots = (Path.cwd(), PROJECT)
    return ", ".join(
        str(next((p.relative_to(r) for r in roots if r in p.parents), p)) for p in files
    )


# ---- what they stand on: the jobs behind the files that they read


LINEAGE.stages |= {
    "table": made_from(
        lambda point: [*ask_of_table(point.table).inputs(), *table_splits(point)],
        {
            "asked": lambda point: ask_of_table(point.table).digest(),
            "about": lambda point: about_cells(BENCH, ask_of_table(point.table).cells),
            "paper": lambda point: paper_digest(),
        },
        lambda point: table_module(point.table).__name__,
    ),
    "figure": made_from(
        lambda point: ask_of_figure(point.figure).inputs(),
        {"asked": lambda point: ask_of_figure(point.figure).digest()},
        lambda point: ask_of_figure(point.figure).module,
    ),
    "rows": made_from(
        lambda point: files_of_rows(all_rows()), {"asked": lambda point: digest(all_rows())}
    ),
    "page": made_from(
        lambda point: [
            *expand(paths.TABLE_DOCUMENT, table=SHOWN_TABLES),
            *expand(paths.FIGURE_REPORT, figure=SHOWN_FIGURES),
            *page_runs("evaluation"),
            *page_runs("choice"),
        ],
        {
            "config_name": lambda point: config_name(),
            "config": lambda point: digest(config),
            "figures": lambda point: SHOWN_FIGURES,
            "unavailable": lambda point: BENCH.unavailable_and_used(),
        },
    ),
}
