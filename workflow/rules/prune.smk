# prune: the mask of a supernet at one compression ratio, or of the weights that β-LASSO left. It needs
# no torch, so it starts at once.


rule prune:
    input:
        unpack(files(stages.initial_weights)),
        unpack(files(stages.supernet_of_mask)),
    output:
        mask=paths.MASK,
        report=paths.MASK_REPORT,
    log:
        paths.log(paths.CUT, "prune"),
    benchmark:
        paths.benchmark(paths.CUT, "prune")
    group:
        job_group("prune")
    conda:
        "../../envs/train.yaml"
    resources:
        **job_resources("prune"),
    params:
        **job_params("prune"),
    message:
        "Pruning {wildcards.dataset} {wildcards.network} {wildcards.supernet}, seed {wildcards.seed}, to {wildcards.cut}"
    script:
        "../scripts/prune.py"
