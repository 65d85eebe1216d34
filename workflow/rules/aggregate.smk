# aggregate: the paper's tables, from what the runs left behind.


rule table8:
    input:
        splits=expand("<results>/splits/{dataset}/split.json", dataset=available_datasets("table8")),
    output:
        csv="<results>/tables/table8.csv",
        markdown="<results>/tables/table8.md",
        html=report(
            "<results>/tables/table8.html",
            caption="../../reports/captions/table8.rst",
            category="Tables",
            labels={"table": "8", "shows": "vision data sets"},
        ),
    log:
        "<logs>/tables/table8.log",
    benchmark:
        "<benchmarks>/tables/table8.tsv"
    localrule: True
    conda:
        "../../envs/data.yaml"
    params:
        **table_params("table8"),
        paper=paper_digest(8),
        code=science_version("iunet.tables.data_statistics"),
    message:
        "Table 8: statistics of the vision data sets"
    script:
        "../scripts/table8.py"


rule table9:
    input:
        splits=expand("<results>/splits/{dataset}/split.json", dataset=available_datasets("table9")),
    output:
        csv="<results>/tables/table9.csv",
        markdown="<results>/tables/table9.md",
        html=report(
            "<results>/tables/table9.html",
            caption="../../reports/captions/table9.rst",
            category="Tables",
            labels={"table": "9", "shows": "tabular data sets"},
        ),
    log:
        "<logs>/tables/table9.log",
    benchmark:
        "<benchmarks>/tables/table9.tsv"
    localrule: True
    conda:
        "../../envs/data.yaml"
    params:
        **table_params("table9"),
        paper=paper_digest(9),
        code=science_version("iunet.tables.data_statistics"),
    message:
        "Table 9: statistics of the tabular data sets"
    script:
        "../scripts/table9.py"
