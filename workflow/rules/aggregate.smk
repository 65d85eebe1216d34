# aggregate: tables, figures and the page, from the results of the runs. The module of a table or figure
# (iunet/tables/, iunet/figures/) says what it is made of.

from iunet.page import page_sources


rule table:
    input:
        lambda wildcards: SHOWN.table_files(wildcards.table),
    output:
        csv=f"{paths.TABLE}.csv",
        markdown=f"{paths.TABLE}.md",
        latex=f"{paths.TABLE}.tex",
        json=paths.TABLE_DOCUMENT,
        html=report(
            f"{paths.TABLE}.html",
            caption="../../reports/captions/table.rst",
            category="Tables",
            labels={"table": "{table}"},
        ),
    log:
        "<logs>/tables/{table}.log",
    benchmark:
        "<benchmarks>/tables/{table}.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        **job_params("table"),
    message:
        "{wildcards.table}"
    script:
        "../scripts/table.py"


rule figure:
    input:
        lambda wildcards: SHOWN.figure_files(wildcards.figure),
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
        **job_params("figure"),
    message:
        "{wildcards.figure}"
    script:
        "../scripts/figure.py"


rule rows:
    input:
        lambda wildcards: SHOWN.rows_files,
    output:
        paths.ROWS,
    log:
        "<logs>/rows/rows.log",
    benchmark:
        "<benchmarks>/rows/rows.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        **job_params("rows"),
    message:
        "Every run as a row: {output}"
    script:
        "../scripts/rows.py"


rule page:
    input:
        **SHOWN.page_files,
        png=expand(f"{paths.FIGURE}.png", figure=SHOWN.page_figures),
        pdf=expand(f"{paths.FIGURE}.pdf", figure=SHOWN.page_figures),
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
        **job_params("page"),
        config_name=config_name(),
        benchmarks=f"{config['results']}/benchmarks",
    message:
        "The report: {output}"
    script:
        "../scripts/page.py"


rule experiments:
    input:
        experiment_files,
    localrule: True
    message:
        "All experiments of the config are run"
