# tune: the baselines that search their hyperparameters on validation data, and are then fitted again
# on train and valid together. A study's journal lies beside its outputs and is none of them, so that
# it outlives a job that is cut off.


rule tune:
    input:
        train="<results>/splits/{dataset}/train.safetensors",
        valid="<results>/splits/{dataset}/valid.safetensors",
        preprocessing="<results>/splits/{dataset}/preprocessing.json",
        split="<results>/splits/{dataset}/split.json",
    output:
        f"<results>/{STUDY}/worker{{worker}}.json",
    log:
        f"<logs>/{STUDY}/worker{{worker}}.log",
    benchmark:
        f"<benchmarks>/{STUDY}/worker{{worker}}.tsv"
    conda:
        "../../envs/tune.yaml"
    threads: learner_threads
    resources:
        **job_resources("tune"),
        gpu=training_gpus,
    params:
        study=study_name,
        settings=learner_settings,
        budget=tuning_budget,
        seed=study_seed,
    message:
        "Tuning {wildcards.learner} on {wildcards.dataset}"
    script:
        "../scripts/tune.py"


rule study:
    input:
        workers=study_workers,
    output:
        study=f"<results>/{STUDY}/study.json",
        trials=report(
            f"<results>/{STUDY}/trials.csv",
            caption="../../reports/captions/trials.rst",
            category="Tuning",
            labels={"data set": "{dataset}", "method": "{learner}"},
        ),
    log:
        f"<logs>/{STUDY}/study.log",
    benchmark:
        f"<benchmarks>/{STUDY}/study.tsv"
    localrule: True
    conda:
        "../../envs/tune.yaml"
    params:
        study=study_name,
        settings=learner_settings,
        budget=tuning_budget,
        code=REFIT_CODE,
    message:
        "The trials of {wildcards.learner} on {wildcards.dataset}"
    script:
        "../scripts/study.py"


rule refit:
    input:
        train="<results>/splits/{dataset}/train.safetensors",
        valid="<results>/splits/{dataset}/valid.safetensors",
        preprocessing="<results>/splits/{dataset}/preprocessing.json",
        split="<results>/splits/{dataset}/split.json",
        study=study_of_seed,
    output:
        model=f"<results>/{TUNED_RUN}/model.safetensors",
        report=f"<results>/{TUNED_RUN}/refit.json",
    log:
        f"<logs>/{TUNED_RUN}/refit.log",
    benchmark:
        f"<benchmarks>/{TUNED_RUN}/refit.tsv"
    group:
        job_group("refit")
    conda:
        "../../envs/tune.yaml"
    threads: learner_threads
    resources:
        **job_resources("refit"),
        gpu=training_gpus,
    params:
        upstream=refit_id,
        settings=learner_settings,
        code=REFIT_CODE,
    message:
        "Fitting the tuned {wildcards.learner} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        "../scripts/refit.py"
