# The functions by which rules find their inputs and parameters, stage by stage.


# ---- what a stage depends on
#
# A job's parameters hold, as `upstream`, a digest of all parameters of the stages before it. Without
# it, a job that fails after a change would pass unnoticed at the next start: its outputs are gone,
# but Snakemake makes a missing intermediate file only for a job that has another reason to run.


def remembered(*names):
    """Computes once for each value of these wildcards: thousands of jobs ask for the same digests."""

    def decorate(function):
        known = {}

        @functools.wraps(function)
        def lookup(wildcards):
            key = tuple(getattr(wildcards, name, None) for name in names)
            if key not in known:
                known[key] = function(wildcards)
            return known[key]

        return lookup

    return decorate


RUN = ("dataset", "network", "kappa", "objective", "init", "variant", "seed", "tuning")


@remembered("dataset")
def download_id(wildcards):
    parts = (registry_row, source_of, mirror_sha256, own_file_state, download_code)
    return digest(*(part(wildcards) for part in parts))


@remembered("dataset")
def split_id(wildcards):
    code = science_version("iunet.data.split")
    return digest(download_id(wildcards), split_settings(wildcards), code)


@remembered("dataset", "network", "init")
def initial_id(wildcards):
    parts = (split_id, network_params, init_name)
    return digest(*(part(wildcards) for part in parts), science_version("iunet.training.initial"))


@remembered(*RUN[:-1])
def supernet_id(wildcards):
    code = science_version("iunet.training.supernet")
    parts = (initial_id, supernet_settings, supernet_augment)
    return digest(*(part(wildcards) for part in parts), code)


@remembered(*RUN[:-1])
def mask_id(wildcards):
    return digest(supernet_id(wildcards), science_version("iunet.method.pruning"))


@remembered(*RUN)
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
    point = {"kappa": float(wildcards.kappa), "seed": int(wildcards.seed)}
    if wildcards.objective.startswith("lasso"):
        settings = parse_variant(wildcards.variant, lasso_defaults(config))
        l1 = float(wildcards.objective.removeprefix("lasso"))
        return {**settings, **point, "objective": "lasso", "l1": l1}
    settings = parse_variant(wildcards.variant, supernet_defaults(config))
    settings["weight"] = settings.pop("lambda")
    return {**settings, **point, "objective": wildcards.objective}


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
    """`sup` and β-LASSO transform nothing, and do not depend on how others do."""
    return augment(wildcards) if wildcards.objective in ("scl", "ilo") else None


def cut_names(wildcards):
    """The cuts that the experiments want of a supernet; all of the config if they have it not."""
    point = (wildcards.dataset, wildcards.network, supernet_name(wildcards))
    if point in CUTS:
        return CUTS[point]
    if wildcards.objective.startswith("lasso"):
        return [SURVIVORS]
    ratios = config["prune"][kind_of(wildcards)]["ratios"]
    return [f"ratio{value_text(ratio)}" for ratio in ratios]


def ratio_param(wildcards):
    """None for β-LASSO, which keeps what survives."""
    return ratio_of(wildcards.cut)


def subnetworks(wildcards):
    """Masks and weights of all cuts of a supernet, in the order of `cut_names`."""
    folders = [f"{SUPERNET}/{name}" for name in cut_names(wildcards)]
    masks = [f"{SUPERNET}/{name.split('-')[0]}" for name in cut_names(wildcards)]
    return {
        "subnetworks": [f"{folder}/subnetwork.safetensors" for folder in folders],
        "masks": [f"{folder}/mask.safetensors" for folder in masks],
        "mask_reports": [f"{folder}/mask.json" for folder in masks],
    }


@remembered(*RUN[:-1])
def evaluation_id(wildcards):
    point = {name: getattr(wildcards, name) for name in RUN[:-1]}
    tunings = [tuning_of(cut) for cut in cut_names(wildcards)]
    ids = [finetune_id(SimpleNamespace(**point, tuning=tuning)) for tuning in tunings]
    return digest(supernet_id(wildcards), cut_names(wildcards), ids)


# ---- the choice of a ratio or l1


def method_of(wildcards):
    """The method of a selection, which must be one on this network."""
    name = wildcards.network.split("-")[0]
    method = resolve_method(config, wildcards.method, name)
    if method.network != wildcards.network or not method.cuts:
        raise WorkflowError(
            f"There is nothing to choose for method '{wildcards.method}' on {wildcards.network}: "
            f"it has {len(method.cuts)} cuts of {method.network}."
        )
    return method


def candidate_folder(wildcards, supernet, cut, seed):
    return f"<results>/runs/{wildcards.dataset}/{wildcards.network}/{supernet}/seed{seed}/{cut}"


def finetune_reports(wildcards):
    """The reports of a method's candidates, seeds within candidates."""
    return [
        f"{candidate_folder(wildcards, *candidate, seed)}/finetune.json"
        for candidate in method_of(wildcards).candidates()
        for seed in config["seeds"]
    ]


def candidates_param(wildcards):
    """The names of the candidates, as [supernet, cut]."""
    return [list(candidate) for candidate in method_of(wildcards).candidates()]


def point_of(dataset, network, supernet, seed):
    """The wildcards of a supernet, from its name."""
    names = re.fullmatch(SUPERNET_NAME, supernet).groupdict()
    return {"dataset": dataset, "network": network, **names, "seed": str(seed)}


@remembered("dataset", "network", "method")
def candidates_id(wildcards):
    ids = []
    for supernet, cut in method_of(wildcards).candidates():
        for seed in config["seeds"]:
            where = point_of(wildcards.dataset, wildcards.network, supernet, seed)
            ids.append(finetune_id(SimpleNamespace(**where, tuning=tuning_of(cut))))
    return digest(ids)


def selection_metric(wildcards):
    return config["prune"][kind_of(wildcards)]["select_by"]


def run_results(run):
    """The evaluations of a planned method on its data set, and the choice among its candidates."""
    folder = f"<results>/runs/{run.dataset}/{run.method.network}"
    places = [f"{folder}/{supernet}" for supernet in run.method.supernets] or [folder]
    evaluations = [
        f"{place}/seed{seed}/evaluation.json" for place in places for seed in config["seeds"]
    ]
    choice = [f"{folder}/selection-{run.method.name}.json"] if run.method.cuts else []
    return evaluations + choice


def experiment_results():
    """Every evaluation and every choice of a ratio or l1 that the experiments ask for."""
    return list(dict.fromkeys(path for run in PLANNED for path in run_results(run)))


# ---- tuned baselines


def learner_settings(wildcards):
    """What a trial depends on; the budget and the threads are no part of it."""
    section = config["tuning"][wildcards.learner]
    others = ("trials", "per", "minutes", "threads")
    return {key: value for key, value in section.items() if key not in others}


def tuning_budget(wildcards):
    """Trials of the whole study, and minutes."""
    section = config["tuning"][wildcards.learner]
    each = TUNED[wildcards.learner] if section["per"] == "hyperparameter" else 1
    return {"trials": section["trials"] * each, "minutes": section["minutes"]}


def learner_threads(wildcards):
    return config["tuning"][wildcards.learner].get("threads", config["train"]["threads"])


def learner_code(wildcards):
    return LEARNER_CODE[wildcards.learner]


def study_seed(wildcards):
    """Of all trials and of the sampler: the run's own if every seed has a study."""
    return int(wildcards.study.partition("-seed")[2] or 0)


def study_name(wildcards):
    """What the study's trials depend on; after a change of any of it, a new one begins.

    It is a name inside the journal, and the journal is no output: raising a budget, or repeating a
    job that was cut off, continues the study.
    """
    parts = (split_id, learner_settings, learner_code, study_seed)
    facts = digest(*(part(wildcards) for part in parts))
    return f"{wildcards.dataset}-{wildcards.learner}-{facts}"


def study_folder(seed):
    return f"tuning-seed{seed}" if config["tuning"]["study_per"] == "seed" else "tuning"


def study_of_seed(wildcards):
    folder = f"<results>/runs/{wildcards.dataset}/{wildcards.learner}"
    return f"{folder}/{study_folder(wildcards.seed)}/study.json"


@remembered("dataset", "learner", "seed")
def refit_id(wildcards):
    study = study_folder(wildcards.seed)
    point = SimpleNamespace(dataset=wildcards.dataset, learner=wildcards.learner, study=study)
    return digest(study_name(point), tuning_budget(point), REFIT_CODE)


def study_workers(wildcards):
    folder = f"<results>/{STUDY}".format(**dict(wildcards.items()))
    return [f"{folder}/worker{i}.json" for i in range(config["tuning"]["workers"])]
