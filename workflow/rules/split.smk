# split: train, valid and test, each a file of its own, and what is fitted on train.
#
# The data's JSON holds its checksum and is small enough for Snakemake to compare by content, so it
# alone decides whether a split is out of date: downloading the same data again repeats nothing.


rule split_table:
    input:
        description="<results>/data/{dataset}/data.json",
        data=ancient("<results>/data/{dataset}/data.parquet"),
    output:
        train="<results>/splits/{dataset}/train.safetensors",
        valid="<results>/splits/{dataset}/valid.safetensors",
        test="<results>/splits/{dataset}/test.safetensors",
        indices="<results>/splits/{dataset}/indices.safetensors",
        preprocessing="<results>/splits/{dataset}/preprocessing.json",
        split="<results>/splits/{dataset}/split.json",
    log:
        "<logs>/split/{dataset}.log",
    benchmark:
        "<benchmarks>/split/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of(names_of_kind("tabular")),
    group:
        "splits"
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources("split_table"),
    params:
        settings=split_settings,
        upstream=download_id,
        code=science_version("iunet.data.split"),
    message:
        "Splitting the table {wildcards.dataset}"
    script:
        "../scripts/split_table.py"


rule split_images:
    input:
        description="<results>/data/{dataset}/data.json",
        data=ancient("<results>/data/{dataset}/images.safetensors"),
    output:
        train="<results>/splits/{dataset}/train.safetensors",
        valid="<results>/splits/{dataset}/valid.safetensors",
        test="<results>/splits/{dataset}/test.safetensors",
        indices="<results>/splits/{dataset}/indices.safetensors",
        preprocessing="<results>/splits/{dataset}/preprocessing.json",
        split="<results>/splits/{dataset}/split.json",
    log:
        "<logs>/split/{dataset}.log",
    benchmark:
        "<benchmarks>/split/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of(names_of_kind("vision")),
    group:
        "splits"
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources("split_images"),
    params:
        settings=split_settings,
        upstream=download_id,
        code=science_version("iunet.data.split"),
    message:
        "Splitting the images {wildcards.dataset}"
    script:
        "../scripts/split_images.py"
