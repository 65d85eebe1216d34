# supernet: the initial weights θ† of a network, and the supernet trained from them.


rule initialise:
    input:
        split="<results>/splits/{dataset}/split.json",
    output:
        weights="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/weights.safetensors",
        description="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/initial.json",
    log:
        "<logs>/runs/{dataset}/{network}/initial{init}/seed{seed}/initialise.log",
    benchmark:
        "<benchmarks>/runs/{dataset}/{network}/initial{init}/seed{seed}/initialise.tsv"
    group:
        job_group("initialise")
    conda:
        "../../envs/train.yaml"
    resources:
        **job_resources("initialise"),
    params:
        upstream=split_id,
        network=network_params,
        init=init_name,
        code=science_version("iunet.training.initial"),
    message:
        "Initial weights of {wildcards.network} for {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/initialise.py"


rule supernet:
    input:
        train="<results>/splits/{dataset}/train.safetensors",
        valid="<results>/splits/{dataset}/valid.safetensors",
        preprocessing="<results>/splits/{dataset}/preprocessing.json",
        initial="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/weights.safetensors",
        description="<results>/runs/{dataset}/{network}/initial{init}/seed{seed}/initial.json",
    output:
        weights=f"{SUPERNET}/supernet.safetensors",
        histograms=f"{SUPERNET}/histograms.safetensors",
        report=f"{SUPERNET}/supernet.json",
    log:
        f"{SUPERNET_LOG}/supernet.log",
    benchmark:
        f"{SUPERNET_BENCHMARK}/supernet.tsv"
    group:
        job_group("supernet")
    conda:
        "../../envs/train.yaml"
    threads: config["train"]["threads"]
    resources:
        **job_resources("supernet"),
        gpu=training_gpus,
    params:
        upstream=initial_id,
        settings=supernet_settings,
        augment=supernet_augment,
        code=science_version("iunet.training.supernet"),
    message:
        "Supernet kappa{wildcards.kappa}-{wildcards.objective}{wildcards.variant} of {wildcards.network} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/supernet.py"
