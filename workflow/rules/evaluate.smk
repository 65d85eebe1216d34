# evaluate: the only rules that read test data. One job serves all ratios of a supernet. The choice of
# a ratio reads the fine-tunings' own reports, which know validation data only.


rule evaluate:
    input:
        unpack(subnetworks),
        train="<results>/splits/{dataset}/train.safetensors",
        valid="<results>/splits/{dataset}/valid.safetensors",
        test="<results>/splits/{dataset}/test.safetensors",
        preprocessing="<results>/splits/{dataset}/preprocessing.json",
        initial="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/weights.safetensors",
        description="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/initial.json",
        supernet=f"{SUPERNET}/supernet.safetensors",
    output:
        f"{SUPERNET}/evaluation.json",
    log:
        f"{SUPERNET_LOG}/evaluate.log",
    benchmark:
        f"{SUPERNET_BENCHMARK}/evaluate.tsv"
    group:
        job_group("evaluate")
    conda:
        "../../envs/train.yaml"
    threads: config["train"]["threads"]
    resources:
        **job_resources("evaluate"),
        gpu=training_gpus,
    params:
        upstream=evaluation_id,
        ratios=ratio_names,
        augment=augment,
        consistency=config["consistency"],
        code=science_version("iunet.evaluation.evaluate"),
    message:
        "Evaluating {wildcards.dataset} {wildcards.network} kappa{wildcards.kappa}-{wildcards.objective}{wildcards.variant}, seed {wildcards.seed}"
    script:
        "../scripts/evaluate.py"


rule evaluate_dense:
    input:
        train="<results>/splits/{dataset}/train.safetensors",
        valid="<results>/splits/{dataset}/valid.safetensors",
        test="<results>/splits/{dataset}/test.safetensors",
        preprocessing="<results>/splits/{dataset}/preprocessing.json",
        initial="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/weights.safetensors",
        description="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/initial.json",
        weights=f"{DENSE}/network.safetensors",
    output:
        f"{DENSE}/evaluation.json",
    log:
        f"{DENSE_LOG}/evaluate.log",
    benchmark:
        f"{DENSE_BENCHMARK}/evaluate.tsv"
    group:
        job_group("evaluate_dense")
    conda:
        "../../envs/train.yaml"
    threads: config["train"]["threads"]
    resources:
        **job_resources("evaluate_dense"),
        gpu=training_gpus,
    params:
        upstream=finetune_id,
        code=science_version("iunet.evaluation.evaluate"),
    message:
        "Evaluating {wildcards.dataset} {wildcards.network} without pruning, seed {wildcards.seed}"
    script:
        "../scripts/evaluate_dense.py"


rule select_ratio:
    input:
        finetune_reports,
    output:
        "<results>/runs/{dataset}/{network}/kappa{kappa}-{objective}{init}{variant}/selection-{method}.json",
    log:
        "<logs>/runs/{dataset}/{network}/kappa{kappa}-{objective}{init}{variant}/select_ratio-{method}.log",
    benchmark:
        "<benchmarks>/runs/{dataset}/{network}/kappa{kappa}-{objective}{init}{variant}/select_ratio-{method}.tsv"
    localrule: True
    conda:
        "../../envs/train.yaml"
    params:
        upstream=candidates_id,
        ratios=candidate_names,
        seeds=config["seeds"],
        metric=selection_metric,
        code=science_version("iunet.selection"),
    message:
        "Choosing a ratio for {wildcards.method} on {wildcards.dataset}, {wildcards.network}"
    script:
        "../scripts/select_ratio.py"


rule experiments:
    input:
        experiment_results(),
    localrule: True
    message:
        "All experiments are run"
