# split: train, valid and test, each a file of its own, and what is fitted on train.
#
# The data's JSON holds its checksum and is small enough for Snakemake to compare by content, so it
# alone decides whether a split is out of date: downloading the same data again repeats nothing.


rule split_table:
    input:
        description=paths.DATA_REPORT,
        data=ancient(paths.DATA_TABLE),
    output:
        **SPLIT_FILES,
    log:
        "<logs>/split/{dataset}.log",
    benchmark:
        "<benchmarks>/split/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of_kind("tabular"),
    group:
        job_group("split_table")
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources("split_table"),
    params:
        **job_params("split_table"),
    message:
        "Splitting the table {wildcards.dataset}"
    script:
        "../scripts/split.py"


use rule split_table as split_images with:
    input:
        description=paths.DATA_REPORT,
        data=ancient(paths.DATA_IMAGES),
    wildcard_constraints:
        dataset=any_of_kind("vision"),
    group:
        job_group("split_images")
    resources:
        **job_resources("split_images"),
    params:
        **job_params("split_images"),
    message:
        "Splitting the images {wildcards.dataset}"
