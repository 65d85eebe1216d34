# aggregate: the paper's tables and the report, from what the runs left behind.


rule table:
    input:
        runs=table_inputs,
        splits=table_splits,
    output:
        **table_files("{table}"),
    log:
        "<logs>/tables/{table}.log",
    benchmark:
        "<benchmarks>/tables/{table}.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        upstream=table_id,
        requests=table_requests,
        more=table_more,
        about=table_about,
        paper=PAPER,
        code=science_version("iunet.tables.make"),
    message:
        "{wildcards.table}"
    script:
        "../scripts/table.py"


rule table2:
    input:
        table7="<results>/tables/table7.json",
    output:
        **table_files("table2", "table2"),
    log:
        "<logs>/tables/table2.log",
    benchmark:
        "<benchmarks>/tables/table2.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        upstream=table7_id,
        about=table7_about,
        paper=PAPER,
        code=science_version("iunet.tables.rankings"),
    message:
        "Table 2: the methods over all tabular data sets"
    script:
        "../scripts/table2.py"


rule ranking:
    input:
        table7="<results>/tables/table7.json",
    output:
        **table_files("ranking", "ranking"),
        ranks="<results>/tables/ranks.json",
    log:
        "<logs>/tables/ranking.log",
    benchmark:
        "<benchmarks>/tables/ranking.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        upstream=table7_id,
        about=table7_about,
        code=science_version("iunet.tables.rankings"),
    message:
        "Ranks of the methods and their differences"
    script:
        "../scripts/ranking.py"


rule table8:
    input:
        splits=splits_of_table("table8"),
    output:
        **table_files("table8", "table8"),
    log:
        "<logs>/tables/table8.log",
    benchmark:
        "<benchmarks>/tables/table8.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        **split_statistics("table8"),
        paper=paper_digest(8),
        code=science_version("iunet.tables.data_statistics"),
    message:
        "Table 8: statistics of the vision data sets"
    script:
        "../scripts/table8.py"


rule table9:
    input:
        splits=splits_of_table("table9"),
    output:
        **table_files("table9", "table9"),
    log:
        "<logs>/tables/table9.log",
    benchmark:
        "<benchmarks>/tables/table9.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        **split_statistics("table9"),
        paper=paper_digest(9),
        code=science_version("iunet.tables.data_statistics"),
    message:
        "Table 9: statistics of the tabular data sets"
    script:
        "../scripts/table9.py"


rule metric_problem:
    output:
        **table_files("metric_problem", "what table 7 of the paper measures"),
    log:
        "<logs>/tables/metric_problem.log",
    benchmark:
        "<benchmarks>/tables/metric_problem.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        paper=PAPER,
        code=science_version("iunet.tables.metric_problem"),
    message:
        "The paper's table 7 and the majority rates"
    script:
        "../scripts/metric_problem.py"


rule measure:
    input:
        unpack(measure_candidates),
        unpack(measure_dense),
        selection="<results>/runs/{dataset}/{network}/selection-{method}.json",
    output:
        "<results>/runs/{dataset}/{network}/measure-{method}.json",
    log:
        "<logs>/runs/{dataset}/{network}/measure-{method}.log",
    benchmark:
        "<benchmarks>/runs/{dataset}/{network}/measure-{method}.tsv"
    conda:
        "../../envs/train.yaml"
    resources:
        **job_resources("measure"),
    params:
        upstream=candidates_id,
        candidates=candidates_param,
        seed=config["seeds"][0],
        code=science_version("iunet.evaluation.measure"),
    message:
        "Latency of {wildcards.method} on {wildcards.dataset}, {wildcards.network}"
    script:
        "../scripts/measure.py"


rule page:
    input:
        tables=expand("<results>/tables/{table}.json", table=page_tables()),
        evidence="<results>/tables/metric_problem.json",
        png=expand("<results>/figures/{figure}.png", figure=page_figures()),
        pdf=expand("<results>/figures/{figure}.pdf", figure=page_figures()),
        evaluations=results_of_runs("evaluation"),
        selections=results_of_runs("selection"),
        template=page_sources(),
    output:
        report(
            "<results>/report/index.html",
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
        config_name=config_name(),
        figures=page_figures(),
        unavailable=unavailable_and_used(),
        benchmarks=f"{config['results']}/benchmarks",
        code=science_version("iunet.page.build", "iunet.page.facts"),
    message:
        "The report: {output}"
    script:
        "../scripts/page.py"
