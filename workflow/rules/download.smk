# download: one verified artifact per data set, from wherever its registry row says.


def own_file(wildcards):
    """The user's file that a data set is made from, so that changing it makes the set anew."""
    dataset = REGISTRY[wildcards.dataset]
    return dataset.location if dataset.source == "file" else []


def registry_row(wildcards):
    """The registry row as plain values: another row is another data set, and is fetched anew."""
    return REGISTRY[wildcards.dataset].row()


def source_of(wildcards):
    return effective_source(REGISTRY[wildcards.dataset], MIRROR)


def mirror_sha256(wildcards):
    """What the mirror holds, and not where it is: a mirror may move without making data anew."""
    if source_of(wildcards) != "mirror":
        return None
    if wildcards.dataset in BENCH.unavailable:
        raise WorkflowError(
            f"Data set '{wildcards.dataset}' is not in the mirror '{MIRROR}' (config key "
            "data.mirror). Add it there, or set data.mirror to null to use the network."
        )
    return mirror_index(MIRROR)[wildcards.dataset]["sha256"]


def source_code(wildcards):
    return ", ".join(code_lines(f"iunet.data.sources.{source_of(wildcards)}"))


rule download_table:
    input:
        own_file,
    output:
        data=paths.DATA_TABLE,
        description=paths.DATA_REPORT,
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
        *code("download_table"),
        source_code,
        **provenance("download_table"),
        row=registry_row,
        source=source_of,
        mirror_sha256=mirror_sha256,
    message:
        "Downloading the table {wildcards.dataset}"
    script:
        "../scripts/download_table.py"


rule download_images:
    input:
        own_file,
    output:
        data=paths.DATA_IMAGES,
        description=paths.DATA_REPORT,
    log:
        "<logs>/download/{dataset}.log",
    benchmark:
        "<benchmarks>/download/{dataset}.tsv"
    wildcard_constraints:
        dataset=any_of(names_of_kind("vision")),
    localrule: True  # the login node has the network, compute nodes may not
    conda:
        "../../envs/data.yaml"
    resources:
        **job_resources("download_images"),
    params:
        *code("download_images"),
        source_code,
        **provenance("download_images"),
        row=registry_row,
        source=source_of,
        mirror_sha256=mirror_sha256,
    message:
        "Downloading the images {wildcards.dataset}"
    script:
        "../scripts/download_images.py"


rule download_all:
    input:
        expand(paths.DATA_REPORT, dataset=BENCH.used_datasets),
    localrule: True
    message:
        "All data sets are here"
