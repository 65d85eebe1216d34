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
    return digest(supernet_id(wildcards), science_version("iunet.pruning"))


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
    planned = cuts_of(PLANNED, wildcards.dataset, wildcards.network, supernet_name(wildcards))
    if planned is not None:
        return planned
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
    point = dict(wildcards.items())
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
    section = config["tuning"][wildcards.learner]
    return {key: section[key] for key in ("trials", "per", "minutes")}


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


def study_of_seed(wildcards):
    folder = f"<results>/runs/{wildcards.dataset}/{wildcards.learner}"
    return f"{folder}/{study_folder(wildcards.seed)}/study.json"


@remembered("dataset", "learner", "seed")
def refit_id(wildcards):
    study = Path(study_of_seed(wildcards)).parent.name
    point = SimpleNamespace(dataset=wildcards.dataset, learner=wildcards.learner, study=study)
    workers = config["tuning"]["workers"]
    return digest(study_name(point), tuning_budget(point), workers, learner_code(wildcards))


def study_workers(wildcards):
    folder = f"<results>/{STUDY}".format(**dict(wildcards.items()))
    return [f"{folder}/worker{i}.json" for i in range(config["tuning"]["workers"])]


# ---- aggregate


def available_datasets(table):
    return [name for name in datasets_of_table(config, table) if name not in UNAVAILABLE]


def is_there(path):
    """With partial results, what is not finished is left out; else it is made."""
    return not config["partial"] or Path(path).exists()


RESULTS = Results(config["results"], tuple(config["seeds"]), UNAVAILABLE, is_there)


def split_statistics(table):
    """Of tables 8 and 9: which data sets, and why some of them will be missing."""
    names = datasets_of_table(config, table)
    available = available_datasets(table)
    return {
        "upstream": digest(*(split_id(SimpleNamespace(dataset=name)) for name in available)),
        "datasets": names,
        "missing": {name: UNAVAILABLE[name] for name in names if name in UNAVAILABLE},
    }


def table_files(table, title="{table}"):
    """A table in all its forms."""
    folder = f"<results>/tables/{table}"
    shown = report(
        f"{folder}.html",
        caption="../../reports/captions/table.rst",
        category="Tables",
        labels={"table": title},
    )
    forms = {"csv": "csv", "markdown": "md", "latex": "tex", "json": "json"}
    return {form: f"{folder}.{ending}" for form, ending in forms.items()} | {"html": shown}


def figure_files(figure, category="Figures", title="{figure}"):
    """A figure as PDF and PNG, and the data behind it."""
    folder = f"<results>/figures/{figure}"
    shown = report(
        f"{folder}.png",
        caption="../../reports/captions/figure.rst",
        category=category,
        labels={"figure": title},
    )
    return {"png": shown, "pdf": f"{folder}.pdf", "csv": f"{folder}.csv"}


@functools.cache
def runs_of(entry):
    """The runs of a table or figure, `tables.table1`."""
    return plan_entry(config, REGISTRY, entry)


RUNS_BEHIND = {"metrics_tabular": "tables.table7"}  # tables made of another one's runs


def runs_of_table(wildcards):
    if wildcards.table == "cost":
        return ALL_PLANNED
    return runs_of(RUNS_BEHIND.get(wildcards.table, f"tables.{wildcards.table}"))


def table_requests(wildcards):
    runs = runs_of_table(wildcards)
    if wildcards.table == "cost":
        return cost_requests(runs, RESULTS, study_folder)
    if wildcards.table == "tuning_tabular":
        cuts = dict.fromkeys(cut for run in runs for cut in run.method.cuts)
        return [
            request
            for cut in cuts
            for request in run_requests([r for r in runs if cut in r.method.cuts], RESULTS, cut=cut)
        ]
    return run_requests(runs, RESULTS, "iunet" if wildcards.table == "table4" else None)


def fixed_ratio_requests(wildcards):
    """Every method that has ratios, at each of them."""
    with_ratios = [run for run in runs_of_table(wildcards) if run.method.recipe == "iunet"]
    cuts = dict.fromkeys(cut for run in with_ratios for cut in run.method.cuts)
    return [
        request
        for cut in cuts
        for request in run_requests(
            [run for run in with_ratios if cut in run.method.cuts], RESULTS, cut=cut
        )
    ]


def measured_runs(wildcards):
    return [r for r in runs_of_table(wildcards) if r.method.cuts and r.dataset not in UNAVAILABLE]


def measure_files(wildcards):
    paths = [f"{RESULTS.folder(r)}/measure-{r.method.name}.json" for r in measured_runs(wildcards)]
    return [path for path in paths if is_there(path)]


def table_more(wildcards):
    """What a table is made of beside its runs."""
    rows = {run.method.name: config["methods"][run.method.name] for run in runs_of_table(wildcards)}
    default = config["train"]["supernet"]["lambda"]
    if wildcards.table == "tuning_lambda":
        return {"lambdas": {m: r.get("supernet", {}).get("lambda", default) for m, r in rows.items()}}
    if wildcards.table == "tuning_tabular":
        return {"kappas": {method: row["kappa"] for method, row in rows.items()}}
    if wildcards.table == "tuning_fixed_ratio":
        return {"fixed": fixed_ratio_requests(wildcards)}
    if wildcards.table == "efficiency":
        return {"measures": measure_files(wildcards)}
    return {}


def table_inputs(wildcards):
    more = table_more(wildcards)
    files = files_of([*table_requests(wildcards), *more.get("fixed", [])])
    return [*files, *more.get("measures", [])]


def splits_of(runs):
    """The splits of the runs' data sets, whose JSON says whether a set is a subset."""
    names = dict.fromkeys(run.dataset for run in runs)
    paths = [f"{config['results']}/splits/{name}/split.json" for name in names if name not in UNAVAILABLE]
    return [path for path in paths if is_there(path)]


def table_splits(wildcards):
    return splits_of(runs_of_table(wildcards))


def budget_note(method):
    section = config["tuning"][method]
    trials = section["trials"] * (TUNED[method] if section["per"] == "hyperparameter" else 1)
    limit = f", at most {section['minutes']} minutes" if section["minutes"] else ""
    return f"{method} {trials} trials{limit}"


def about_runs(runs):
    """What a table says of its runs beside their numbers."""
    datasets = {run.dataset for run in runs}
    tuned = dict.fromkeys(run.method.recipe for run in runs if run.method.recipe in TUNED)
    budgets = [f"Tuning budget per data set: {'; '.join(map(budget_note, tuned))}."] if tuned else []
    return {
        "stand_ins": {p: ours for p, ours in config["stand_ins"].items() if ours in datasets},
        "notes": budgets,
    }


def table_about(wildcards):
    return about_runs(runs_of_table(wildcards))


def run_ids(runs):
    """A digest of all that runs depend on (see the top of this file)."""
    ids = []
    for run in runs:
        if run.dataset in UNAVAILABLE:
            continue
        method, place = run.method, {"dataset": run.dataset, "network": run.method.network}
        for seed in config["seeds"]:
            if method.recipe in TUNED:
                point = SimpleNamespace(dataset=run.dataset, learner=method.network, seed=str(seed))
                ids.append(refit_id(point))
            elif method.recipe == "dense":
                names = re.fullmatch(DENSE_NAME, method.supernets[0]).groupdict()
                ids.append(finetune_id(SimpleNamespace(**place, **names, seed=str(seed))))
            else:
                points = [point_of(*place.values(), name, seed) for name in method.supernets]
                ids += [evaluation_id(SimpleNamespace(**point)) for point in points]
    return digest(ids)


def table_id(wildcards):
    return run_ids(runs_of_table(wildcards))


def table7_about(wildcards):
    return about_runs(runs_of("tables.table7"))


def table7_id(wildcards):
    return run_ids(runs_of("tables.table7"))


# ---- figures


def figure2_requests(wildcards):
    runs = runs_of("figures.figure2")
    return supernet_requests(runs, RESULTS, {"evaluation": "evaluation.json"})


def figure3_requests(wildcards):
    files = {"histograms": "histograms.safetensors", "report": "supernet.json"}
    return supernet_requests(runs_of("figures.figure3"), RESULTS, files)


def figure4_requests(wildcards, kind=None):
    """Of the first seed: what one network looks like."""
    files = {"weights": "supernet.safetensors", "report": "supernet.json"}
    runs = [r for r in runs_of("figures.figure4") if kind in (None, REGISTRY[r.dataset].kind)]
    requests = supernet_requests(runs, RESULTS, files, config["seeds"][:1])
    for request in requests:
        path = f"{config['results']}/splits/{request['dataset']}/preprocessing.json"
        tabular = REGISTRY[request["dataset"]].kind == "tabular"
        if tabular and not request["missing"] and is_there(path):
            request["preprocessing"] = path
    return requests


def figure4_images(wildcards):
    return figure4_requests(wildcards, "vision")


def figure4_tables(wildcards):
    return figure4_requests(wildcards, "tabular")


def figure_inputs(requests):
    return lambda wildcards: files_of(requests(wildcards))


def figure_id(figure):
    return lambda wildcards: run_ids(runs_of(f"figures.{figure}"))


def study_folder(seed):
    return f"tuning-seed{seed}" if config["tuning"]["study_per"] == "seed" else "tuning"


def history_requests(wildcards):
    runs = [run for run in ALL_PLANNED if run.dataset == wildcards.dataset]
    return trials_requests(runs, RESULTS, study_folder(config["seeds"][0]))


def tuned_datasets():
    tuned = (run.dataset for run in PLANNED if run.method.recipe in TUNED)
    return list(dict.fromkeys(tuned))


# ---- efficiency


def measure_candidates(wildcards):
    """The subnetworks among which a method chose, of the first seed."""
    seed = config["seeds"][0]
    folders = [
        candidate_folder(wildcards, *candidate, seed)
        for candidate in method_of(wildcards).candidates()
    ]
    bare = [folder.rpartition("/")[0] + "/" + folder.rpartition("/")[2].split("-")[0] for folder in folders]
    return {
        "weights": [f"{folder}/subnetwork.safetensors" for folder in folders],
        "masks": [f"{folder}/mask.safetensors" for folder in bare],
        "mask_reports": [f"{folder}/mask.json" for folder in bare],
    }


def measure_dense(wildcards):
    """Of the same network and seed."""
    folder = f"<results>/runs/{wildcards.dataset}/{wildcards.network}"
    supernet = method_of(wildcards).supernets[0]
    init = point_of(wildcards.dataset, wildcards.network, supernet, 0)["init"]
    seed = config["seeds"][0]
    return {
        "dense": f"{folder}/dense{init}/seed{seed}/network.safetensors",
        "description": f"{folder}/initial{init}/seed{seed}/initial.json",
    }


# ---- the page


def page_tables():
    """The tables in the order of the page."""
    paper = [f"table{number}" for number in range(1, 10)]
    appendix = ["tuning_lambda", "tuning_tabular", "tuning_fixed_ratio"]
    return [*paper, *appendix, "ranking", "metrics_tabular", "efficiency", "cost"]


def page_figures():
    """The figures in the order of the page, as (id, title)."""
    titles = {
        "figure2": "Figure 2: validation accuracy against compression",
        "figure3": "Figure 3: magnitudes of weights during training",
        "figure4": "Figure 4: first-layer weights after training",
        "critical_difference": "Critical difference of the methods on tables",
    }
    history = {f"tuning/{name}": f"Tuning on {name}" for name in tuned_datasets()}
    return {**titles, **history}


def run_evaluations():
    """Every evaluation, for the machines and versions behind the numbers."""
    requests = run_requests(ALL_PLANNED, RESULTS)
    return [path for path in files_of(requests) if path.endswith("evaluation.json")]


def config_name():
    """The config files that were given, or the default."""
    return ", ".join(str(path) for path in workflow.configfiles)


def unavailable_and_used():
    """Data sets that the tables name and that cannot be had, with the reason."""
    named = [*(run.dataset for run in ALL_PLANNED)]
    named += [name for table in DATA_TABLES for name in datasets_of_table(config, table)]
    return {name: UNAVAILABLE[name] for name in dict.fromkeys(named) if name in UNAVAILABLE}
