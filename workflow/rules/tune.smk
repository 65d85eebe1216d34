# tune: the learners that search their hyperparameters on validation data, and are then fitted again
# on train and valid together. A study's journal is in the folder of its outputs but is not an output,
# so it survives a job that is cut off.


rule tune:
    input:
        **TRAINING_DATA,
        split=paths.SPLIT_REPORT,
    output:
        paths.STUDY_WORKER,
    log:
        paths.log(paths.STUDY, "worker{worker}"),
    benchmark:
        paths.benchmark(paths.STUDY, "worker{worker}")
    conda:
        "../../envs/tune.yaml"
    threads: learner_threads
    resources:
        **job_resources("tune"),
    params:
        **job_params("tune"),
    message:
        "Tuning {wildcards.learner} on {wildcards.dataset}"
    script:
        "../scripts/tune.py"


rule study:
    input:
        unpack(files(stages.study_workers)),
    output:
        study=paths.STUDY_REPORT,
        trials=report(
            paths.STUDY_TRIALS,
            caption="../../reports/captions/trials.rst",
            category="Tuning",
            labels={"data set": "{dataset}", "method": "{learner}"},
        ),
    log:
        paths.log(paths.STUDY, "study"),
    benchmark:
        paths.benchmark(paths.STUDY, "study")
    localrule: True
    conda:
        "../../envs/tune.yaml"
    params:
        **job_params("study"),
    message:
        "The trials of {wildcards.learner} on {wildcards.dataset}"
    script:
        "../scripts/study.py"


rule refit:
    input:
        unpack(files(stages.study_of_seed)),
        **TRAINING_DATA,
        split=paths.SPLIT_REPORT,
    output:
        model=paths.TUNED_MODEL,
        report=paths.TUNED_REPORT,
    log:
        paths.log(paths.TUNED, "refit"),
    benchmark:
        paths.benchmark(paths.TUNED, "refit")
    group:
        job_group("refit")
    conda:
        "../../envs/tune.yaml"
    threads: learner_threads
    resources:
        **job_resources("refit"),
    params:
        **job_params("refit"),
    message:
        "Fitting the tuned {wildcards.learner} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/refit.py"
