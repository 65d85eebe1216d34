# finetune: a subnetwork trained from mask ⊙ θ†, and the dense network trained by the same recipe.


rule finetune:
    input:
        train="<results>/splits/{dataset}/train.safetensors",
        valid="<results>/splits/{dataset}/valid.safetensors",
        preprocessing="<results>/splits/{dataset}/preprocessing.json",
        initial="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/weights.safetensors",
        description="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/initial.json",
        mask=f"{SUPERNET}/{{cut}}/mask.safetensors",
        mask_report=f"{SUPERNET}/{{cut}}/mask.json",
    output:
        weights=f"{SUPERNET}/{{cut}}{{tuning}}/subnetwork.safetensors",
        report=f"{SUPERNET}/{{cut}}{{tuning}}/finetune.json",
    log:
        f"{SUPERNET_LOG}/{{cut}}{{tuning}}/finetune.log",
    benchmark:
        f"{SUPERNET_BENCHMARK}/{{cut}}{{tuning}}/finetune.tsv"
    group:
        job_group("finetune")
    conda:
        "../../envs/train.yaml"
    threads: config["train"]["threads"]
    resources:
        **job_resources("finetune"),
        gpu=training_gpus,
    params:
        upstream=mask_id,
        settings=finetune_settings,
        code=science_version("iunet.training.finetune"),
    message:
        "Fine-tuning {wildcards.dataset} {wildcards.network} kappa{wildcards.kappa}-{wildcards.objective}{wildcards.variant}, seed {wildcards.seed}, {wildcards.cut}"
    script:
        "../scripts/finetune.py"


rule train_dense:
    input:
        train="<results>/splits/{dataset}/train.safetensors",
        valid="<results>/splits/{dataset}/valid.safetensors",
        preprocessing="<results>/splits/{dataset}/preprocessing.json",
        initial="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/weights.safetensors",
        description="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/initial.json",
    output:
        weights=f"{DENSE}/network.safetensors",
        report=f"{DENSE}/finetune.json",
    log:
        f"{DENSE_LOG}/train_dense.log",
    benchmark:
        f"{DENSE_BENCHMARK}/train_dense.tsv"
    group:
        job_group("train_dense")
    conda:
        "../../envs/train.yaml"
    threads: config["train"]["threads"]
    resources:
        **job_resources("train_dense"),
        gpu=training_gpus,
    params:
        upstream=initial_id,
        settings=finetune_settings,
        code=science_version("iunet.training.finetune"),
    message:
        "Training {wildcards.network} on {wildcards.dataset} without pruning, seed {wildcards.seed}"
    script:
        "../scripts/train_dense.py"
