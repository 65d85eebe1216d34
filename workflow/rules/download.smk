# download: one verified artifact per data set, from wherever its registry row says.


rule download_table:
    input:
        unpack(files(stages.own_file)),
    output:
        data=paths.DATA_TABLE,
        description=paths.DATA_REPORT,
    log:
        "<logs>/download/{dataset}.log",
    benchmark:
        "<benchmarks>/download/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of_kind("tabular"),
    localrule: True  # the login node has the network, compute nodes may not
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources("download_table"),
    params:
        **job_params("download_table"),
        declared_at=lambda wildcards, input: BENCH.registry[wildcards.dataset].declared_at,
    message:
        "Downloading the table {wildcards.dataset}"
    script:
        "../scripts/download.py"


use rule download_table as download_images with:
    output:
        data=paths.DATA_IMAGES,
        description=paths.DATA_REPORT,
    wildcard_constraints:
        dataset=any_of_kind("vision"),
    localrule: True
    resources:
        **job_resources("download_images"),
    params:
        **job_params("download_images"),
        declared_at=lambda wildcards, input: BENCH.registry[wildcards.dataset].declared_at,
    message:
        "Downloading the images {wildcards.dataset}"


rule download_all:
    input:
        expand(paths.DATA_REPORT, dataset=BENCH.used_datasets),
    localrule: True
    message:
        "All data sets are here"
