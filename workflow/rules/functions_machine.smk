# What a job needs of the machine (iunet/machine/resources.py has the formulas), and what is checked before
# anything starts.


def job_cost(stage, wildcards):
    """The estimated time and memory of a job of a rule that has a data set."""
    data = data_size(REGISTRY[wildcards.dataset], config["results"])
    if stage.startswith("download"):
        return resources.download_cost(data)
    if stage.startswith("split"):
        return resources.split_cost(data)
    if stage in ("choose", "study", "tuning_history"):
        return resources.select_cost()
    if hasattr(wildcards, "learner"):
        return learner_cost(stage, wildcards, data)
    name = wildcards.network.split("-")[0]
    size = network_size(name, network_options(config, wildcards.network), data)
    if stage == "initialise":
        return resources.initial_cost(size)
    if stage == "supernet":
        return resources.supernet_cost(data, size, supernet_settings(wildcards), DEVICE)
    if stage == "prune":
        return resources.prune_cost(size)
    if stage in ("finetune", "train_dense"):
        return resources.finetune_cost(data, size, finetune_settings(wildcards), DEVICE)
    cuts = len(cut_names(wildcards)) if stage == "evaluate" else 0
    _, members = resources.epochs_and_members(finetune_defaults(config, kind_of(wildcards)))
    return resources.evaluate_cost(data, size, cuts, members, DEVICE)


def learner_cost(stage, wildcards, data):
    """A tuned baseline: a trial, or a worker's share of all trials."""
    learner, section = wildcards.learner, config["tuning"][wildcards.learner]
    width = section.get("width", config["networks"]["mlp_tab"]["width"])
    size = network_size("mlp_tab", {"width": width, "depth": 9}, data)
    settings = {**section, "batch_size": config["train"]["batch_size"], "snapshot_ensemble": True}
    trial = resources.trial_cost(learner, data, size, settings, DEVICE)
    if stage == "evaluate_tuned":
        return resources.Cost(15, trial.mem_mb)
    if stage == "refit":
        return trial
    budget = tuning_budget(wildcards)
    return resources.tune_cost(
        budget["trials"], trial, budget["minutes"], config["tuning"]["workers"]
    )


def job_resources(stage):
    """Memory and minutes of a rule's jobs; both grow with the attempt."""
    return {
        "mem_mb": lambda wildcards, attempt: resources.asked_mem_mb(
            job_cost(stage, wildcards), attempt
        ),
        "runtime": lambda wildcards, attempt: resources.asked_minutes(
            job_cost(stage, wildcards), attempt
        ),
    }


def training_gpus(wildcards):
    """1 if training uses a GPU; an error where this machine is to train, but has none."""
    if not TRAINING_GPUS or not RUNS_HERE or visible_gpus():
        return TRAINING_GPUS
    raise WorkflowError(NO_GPU)


@functools.cache
def size_of_runs(dataset, network):
    """small, medium or large: how the jobs of a network on a data set are submitted."""
    kind = NETWORK_KIND[network.split("-")[0]]
    data = data_size(REGISTRY[dataset], config["results"])
    size = network_size(network.split("-")[0], network_options(config, network), data)
    supernet = supernet_defaults(config) | {"objective": "ilo"}
    return resources.size_class(
        resources.supernet_cost(data, size, supernet, DEVICE),
        resources.finetune_cost(data, size, finetune_defaults(config, kind), DEVICE),
    )


def job_group(stage):
    """Which jobs a scheduler gets as one; without a scheduler there is nothing to group."""

    def group(wildcards):
        if RUNS_HERE:
            return None
        if stage in resources.TUNED_GROUPS:
            return resources.TUNED_GROUPS[stage]
        size = size_of_runs(wildcards.dataset, wildcards.network)
        return resources.GROUPS[size].get(stage)

    return group


# ---- for `make plan` (iunet/machine/cost.py)


def cost_of(stage, wildcards):
    """The estimate for any rule; None for those that need next to nothing."""
    return job_cost(stage, wildcards) if hasattr(wildcards, "dataset") else None


def files_of_entry(key):
    """The results of the runs of a table, figure or experiment."""
    runs = [run for run in plan_entry(config, REGISTRY, key) if run.dataset not in UNAVAILABLE]
    paths = (path for run in runs for path in run_results(run))
    return [path.replace("<results>", config["results"]) for path in dict.fromkeys(paths)]


# ---- before anything starts


def check_before_start():
    """What would fail only when the first job starts, or for ever in a queue, is said at once."""
    jobs = {job.rule.name: job for job in workflow.dag.needrun_jobs()}  # one of each rule
    if any("gpu" in job.rule.resources for job in jobs.values()):
        training_gpus(None)
    if workflow.executor_plugin.name == "slurm":
        sent = [job for job in jobs.values() if not job.is_local]
        partitions = {job.resources.get("slurm_partition") for job in sent} - {None}
        try:
            cluster.check_slurm(partitions, workflow.executor_settings.partition_config)
        except UserError as error:
            raise WorkflowError(str(error)) from None
