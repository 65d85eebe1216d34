# The functions by which rules find their inputs and parameters, stage by stage. What needs no Snakemake
# is in iunet/runs/, iunet/tables/ and iunet/figures/.

from iunet.page.sources import page_sources
from iunet.paper import paper_digest
from iunet.study.requests import files_of_rows, row_requests


def setting(function):
    """A rule's parameter: what a function of iunet/runs/settings.py says of the job."""
    return lambda wildcards: function(config, wildcards)


def by(wildcard, function):
    """Likewise, for a function that asks for one wildcard alone."""
    return lambda wildcards: function(config, getattr(wildcards, wildcard))


# ---- networks and runs


def network_module(wildcards):
    """The file that builds the network: a new network is no reason to train the others again."""
    return network_entry(base_network(wildcards.network)).module


def initial_of(wildcards):
    """The initial weights of a supernet or dense network, whose name says which."""
    point = dict(wildcards.items())
    run = point.get("supernet") or point["dense"]
    cut = point["cut"] + point.get("options", "") if "cut" in point else None
    check_run(point["dataset"], point["network"], point["seed"], run, cut)
    parsed = (SupernetName if "supernet" in point else DenseName).parse(run)
    place = {key: point[key] for key in ("dataset", "network", "seed")}
    return {
        "initial": paths.INITIAL_WEIGHTS.format(**place, initial=parsed.initial),
        "description": paths.INITIAL_REPORT.format(**place, initial=parsed.initial),
    }


def supernet_of_mask(wildcards):
    """The supernet that a mask comes from: of this seed, or of the next."""
    try:
        seed = settings.seed_of_mask(config, wildcards)
    except UserError as error:
        raise WorkflowError(str(error)) from None
    point = {**dict(wildcards.items()), "seed": seed}
    return {
        "supernet": paths.SUPERNET_WEIGHTS.format(**point),
        "supernet_report": paths.SUPERNET_REPORT.format(**point),
    }


def trained_start(wildcards):
    """The trained supernet, where a fine-tuning starts from it."""
    trained = settings.finetune_settings(config, wildcards).get("reinit") == "trained"
    return {"supernet": paths.SUPERNET_WEIGHTS.format(**wildcards)} if trained else {}


def schedule_module(wildcards):
    """The file of the learning-rate schedule: a new one repeats no fine-tuning of others."""
    return settings.schedule_module(settings.finetune_settings(config, wildcards))


def decoder_schedule_module(wildcards):
    return settings.schedule_module(settings.decoder_settings(config, wildcards))


# ---- download


def own_file(wildcards):
    """The user's file that a data set is made from, so that changing it makes the set anew."""
    dataset = REGISTRY[wildcards.dataset]
    return dataset.location if dataset.source == "file" else []


def registry_row(wildcards):
    """The registry row as plain values: another row is another data set, and is fetched anew."""
    return REGISTRY[wildcards.dataset].row()


def source_of(wildcards):
    return effective_source(REGISTRY[wildcards.dataset], MIRROR)


def mirror_sha256(wildcards):
    """What the mirror holds, and not where it is: a mirror may move without making data anew."""
    if source_of(wildcards) != "mirror":
        return None
    if wildcards.dataset in BENCH.unavailable:
        raise WorkflowError(
            f"Data set '{wildcards.dataset}' is not in the mirror '{MIRROR}' (config key "
            "data.mirror). Add it there, or set data.mirror to null to use the network."
        )
    return mirror_index(MIRROR)[wildcards.dataset]["sha256"]


def source_module(wildcards):
    return f"iunet.data.sources.{source_of(wildcards)}"


# ---- split


def split_settings(wildcards):
    return settings.split_settings(config, REGISTRY[wildcards.dataset])


def split_files():
    """What every split leaves behind."""
    return {
        "train": paths.TRAIN,
        "valid": paths.VALID,
        "test": paths.TEST,
        "indices": paths.INDICES,
        "preprocessing": paths.PREPROCESSING,
        "split": paths.SPLIT_REPORT,
    }


# ---- tuned learners


def learner_module(wildcards):
    return LEARNERS[wildcards.learner].module


def study_name(wildcards):
    """What the study's trials depend on; after a change of any of it, a new one begins.

    It is a name inside the journal, and the journal is no output: raising a budget, or repeating a
    job that was cut off, continues the study. Code around the trials is left out: they stay true
    when it changes.
    """
    facts = digest(
        maker(paths.fill(paths.SPLIT_REPORT, config["results"], dataset=wildcards.dataset)).state,
        settings.learner_settings(config, wildcards.learner),
        code_lines(learner_module(wildcards)),
        settings.study_seed(wildcards.study),
    )
    return f"{wildcards.dataset}-{wildcards.learner}-{facts}"


def study_workers(wildcards):
    """The shares of a study; a finished one keeps those that it had, if their number is `auto`.

    A scheduler has more workers, and going there is no reason to repeat the study.
    """
    workers = config["tuning"]["workers"]
    if AUTO_WORKERS:
        finished = Path(BENCH.path(paths.STUDY_REPORT, **wildcards))
        if finished.exists():
            workers = len([*finished.parent.glob("worker*.json")]) or workers
    return expand(paths.STUDY_WORKER, worker=range(workers), allow_missing=True)


def study_of_seed(wildcards):
    if REGISTRY[wildcards.dataset].kind != "tabular":
        raise WorkflowError(
            f"{wildcards.learner} is for tables, but '{wildcards.dataset}' is none."
        )
    check_seed(config, wildcards.seed, f"The path of {wildcards.learner}")
    study = settings.study_folder(config, wildcards.seed)
    point = {"dataset": wildcards.dataset, "learner": wildcards.learner, "study": study}
    return paths.STUDY_REPORT.format(**point)


# ---- evaluation and choice


def decoder_of(wildcards):
    """The decoder that is trained after a supernet whose objective trains none."""
    if settings.trains_decoder(wildcards.supernet):
        return {}
    return {"decoder": paths.SUPERNET_DECODER.format(**wildcards)}


def method_of(wildcards):
    """The method of a choice, which must be one on this network."""
    try:
        return BENCH.method(wildcards.method, wildcards.network)
    except UserError as error:
        raise WorkflowError(str(error)) from None


def candidate_files(wildcards, *templates):
    """Files of a method's candidates, seeds within candidates within templates."""
    place = {"dataset": wildcards.dataset, "network": wildcards.network}
    return [
        BENCH.subnetwork(template, **place, supernet=supernet, cut=cut, seed=seed)
        for template in templates
        for supernet, cut in method_of(wildcards).candidates()
        for seed in BENCH.seeds
    ]


def candidates_param(wildcards):
    """The names of the candidates, as [supernet, cut]."""
    return [list(candidate) for candidate in method_of(wildcards).candidates()]


def latency_files(wildcards):
    """The candidates of the first seed, and the dense network of the same initial weights."""
    place = {"dataset": wildcards.dataset, "network": wildcards.network, "seed": BENCH.seeds[0]}
    candidates = method_of(wildcards).candidates()
    supernet = SupernetName.parse(candidates[0][0])

    def of_candidates(template):
        return [BENCH.subnetwork(template, **place, supernet=s, cut=cut) for s, cut in candidates]

    return {
        "weights": of_candidates(paths.SUBNETWORK_WEIGHTS),
        "masks": of_candidates(paths.MASK),
        "mask_reports": of_candidates(paths.MASK_REPORT),
        "dense": BENCH.path(paths.DENSE_WEIGHTS, **place, dense=str(DenseName(supernet.init))),
        "description": BENCH.path(paths.INITIAL_REPORT, **place, initial=supernet.initial),
    }


# ---- tables, figures, the page


PAPER = paper_digest()


@cache
def ask_of_table(table):
    return table_ask(BENCH, table)


def table_code(wildcards):
    return table_module(wildcards.table).__name__


def table_splits(wildcards):
    """The splits of a table's data sets, whose reports say whether a set is a subset."""
    names = dict.fromkeys(cell.dataset for cell in ask_of_table(wildcards.table).cells)
    files = [BENCH.path(paths.SPLIT_REPORT, dataset=n) for n in names if n not in BENCH.unavailable]
    return [path for path in files if BENCH.exists(path)]


def table_files():
    """A table in all its forms."""
    shown = report(
        f"{paths.TABLE}.html",
        caption="../../reports/captions/table.rst",
        category="Tables",
        labels={"table": "{table}"},
    )
    forms = {"csv": "csv", "markdown": "md", "latex": "tex", "json": "json"}
    return {form: f"{paths.TABLE}.{ending}" for form, ending in forms.items()} | {"html": shown}


@cache
def all_rows():
    return row_requests(BENCH)


@cache
def ask_of_figure(figure):
    return figure_ask(BENCH, figure)


def figure_code(wildcards):
    return ask_of_figure(wildcards.figure).module


def experiment_files(wildcards):
    """The tables and pictures of the config's experiments, and nothing else."""
    names = list(config["experiments"])
    if not names:
        raise WorkflowError(
            "The config has no experiments: name one under 'experiments', as docs/runs.md shows."
        )
    tables = expand(f"{paths.TABLE}.csv", table=names)
    return tables + expand(f"{paths.FIGURE}.png", figure=names)


def page_runs(stem):
    """Of every run: its evaluations, or the choices, also of methods that no table shows."""
    files = dict.fromkeys(path for cell in BENCH.cells for path in BENCH.results_of(cell))
    return [path for path in files if BENCH.exists(path) and Path(path).name.startswith(stem)]


def config_name():
    """The config files, the default first; paths as a reader of the page can follow them."""
    files = dict.fromkeys(Path(path).absolute() for path in reversed(workflow.configfiles))
    roots = (Path.cwd(), PROJECT)
    return ", ".join(
        str(next((p.relative_to(r) for r in roots if r in p.parents), p)) for p in files
    )
