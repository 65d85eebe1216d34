# finetune: a subnetwork trained from mask ⊙ θ†, and by the same recipe the dense network, and the
# decoder of a supernet that has none that was trained.


rule finetune:
    input:
        unpack(files(stages.initial_weights)),
        unpack(files(stages.trained_supernet)),
        **TRAINING_DATA,
        mask=paths.MASK,
        mask_report=paths.MASK_REPORT,
    output:
        weights=paths.SUBNETWORK_WEIGHTS,
        predictions=paths.SUBNETWORK_PREDICTIONS,
        report=paths.SUBNETWORK_REPORT,
    log:
        paths.log(paths.SUBNETWORK, "finetune"),
    benchmark:
        paths.benchmark(paths.SUBNETWORK, "finetune")
    group:
        job_group("finetune")
    conda:
        "../../envs/train.yaml"
    threads: config["train"]["threads"]
    resources:
        **job_resources("finetune"),
    params:
        **job_params("finetune"),
    message:
        "Fine-tuning {wildcards.dataset} {wildcards.network} {wildcards.supernet}, seed {wildcards.seed}, {wildcards.cut}{wildcards.options}"
    script:
        "../scripts/finetune.py"


use rule finetune as train_dense with:
    input:
        unpack(files(stages.initial_weights)),
        **TRAINING_DATA,
    output:
        weights=paths.DENSE_WEIGHTS,
        predictions=paths.DENSE_PREDICTIONS,
        report=paths.DENSE_REPORT,
    log:
        paths.log(paths.DENSE, "train_dense"),
    benchmark:
        paths.benchmark(paths.DENSE, "train_dense")
    group:
        job_group("train_dense")
    resources:
        **job_resources("train_dense"),
    params:
        **job_params("train_dense"),
    message:
        "Training {wildcards.network} on {wildcards.dataset} without pruning, seed {wildcards.seed}"


rule decoder:
    input:
        unpack(files(stages.initial_weights)),
        **TRAINING_DATA,
        supernet=paths.SUPERNET_WEIGHTS,
    output:
        weights=paths.SUPERNET_DECODER,
        report=paths.SUPERNET_DECODER_REPORT,
    log:
        paths.log(paths.SUPERNET, "decoder"),
    benchmark:
        paths.benchmark(paths.SUPERNET, "decoder")
    group:
        job_group("decoder")
    conda:
        "../../envs/train.yaml"
    threads: config["train"]["threads"]
    resources:
        **job_resources("decoder"),
    params:
        **job_params("decoder"),
    message:
        "Decoder of {wildcards.dataset} {wildcards.network} {wildcards.supernet}, seed {wildcards.seed}"
    script:
        "../scripts/decoder.py"
