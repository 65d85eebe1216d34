# supernet: the initial weights θ† of a network, and the supernet trained from them.


rule initialise:
    input:
        split=paths.SPLIT_REPORT,
    output:
        weights=paths.INITIAL_WEIGHTS,
        description=paths.INITIAL_REPORT,
    log:
        paths.log(paths.INITIAL, "initialise"),
    benchmark:
        paths.benchmark(paths.INITIAL, "initialise")
    group:
        job_group("initialise")
    conda:
        "../../envs/train.yaml"
    resources:
        **job_resources("initialise"),
    params:
        *code("initialise", network_module),
        **provenance("initialise"),
        network=by("network", settings.network_settings),
        init=by("initial", settings.init_settings),
    message:
        "Initial weights of {wildcards.network} for {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/initialise.py"


rule supernet:
    input:
        unpack(initial_of),
        train=paths.TRAIN,
        valid=paths.VALID,
        preprocessing=paths.PREPROCESSING,
    output:
        weights=paths.SUPERNET_WEIGHTS,
        histograms=paths.SUPERNET_HISTOGRAMS,
        report=paths.SUPERNET_REPORT,
    log:
        paths.log(paths.SUPERNET, "supernet"),
    benchmark:
        paths.benchmark(paths.SUPERNET, "supernet")
    group:
        job_group("supernet")
    conda:
        "../../envs/train.yaml"
    threads: config["train"]["threads"]
    resources:
        **job_resources("supernet"),
        gpu=training_gpus,
    params:
        *code("supernet", settings.objective_module),
        **provenance("supernet"),
        settings=setting(settings.supernet_settings),
        augment=setting(settings.supernet_augment),
    message:
        "Supernet {wildcards.supernet} of {wildcards.network} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/supernet.py"
