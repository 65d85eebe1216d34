# prune: the mask of a supernet at one compression ratio. Needs no torch, so it starts at once.


rule prune:
    input:
        supernet=f"{SUPERNET}/supernet.safetensors",
        initial="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/weights.safetensors",
        description="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/initial.json",
    output:
        mask=f"{SUPERNET}/ratio{{ratio}}/mask.safetensors",
        report=f"{SUPERNET}/ratio{{ratio}}/mask.json",
    log:
        f"{SUPERNET_LOG}/ratio{{ratio}}/prune.log",
    benchmark:
        f"{SUPERNET_BENCHMARK}/ratio{{ratio}}/prune.tsv"
    group:
        job_group("prune")
    conda:
        "../../envs/train.yaml"
    resources:
        **job_resources("prune"),
    params:
        upstream=supernet_id,
        code=science_version("iunet.pruning"),
    message:
        "Pruning {wildcards.dataset} {wildcards.network} kappa{wildcards.kappa}-{wildcards.objective}{wildcards.variant}, seed {wildcards.seed}, to ratio {wildcards.ratio}"
    script:
        "../scripts/prune.py"
