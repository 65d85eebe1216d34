# evaluate: the only rules that read test data, one job for each network that is shown. The choice of
# a ratio or l1 reads what the fine-tunings predict for validation data.


rule evaluate:
    input:
        unpack(files(stages.initial_weights)),
        **TRAINING_DATA,
        test=paths.TEST,
        mask=paths.MASK,
        mask_report=paths.MASK_REPORT,
        weights=paths.SUBNETWORK_WEIGHTS,
    output:
        paths.SUBNETWORK_EVALUATION,
    log:
        paths.log(paths.SUBNETWORK, "evaluate"),
    benchmark:
        paths.benchmark(paths.SUBNETWORK, "evaluate")
    group:
        job_group("evaluate")
    conda:
        "../../envs/train.yaml"
    threads: config["train"]["threads"]
    resources:
        **job_resources("evaluate"),
    params:
        **job_params("evaluate"),
    message:
        "Evaluating {wildcards.dataset} {wildcards.network} {wildcards.supernet}, seed {wildcards.seed}, {wildcards.cut}{wildcards.options}"
    script:
        "../scripts/evaluate.py"


rule evaluate_supernet:
    input:
        unpack(files(stages.initial_weights)),
        unpack(files(stages.trained_decoder)),
        **TRAINING_DATA,
        test=paths.TEST,
        supernet=paths.SUPERNET_WEIGHTS,
        supernet_report=paths.SUPERNET_REPORT,
    output:
        paths.SUPERNET_EVALUATION,
    log:
        paths.log(paths.SUPERNET, "evaluate"),
    benchmark:
        paths.benchmark(paths.SUPERNET, "evaluate")
    group:
        job_group("evaluate_supernet")
    conda:
        "../../envs/train.yaml"
    threads: config["train"]["threads"]
    resources:
        **job_resources("evaluate_supernet"),
    params:
        **job_params("evaluate_supernet"),
    message:
        "Evaluating {wildcards.dataset} {wildcards.network} {wildcards.supernet}, seed {wildcards.seed}, unpruned"
    script:
        "../scripts/evaluate_supernet.py"


rule evaluate_dense:
    input:
        unpack(files(stages.initial_weights)),
        **TRAINING_DATA,
        test=paths.TEST,
        weights=paths.DENSE_WEIGHTS,
    output:
        paths.DENSE_EVALUATION,
    log:
        paths.log(paths.DENSE, "evaluate"),
    benchmark:
        paths.benchmark(paths.DENSE, "evaluate")
    group:
        job_group("evaluate_dense")
    conda:
        "../../envs/train.yaml"
    threads: config["train"]["threads"]
    resources:
        **job_resources("evaluate_dense"),
    params:
        **job_params("evaluate_dense"),
    message:
        "Evaluating {wildcards.dataset} {wildcards.network} without pruning, seed {wildcards.seed}"
    script:
        "../scripts/evaluate_dense.py"


rule evaluate_tuned:
    input:
        test=paths.TEST,
        preprocessing=paths.PREPROCESSING,
        split=paths.SPLIT_REPORT,
        model=paths.TUNED_MODEL,
        report=paths.TUNED_REPORT,
    output:
        paths.TUNED_EVALUATION,
    log:
        paths.log(paths.TUNED, "evaluate"),
    benchmark:
        paths.benchmark(paths.TUNED, "evaluate")
    group:
        job_group("evaluate_tuned")
    conda:
        "../../envs/tune.yaml"
    threads: learner_threads
    resources:
        **job_resources("evaluate_tuned"),
    params:
        **job_params("evaluate_tuned"),
    message:
        "Evaluating {wildcards.learner} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/evaluate_tuned.py"


rule choose:
    input:
        unpack(files(stages.of_choice)),
        valid=paths.VALID,
    output:
        paths.CHOICE,
    log:
        paths.log(paths.NETWORK, "choose-{method}"),
    benchmark:
        paths.benchmark(paths.NETWORK, "choose-{method}")
    localrule: True
    conda:
        "../../envs/train.yaml"
    params:
        **job_params("choose"),
    message:
        "Choosing among the candidates of {wildcards.method} on {wildcards.dataset}, {wildcards.network}"
    script:
        "../scripts/choose.py"


rule latency:
    input:
        unpack(files(stages.of_latency)),
        choice=paths.CHOICE,
    output:
        paths.LATENCY,
    log:
        paths.log(paths.NETWORK, "latency-{method}"),
    benchmark:
        paths.benchmark(paths.NETWORK, "latency-{method}")
    conda:
        "../../envs/train.yaml"
    resources:
        **job_resources("latency"),
    params:
        **job_params("latency"),
    message:
        "Latency of {wildcards.method} on {wildcards.dataset}, {wildcards.network}"
    script:
        "../scripts/latency.py"
