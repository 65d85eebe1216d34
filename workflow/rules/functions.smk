# The functions by which rules find their inputs and parameters, stage by stage.


# ---- what a stage depends on
#
# A job's parameters hold, as `upstream`, a digest of all parameters of the stages before it. Without
# it, a job that fails after a change would pass unnoticed at the next start: its outputs are gone,
# but Snakemake makes a missing intermediate file only for a job that has another reason to run.


def download_id(wildcards):
    parts = (registry_row, source_of, mirror_sha256, own_file_state, download_code)
    return digest(*(part(wildcards) for part in parts))


def split_id(wildcards):
    code = science_version("iunet.data.split")
    return digest(download_id(wildcards), split_settings(wildcards), code)


def initial_id(wildcards):
    parts = (split_id, network_params, init_name)
    return digest(*(part(wildcards) for part in parts), science_version("iunet.training.initial"))


def supernet_id(wildcards):
    code = science_version("iunet.training.supernet")
    parts = (initial_id, supernet_settings, supernet_augment)
    return digest(*(part(wildcards) for part in parts), code)


def mask_id(wildcards):
    return digest(supernet_id(wildcards), science_version("iunet.pruning"))


def finetune_id(wildcards):
    """Of a subnetwork, or of a dense network, which has no mask."""
    before = mask_id if hasattr(wildcards, "kappa") else initial_id
    code = science_version("iunet.training.finetune")
    return digest(before(wildcards), finetune_settings(wildcards), code)


# ---- download


def own_file(wildcards):
    """The user's file that a data set is made from, so that changing it makes the set anew."""
    dataset = REGISTRY[wildcards.dataset]
    return dataset.location if dataset.source == "file" else []


@functools.cache  # every job of a data set asks, at every planning
def file_state(path):
    """The content of a file (of a large one, its size and time); None if there is none."""
    if not Path(path).is_file():
        return None
    facts = Path(path).stat()
    return sha256(path) if facts.st_size < 50e6 else [facts.st_size, facts.st_mtime_ns]


def own_file_state(wildcards):
    return file_state(own_file(wildcards) or "")


def registry_row(wildcards):
    """The registry row as plain values: another row is another data set, and is fetched anew."""
    dataset = REGISTRY[wildcards.dataset]
    fields = ("name", "kind", "source", "location", "target", "categorical")
    return {field: getattr(dataset, field) for field in fields}


def source_of(wildcards):
    return effective_source(REGISTRY[wildcards.dataset], MIRROR)


def mirror_sha256(wildcards):
    """What the mirror holds, and not where it is: a mirror may move without making data anew."""
    if source_of(wildcards) != "mirror":
        return None
    if wildcards.dataset in UNAVAILABLE:
        raise WorkflowError(
            f"Data set '{wildcards.dataset}' is not in the mirror '{MIRROR}' (config key "
            "data.mirror). Add it there, or set data.mirror to null to use the network."
        )
    return mirror_index(MIRROR)[wildcards.dataset]["sha256"]


def download_code(wildcards):
    return science_version("iunet.data.download", f"iunet.data.sources.{source_of(wildcards)}")


# ---- split


def split_settings(wildcards):
    """The fields that iunet.data.split.split_table or split_images takes."""
    section, kind = config["split"], REGISTRY[wildcards.dataset].kind
    shares = {f"{part}_share": share for part, share in section[kind].items()}
    extra = {"max_categories": section["max_categories"]} if kind == "tabular" else {}
    return {"seed": section["seed"], **shares, **extra}


# ---- runs


def network_params(wildcards):
    """The network's name and options, from its name in the path."""
    name = wildcards.network.split("-")[0]
    return {"name": name, "options": network_options(config, wildcards.network)}


def init_name(wildcards):
    return wildcards.init.removeprefix("-") or config["init"]


def kind_of(wildcards):
    return NETWORK_KIND[wildcards.network.split("-")[0]]


def supernet_settings(wildcards):
    """The fields of iunet.training.supernet.SupernetSettings."""
    settings = parse_variant(wildcards.variant, supernet_defaults(config))
    settings["weight"] = settings.pop("lambda")
    return {
        **settings,
        "kappa": float(wildcards.kappa),
        "objective": wildcards.objective,
        "seed": int(wildcards.seed),
    }


def finetune_settings(wildcards):
    """The fields of iunet.training.finetune.FinetuneSettings."""
    kind = kind_of(wildcards)
    return {
        **parse_variant(wildcards.tuning, finetune_defaults(config, kind)),
        "optimiser": config["train"][f"finetune_{kind}"]["optimiser"]["name"],
        "seed": int(wildcards.seed),
    }


def supernet_name(wildcards):
    return "kappa{0.kappa}-{0.objective}{0.init}{0.variant}".format(wildcards)


def augment(wildcards):
    return config["augment"][kind_of(wildcards)]


def supernet_augment(wildcards):
    """`sup` transforms nothing, and does not depend on how others do."""
    return None if wildcards.objective == "sup" else augment(wildcards)


def ratio_names(wildcards):
    """The ratios that the experiments want of a supernet; all of the config if they have it not."""
    planned = ratios_of(PLANNED, wildcards.dataset, wildcards.network, supernet_name(wildcards))
    ratios = config["prune"][kind_of(wildcards)]["ratios"]
    return [value_text(ratio) for ratio in ratios] if planned is None else planned


def candidate_names(wildcards):
    """The ratios among which a method's is chosen."""
    network = wildcards.network.split("-")[0]
    return resolve_method(config, wildcards.method, network).ratio_names()


def subnetworks(wildcards):
    """Masks and weights of all ratios of a supernet, in the order of `ratio_names`."""
    folders = [f"{SUPERNET}/ratio{name}" for name in ratio_names(wildcards)]
    masks = [f"{SUPERNET}/ratio{name.split('-')[0]}" for name in ratio_names(wildcards)]
    return {
        "subnetworks": [f"{folder}/subnetwork.safetensors" for folder in folders],
        "masks": [f"{folder}/mask.safetensors" for folder in masks],
        "mask_reports": [f"{folder}/mask.json" for folder in masks],
    }


def finetune_reports(wildcards):
    """The reports of a method's candidates, seeds within ratios."""
    return [
        f"{SUPERNET}/ratio{name}/finetune.json".replace("{seed}", str(seed))
        for name in candidate_names(wildcards)
        for seed in config["seeds"]
    ]


def finetune_ids(wildcards, names, seeds):
    """Of the fine-tuned subnetworks with these ratios and seeds."""
    ids = []
    for name in names:
        tuning = name[len(name.split("-")[0]) :]
        for seed in seeds:
            point = {**dict(wildcards.items()), "seed": str(seed), "tuning": tuning}
            ids.append(finetune_id(SimpleNamespace(**point)))
    return ids


def evaluation_id(wildcards):
    subnetworks = finetune_ids(wildcards, ratio_names(wildcards), [wildcards.seed])
    return digest(supernet_id(wildcards), subnetworks)


def candidates_id(wildcards):
    return digest(finetune_ids(wildcards, candidate_names(wildcards), config["seeds"]))


def selection_metric(wildcards):
    return config["prune"][kind_of(wildcards)]["select_by"]


def experiment_results(planned=PLANNED):
    """Every evaluation and every choice of a ratio that the experiments ask for."""
    results = {}
    for run in planned:
        folder = f"<results>/runs/{run.dataset}/{run.method.network}/{run.method.supernet}"
        for seed in config["seeds"]:
            results[f"{folder}/seed{seed}/evaluation.json"] = None
        if run.method.ratios:
            results[f"{folder}/selection-{run.method.name}.json"] = None
    return list(results)


# ---- what a job needs of the machine (iunet/resources.py has the formula)


def job_cost(stage, wildcards):
    """The estimated time and memory of a job of a rule that has a data set."""
    data = data_size(REGISTRY[wildcards.dataset], config["results"])
    if stage.startswith("download"):
        return resources.download_cost(data)
    if stage.startswith("split"):
        return resources.split_cost(data)
    if stage.startswith("select"):
        return resources.select_cost()
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
    cuts = len(ratio_names(wildcards)) if stage == "evaluate" else 0
    _, members = resources.epochs_and_members(finetune_defaults(config, kind_of(wildcards)))
    return resources.evaluate_cost(data, size, cuts, members, DEVICE)


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
    """Which jobs a scheduler gets as one; without a scheduler groups mean nothing."""

    def group(wildcards):
        size = size_of_runs(wildcards.dataset, wildcards.network)
        return resources.GROUPS[size].get(stage)

    return group


# ---- aggregate


def available_datasets(table):
    return [name for name in datasets_of_table(config, table) if name not in UNAVAILABLE]


def table_params(table):
    """Which data sets the table shows, and why some of them will be missing."""
    names = datasets_of_table(config, table)
    available = available_datasets(table)
    return {
        "upstream": digest(*(split_id(SimpleNamespace(dataset=name)) for name in available)),
        "datasets": names,
        "missing": {name: UNAVAILABLE[name] for name in names if name in UNAVAILABLE},
    }


# ---- for `make plan` (iunet/plan.py)


def cost_of(stage, wildcards):
    """The estimate for any rule; None for those that need next to nothing."""
    return job_cost(stage, wildcards) if hasattr(wildcards, "dataset") else None


def files_of_experiment(name):
    only = {**config, "experiments": {name: config["experiments"][name]}}
    planned = [run for run in plan(only, REGISTRY) if run.dataset not in UNAVAILABLE]
    return [path.replace("<results>", config["results"]) for path in experiment_results(planned)]


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
