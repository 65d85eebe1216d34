# prune: the mask of a supernet at one compression ratio, or of what β-LASSO left. Needs no torch, so it starts at once.


rule prune:
    input:
        supernet=f"{SUPERNET}/supernet.safetensors",
        supernet_report=f"{SUPERNET}/supernet.json",
        initial="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/weights.safetensors",
        description="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/initial.json",
    output:
        mask=f"{SUPERNET}/{{cut}}/mask.safetensors",
        report=f"{SUPERNET}/{{cut}}/mask.json",
    log:
        f"{SUPERNET_LOG}/{{cut}}/prune.log",
    benchmark:
        f"{SUPERNET_BENCHMARK}/{{cut}}/prune.tsv"
    group:
        job_group("prune")
    conda:
        "../../envs/train.yaml"
    resources:
        **job_resources("prune"),
    params:
        upstream=supernet_id,
        ratio=ratio_param,
        code=science_version("iunet.method.pruning"),
    message:
        "Pruning {wildcards.dataset} {wildcards.network} kappa{wildcards.kappa}-{wildcards.objective}{wildcards.variant}, seed {wildcards.seed}, to {wildcards.cut}"
    script:
        "../scripts/prune.py"
