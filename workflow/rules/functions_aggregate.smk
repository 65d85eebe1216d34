# The functions by which tables, figures and the page find the runs that they are made of.


# ---- tables


def available_datasets(table):
    return [name for name in datasets_of_table(config, table) if name not in UNAVAILABLE]


def is_there(path):
    """With partial results, what is not finished is left out; else it is made."""
    return not config["partial"] or Path(path).exists()


RESULTS = Results(config["results"], tuple(config["seeds"]), UNAVAILABLE, is_there)


def split_file(dataset):
    return f"{config['results']}/splits/{dataset}/split.json"


def splits_of_table(table):
    return [path for path in map(split_file, available_datasets(table)) if is_there(path)]


def split_statistics(table):
    """Of tables 8 and 9: which data sets, and why some of them will be missing."""
    names = datasets_of_table(config, table)
    available = [name for name in available_datasets(table) if is_there(split_file(name))]
    return {
        "upstream": digest(*(split_id(SimpleNamespace(dataset=name)) for name in available)),
        "datasets": names,
        "missing": {
            name: UNAVAILABLE.get(name, NOT_FINISHED) for name in names if name not in available
        },
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
        return requests_at_each_cut(runs, RESULTS)
    return run_requests(runs, RESULTS, "iunet" if wildcards.table == "table4" else None)


def fixed_ratio_requests(wildcards):
    """Every method that has ratios, at each of them."""
    with_ratios = [run for run in runs_of_table(wildcards) if run.method.recipe == "iunet"]
    return requests_at_each_cut(with_ratios, RESULTS)


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
        return {
            "lambdas": {m: r.get("supernet", {}).get("lambda", default) for m, r in rows.items()}
        }
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
    paths = [split_file(name) for name in names if name not in UNAVAILABLE]
    return [path for path in paths if is_there(path)]


def table_splits(wildcards):
    return splits_of(runs_of_table(wildcards))


def budget_note(method):
    budget = tuning_budget(SimpleNamespace(learner=method))
    limit = f", at most {budget['minutes']} minutes" if budget["minutes"] else ""
    return f"{method} {budget['trials']} trials{limit}"


def about_runs(runs):
    """What a table says of its runs beside their numbers."""
    datasets = {run.dataset for run in runs}
    study = "data set and seed" if config["tuning"]["study_per"] == "seed" else "data set"
    tuned = dict.fromkeys(run.method.recipe for run in runs if run.method.recipe in TUNED)
    budgets = [f"Tuning budget per {study}: {'; '.join(map(budget_note, tuned))}."] if tuned else []
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
    candidates = method_of(wildcards).candidates()
    tuned = [candidate_folder(wildcards, *candidate, seed) for candidate in candidates]
    masked = [
        candidate_folder(wildcards, supernet, cut.split("-")[0], seed)
        for supernet, cut in candidates
    ]
    return {
        "weights": [f"{folder}/subnetwork.safetensors" for folder in tuned],
        "masks": [f"{folder}/mask.safetensors" for folder in masked],
        "mask_reports": [f"{folder}/mask.json" for folder in masked],
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


def page_sources():
    """The page's template and texts, wherever the workflow is called from."""
    names = ["page/template.html", "page/style.css", "page/script.js", "decisions.yaml"]
    return [f"{workflow.basedir}/reports/{name}" for name in names]


def results_of_runs(kind):
    """Of every run: its evaluations, or the choices, also of methods that no table shows."""
    paths = (path for run in PLANNED for path in run_results(run))
    named = (path.replace("<results>", config["results"]) for path in dict.fromkeys(paths))
    return [path for path in named if is_there(path) and Path(path).name.startswith(kind)]


def config_name():
    """The config files, the default first; paths as a reader of the page can follow them."""
    paths = dict.fromkeys(Path(path).absolute() for path in reversed(workflow.configfiles))
    roots = (Path.cwd(), Path(workflow.basedir))
    return ", ".join(
        str(next((p.relative_to(r) for r in roots if r in p.parents), p)) for p in paths
    )


def unavailable_and_used():
    """Data sets that the tables name and that cannot be had, with the reason."""
    named = [*(run.dataset for run in ALL_PLANNED)]
    named += [name for table in DATA_TABLES for name in datasets_of_table(config, table)]
    return {name: UNAVAILABLE[name] for name in dict.fromkeys(named) if name in UNAVAILABLE}
