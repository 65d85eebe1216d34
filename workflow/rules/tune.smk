# tune: the learners that search their hyperparameters on validation data, and are then fitted again
# on train and valid together. A study's journal lies beside its outputs and is none of them, so that
# it outlives a job that is cut off.


rule tune:
    input:
        train=paths.TRAIN,
        valid=paths.VALID,
        preprocessing=paths.PREPROCESSING,
        split=paths.SPLIT_REPORT,
    output:
        paths.STUDY_WORKER,
    log:
        paths.log(paths.STUDY, "worker{worker}"),
    benchmark:
        paths.benchmark(paths.STUDY, "worker{worker}")
    conda:
        "../../envs/tune.yaml"
    threads: by("learner", settings.learner_threads)
    resources:
        **job_resources("tune"),
        gpu=training_gpus,
    params:
        *code("tune", learner_module),
        **provenance("tune"),
        study=study_name,
        settings=by("learner", settings.learner_settings),
        budget=by("learner", settings.study_budget),
        seed=lambda wildcards: settings.study_seed(wildcards.study),
    message:
        "Tuning {wildcards.learner} on {wildcards.dataset}"
    script:
        "../scripts/tune.py"


rule study:
    input:
        workers=study_workers,
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
        *code("study"),
        **provenance("study"),
        study=study_name,
        settings=by("learner", settings.learner_settings),
        budget=by("learner", settings.study_budget),
    message:
        "The trials of {wildcards.learner} on {wildcards.dataset}"
    script:
        "../scripts/study.py"


rule refit:
    input:
        train=paths.TRAIN,
        valid=paths.VALID,
        preprocessing=paths.PREPROCESSING,
        split=paths.SPLIT_REPORT,
        study=study_of_seed,
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
    threads: by("learner", settings.learner_threads)
    resources:
        **job_resources("refit"),
        gpu=training_gpus,
    params:
        *code("refit", learner_module),
        **provenance("refit"),
        parts=by("learner", settings.refit_parts),
        settings=by("learner", settings.learner_settings),
    message:
        "Fitting the tuned {wildcards.learner} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/refit.py"
