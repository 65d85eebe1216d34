# download: one verified artifact per data set, from wherever its registry row says.


rule download_table:
    input:
        own_file,
    output:
        data="<results>/data/{dataset}/data.parquet",
        description="<results>/data/{dataset}/data.json",
    log:
        "<logs>/download/{dataset}.log",
    benchmark:
        "<benchmarks>/download/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of(names_of_kind("tabular")),
    localrule: True  # the login node has the network, compute nodes may not
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources("download_table"),
    params:
        row=registry_row,
        source=source_of,
        mirror_sha256=mirror_sha256,
        code=download_code,
    message:
        "Downloading the table {wildcards.dataset}"
    script:
        "../scripts/download_table.py"


rule download_images:
    input:
        own_file,
    output:
        data="<results>/data/{dataset}/images.safetensors",
        description="<results>/data/{dataset}/data.json",
    log:
        "<logs>/download/{dataset}.log",
    benchmark:
        "<benchmarks>/download/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of(names_of_kind("vision")),
    localrule: True
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources("download_images"),
    params:
        row=registry_row,
        source=source_of,
        mirror_sha256=mirror_sha256,
        code=download_code,
    message:
        "Downloading the images {wildcards.dataset}"
    script:
        "../scripts/download_images.py"


rule download_all:
    input:
        expand("<results>/data/{dataset}/data.json", dataset=used_datasets()),
    localrule: True
    message:
        "All data sets are here"
