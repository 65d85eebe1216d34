# aggregate: tables, figures and the page, from what the runs left behind. What each is made of is said
# in its own module (iunet/tables/, iunet/figures/).


rule table:
    input:
        lambda wildcards: files_of_table(wildcards.table),
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
        **job_params("table"),
    message:
        "{wildcards.table}"
    script:
        "../scripts/table.py"


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
        **job_params("figure"),
        ask=lambda wildcards, input: ask_of_figure(wildcards.figure).plain(),
    message:
        "{wildcards.figure}"
    script:
        "../scripts/figure.py"


rule rows:
    input:
        lambda wildcards: files_of_rows(),
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
        *code("rows"),
        **job_params("rows"),
    message:
        "Every run as a row: {output}"
    script:
        "../scripts/rows.py"


rule page:
    input:
        tables=expand(paths.TABLE_DOCUMENT, table=SHOWN_TABLES),
        figures=expand(paths.FIGURE_REPORT, figure=SHOWN_FIGURES),
        png=expand(f"{paths.FIGURE}.png", figure=SHOWN_FIGURES),
        pdf=expand(f"{paths.FIGURE}.pdf", figure=SHOWN_FIGURES),
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
        **job_params("page"),
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
