# evaluate: the only rules that read test data. One job serves all cuts of a supernet. The choice of a
# ratio or l1 reads the fine-tunings' own reports, which know validation data only.


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
        supernet_report=f"{SUPERNET}/supernet.json",
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
        cuts=cut_names,
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


rule evaluate_tuned:
    input:
        test="<results>/splits/{dataset}/test.safetensors",
        preprocessing="<results>/splits/{dataset}/preprocessing.json",
        split="<results>/splits/{dataset}/split.json",
        model=f"<results>/{TUNED_RUN}/model.safetensors",
        report=f"<results>/{TUNED_RUN}/refit.json",
    output:
        f"<results>/{TUNED_RUN}/evaluation.json",
    log:
        f"<logs>/{TUNED_RUN}/evaluate.log",
    benchmark:
        f"<benchmarks>/{TUNED_RUN}/evaluate.tsv"
    group:
        job_group("evaluate_tuned")
    conda:
        "../../envs/tune.yaml"
    threads: learner_threads
    resources:
        **job_resources("evaluate_tuned"),
        gpu=training_gpus,
    params:
        upstream=refit_id,
        settings=learner_settings,
        code=science_version("iunet.evaluation.tuned"),
    message:
        "Evaluating {wildcards.learner} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/evaluate_tuned.py"


rule choose:
    input:
        finetune_reports,
    output:
        "<results>/runs/{dataset}/{network}/selection-{method}.json",
    log:
        "<logs>/runs/{dataset}/{network}/choose-{method}.log",
    benchmark:
        "<benchmarks>/runs/{dataset}/{network}/choose-{method}.tsv"
    localrule: True
    conda:
        "../../envs/train.yaml"
    params:
        upstream=candidates_id,
        candidates=candidates_param,
        seeds=config["seeds"],
        metric=selection_metric,
        code=science_version("iunet.method.choice"),
    message:
        "Choosing among the candidates of {wildcards.method} on {wildcards.dataset}, {wildcards.network}"
    script:
        "../scripts/choose.py"


rule experiments:
    input:
        experiment_results(),
    localrule: True
    message:
        "All experiments are run"
