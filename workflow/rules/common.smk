# What all rules share: the checked config, the registry of data sets, paths and wildcards.

import sys
from pathlib import Path
from types import SimpleNamespace

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

sys.path.insert(0, workflow.basedir)  # the package is also found where it is not installed

from iunet.artifacts import sha256
from iunet.config import (
    check_datasets,
    check_ranges,
    datasets_of_table,
    explain_schema_error,
    restore_numbers,
    unavailable,
)
from iunet.data.registry import mirror_index, read_registry
from iunet.data.sources import effective_source
from iunet.device import gpus_per_training_job
from iunet.errors import UserError
from iunet.runs import (
    INITS,
    NETWORK_KIND,
    OBJECTIVES,
    config_with_row,
    finetune_defaults,
    network_options,
    parse_variant,
    plan,
    ratios_of,
    resolve_method,
    supernet_defaults,
    value_text,
    variant_pattern,
)
from iunet.paper import paper_digest
from iunet.science_version import digest, science_version

config.update(restore_numbers(config))


def check_schema(content, where=""):
    try:
        validate(content, "../schemas/config.schema.yaml")
    except WorkflowError as error:
        raise WorkflowError(where + explain_schema_error(error.__context__)) from None


check_schema(config)

try:
    REGISTRY = read_registry(config["data"]["registry"])
    check_datasets(config, REGISTRY)
    check_ranges(config)
    MIRROR = config["data"]["mirror"]
    UNAVAILABLE = unavailable(REGISTRY, MIRROR)
    PLANNED = [run for run in plan(config, REGISTRY) if run.dataset not in UNAVAILABLE]
except UserError as error:
    raise WorkflowError(str(error)) from None

for method, network in sorted({(r.method.name, r.method.network.split("-")[0]) for r in PLANNED}):
    if {"network", "supernet", "finetune"} & set(config["methods"][method]):
        where = f"With the changes of 'methods.{method}': "
        check_schema(config_with_row(config, method, network), where)

TABLES = ["table8", "table9"]
TRAINING_GPUS = gpus_per_training_job(config["device"])

# Where runs lie (iunet/runs.py): the path of a supernet's seed, and of a dense network's.
SUPERNET_RUN = "runs/{dataset}/{network}/kappa{kappa}-{objective}{init}{variant}/seed{seed}"
DENSE_RUN = "runs/{dataset}/{network}/dense{init}{tuning}/seed{seed}"
SUPERNET, DENSE = f"<results>/{SUPERNET_RUN}", f"<results>/{DENSE_RUN}"
SUPERNET_LOG, DENSE_LOG = f"<logs>/{SUPERNET_RUN}", f"<logs>/{DENSE_RUN}"
SUPERNET_BENCHMARK, DENSE_BENCHMARK = f"<benchmarks>/{SUPERNET_RUN}", f"<benchmarks>/{DENSE_RUN}"


pathvars:
    results=config["results"],
    logs=f"{config['results']}/logs",
    benchmarks=f"{config['results']}/benchmarks",


def names_of_kind(kind):
    return [name for name, dataset in REGISTRY.items() if dataset.kind == kind]


def any_of(names):
    """A wildcard constraint: one of these names and nothing else."""
    return "|".join(map(re.escape, names))


def any_network():
    """mlp_vis, mlp_vis-alpha4, …"""
    networks = config["networks"].items()
    return "|".join(f"{name}{variant_pattern(options)}" for name, options in networks)


FINETUNE_KEYS = {*finetune_defaults(config, "vision"), *finetune_defaults(config, "tabular")}


wildcard_constraints:
    dataset=any_of(REGISTRY),
    network=any_network(),
    kappa=r"[0-9.]+",
    objective=any_of(OBJECTIVES),
    init="|".join(["", *(f"-{init}" for init in INITS)]),
    variant=variant_pattern(supernet_defaults(config)),
    tuning=variant_pattern(FINETUNE_KEYS),
    method=any_of(config["methods"]),
    seed=r"[0-9]+",
    ratio=r"[0-9.]+",


def used_datasets():
    """Every data set that the config names and that can be had, in the config's order."""
    groups = [*config["datasets"].values(), *(datasets_of_table(config, t) for t in TABLES)]
    names = [name for group in groups for name in group] + [run.dataset for run in PLANNED]
    return [name for name in dict.fromkeys(names) if name not in UNAVAILABLE]


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


def own_file_state(wildcards):
    """The content of a user's file (of a large one, its size and time)."""
    path = Path(own_file(wildcards) or ".")
    if not path.is_file():
        return None
    facts = path.stat()
    return sha256(path) if facts.st_size < 50e6 else [facts.st_size, facts.st_mtime_ns]


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


def experiment_results():
    """Every evaluation and every choice of a ratio that the experiments ask for."""
    results = {}
    for run in PLANNED:
        folder = f"<results>/runs/{run.dataset}/{run.method.network}/{run.method.supernet}"
        for seed in config["seeds"]:
            results[f"{folder}/seed{seed}/evaluation.json"] = None
        if run.method.ratios:
            results[f"{folder}/selection-{run.method.name}.json"] = None
    return list(results)


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
