# aggregate: tables, figures and the page, from what the runs left behind. What each is made of is said
# in its own module (iunet/tables/, iunet/figures/).

from iunet.page.sources import page_sources
from iunet.paper import paper_digest

PAPER = digest(*(paper_digest(number) for number in range(1, 10)))


@cache
def table_ask(table):
    return table_module(table).asks(BENCH)


def table_splits(wildcards):
    """The splits of a table's data sets, whose reports say whether a set is a subset."""
    names = dict.fromkeys(cell.dataset for cell in table_ask(wildcards.table).cells)
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


rule table:
    input:
        runs=lambda wildcards: table_ask(wildcards.table).inputs(),
        splits=table_splits,
    output:
        **table_files(),
    log:
        "<logs>/tables/{table}.log",
    benchmark:
        "<benchmarks>/tables/{table}.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        *code("table"),
        lambda wildcards: ", ".join(code_lines(f"iunet.tables.{wildcards.table}")),
        **provenance("table"),
        # The whole of it is too long to be compared by Snakemake, so it compares a digest.
        ask=lambda wildcards, input: table_ask(wildcards.table).plain(),
        asked=lambda wildcards: table_ask(wildcards.table).digest(),
        about=lambda wildcards: about_cells(BENCH, table_ask(wildcards.table).cells),
        paper=PAPER,
    message:
        "{wildcards.table}"
    script:
        "../scripts/table.py"


@cache
def ask_of_figure(figure):
    return figure_ask(BENCH, figure)


rule figure:
    input:
        lambda wildcards: ask_of_figure(wildcards.figure).inputs(),
    output:
        png=report(
            f"{paths.FIGURE}.png",
            caption="../../reports/captions/figure.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
        pdf=f"{paths.FIGURE}.pdf",
        csv=f"{paths.FIGURE}.csv",
        json=paths.FIGURE_REPORT,
    log:
        "<logs>/figures/{figure}.log",
    benchmark:
        "<benchmarks>/figures/{figure}.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        *code("figure"),
        lambda wildcards: ", ".join(code_lines(ask_of_figure(wildcards.figure).module)),
        **provenance("figure"),
        ask=lambda wildcards, input: ask_of_figure(wildcards.figure).plain(),
        asked=lambda wildcards: ask_of_figure(wildcards.figure).digest(),
    message:
        "{wildcards.figure}"
    script:
        "../scripts/figure.py"


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


rule page:
    input:
        tables=expand(paths.TABLE_DOCUMENT, table=TABLES),
        figures=expand(paths.FIGURE_REPORT, figure=figure_titles(BENCH)),
        png=expand(f"{paths.FIGURE}.png", figure=figure_titles(BENCH)),
        pdf=expand(f"{paths.FIGURE}.pdf", figure=figure_titles(BENCH)),
        evaluations=page_runs("evaluation"),
        choices=page_runs("choice"),
        sources=page_sources(PROJECT),
    output:
        report(
            paths.PAGE,
            caption="../../reports/captions/page.rst",
            category="Report",
            labels={"page": "all tables and figures"},
        ),
    log:
        "<logs>/report/page.log",
    benchmark:
        "<benchmarks>/report/page.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        *code("page"),
        **provenance("page"),
        config_name=config_name(),
        config=digest(config),
        figures=figure_titles(BENCH),
        unavailable=BENCH.unavailable_and_used(),
        benchmarks=f"{config['results']}/benchmarks",
    message:
        "The report: {output}"
    script:
        "../scripts/page.py"
