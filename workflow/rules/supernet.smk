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
        **job_params("initialise"),
    message:
        "Initial weights of {wildcards.network} for {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/initialise.py"


rule supernet:
    input:
        unpack(files(stages.initial_weights)),
        **TRAINING_DATA,
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
    params:
        **job_params("supernet"),
    message:
        "Supernet {wildcards.supernet} of {wildcards.network} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/supernet.py"
