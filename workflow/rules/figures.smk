# figures: the paper's figures, and two beyond it. Each leaves the data behind it as a CSV.


rule figure2:
    input:
        figure_inputs(figure2_requests),
    output:
        **figure_files("figure2", title="figure 2"),
    log:
        "<logs>/figures/figure2.log",
    benchmark:
        "<benchmarks>/figures/figure2.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        upstream=figure_id("figure2"),
        requests=figure2_requests,
        code=science_version("iunet.figures.figure2"),
    message:
        "Figure 2: validation accuracy against compression"
    script:
        "../scripts/figure2.py"


rule figure3:
    input:
        figure_inputs(figure3_requests),
    output:
        **figure_files("figure3", title="figure 3"),
    log:
        "<logs>/figures/figure3.log",
    benchmark:
        "<benchmarks>/figures/figure3.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        upstream=figure_id("figure3"),
        requests=figure3_requests,
        code=science_version("iunet.figures.figure3"),
    message:
        "Figure 3: magnitudes of weights during training"
    script:
        "../scripts/figure3.py"


rule figure4:
    input:
        figure_inputs(figure4_requests),
    output:
        **figure_files("figure4", title="figure 4"),
    log:
        "<logs>/figures/figure4.log",
    benchmark:
        "<benchmarks>/figures/figure4.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        upstream=figure_id("figure4"),
        images=figure4_images,
        tables=figure4_tables,
        code=science_version("iunet.figures.figure4"),
    message:
        "Figure 4: first-layer weights after training"
    script:
        "../scripts/figure4.py"


rule tuning_history:
    input:
        figure_inputs(history_requests),
    output:
        **figure_files("tuning/{dataset}", "Tuning", "{dataset}"),
    log:
        "<logs>/figures/tuning/{dataset}.log",
    benchmark:
        "<benchmarks>/figures/tuning/{dataset}.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        requests=history_requests,
        code=science_version("iunet.figures.tuning_history"),
    message:
        "The tuning on {wildcards.dataset}"
    script:
        "../scripts/tuning_history.py"


rule critical_difference:
    input:
        "<results>/tables/ranks.json",
    output:
        **figure_files("critical_difference", title="critical difference"),
    log:
        "<logs>/figures/critical_difference.log",
    benchmark:
        "<benchmarks>/figures/critical_difference.tsv"
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        upstream=table7_id,
        code=science_version("iunet.figures.critical_difference"),
    message:
        "The critical difference diagram"
    script:
        "../scripts/critical_difference.py"
