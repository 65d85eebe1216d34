# What all rules share: the checked config, the registry of data sets, paths and wildcards.

import functools
import sys
from pathlib import Path
from types import SimpleNamespace

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

sys.path.insert(0, workflow.basedir)  # the package is also found where it is not installed

from iunet.machine import cluster, resources
from iunet.artifacts import sha256
from iunet.runs.config import (
    check_datasets,
    check_ranges,
    datasets_of_table,
    explain_schema_error,
    restore_numbers,
    unavailable,
)
from iunet.data.registry import mirror_index, read_registry
from iunet.data.sources import effective_source
from iunet.machine.device import gpus_per_training_job, resolve_device, visible_gpus
from iunet.errors import UserError
from iunet.runs.entries import cuts_by_supernet, entries, plan, plan_entry
from iunet.runs.names import (
    INITS,
    NETWORK_KIND,
    OBJECTIVES,
    SURVIVORS,
    TUNED,
    config_with_row,
    finetune_defaults,
    lasso_defaults,
    network_options,
    parse_variant,
    ratio_of,
    resolve_method,
    supernet_defaults,
    tuning_of,
    value_text,
    variant_pattern,
)
from iunet.paper import paper_digest
from iunet.runs.requests import (
    NOT_FINISHED,
    Results,
    cost_requests,
    files_of,
    requests_at_each_cut,
    run_requests,
    supernet_requests,
    trials_requests,
)
from iunet.runs.versions import digest, science_version
from iunet.machine.workload import data_size, network_size

# What a trial depends on. The code around it is left out: its trials stay true when that changes.
LEARNER_CODE = {learner: science_version(f"iunet.baselines.{learner}") for learner in TUNED}
REFIT_CODE = science_version("iunet.baselines.tuning")

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
    ALL_PLANNED = plan(config, REGISTRY)
    PLANNED = [run for run in ALL_PLANNED if run.dataset not in UNAVAILABLE]
    CUTS = cuts_by_supernet(PLANNED)
except UserError as error:
    raise WorkflowError(str(error)) from None

for method, network in sorted({(r.method.name, r.method.network.split("-")[0]) for r in PLANNED}):
    if network in TUNED:
        continue
    if {"network", "supernet", "finetune"} & set(config["methods"][method]):
        where = f"With the changes of 'methods.{method}': "
        check_schema(config_with_row(config, method, network), where)

DATA_TABLES = ["table8", "table9"]  # of the data sets
RUN_TABLES = [
    *(name for name in config["tables"] if name not in DATA_TABLES),
    "metrics_tabular",
    "cost",
]
PAPER = digest(*(paper_digest(number) for number in range(1, 10)))
DEVICE = resolve_device(config["device"])
TRAINING_GPUS = gpus_per_training_job(config["device"])

# Where jobs run: here, or with a scheduler (then Snakemake has a number of jobs, `nodes`). Here, no
# more jobs at once may train on a GPU than there are GPUs; `--resources gpu=N` says otherwise.
RUNS_HERE = workflow.resource_settings.nodes is None
if RUNS_HERE and "gpu" not in workflow.global_resources and visible_gpus():
    workflow.register_resource("gpu", visible_gpus())
NO_GPU = cluster.no_gpu_message(config["device"])

# Where runs lie (iunet/runs/names.py): the path of a supernet's seed, of a dense network's, of a tuned
# baseline's, and of its study.
SUPERNET_RUN = "runs/{dataset}/{network}/kappa{kappa}-{objective}{init}{variant}/seed{seed}"
DENSE_RUN = "runs/{dataset}/{network}/dense{init}{tuning}/seed{seed}"
SUPERNET, DENSE = f"<results>/{SUPERNET_RUN}", f"<results>/{DENSE_RUN}"
SUPERNET_LOG, DENSE_LOG = f"<logs>/{SUPERNET_RUN}", f"<logs>/{DENSE_RUN}"
TUNED_RUN = "runs/{dataset}/{learner}/seed{seed}"
STUDY = "runs/{dataset}/{learner}/{study}"
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


SUPERNET_KEYS = {*supernet_defaults(config), *lasso_defaults(config)}
FINETUNE_KEYS = {*finetune_defaults(config, "vision"), *finetune_defaults(config, "tabular")}
OBJECTIVE = rf"{any_of(OBJECTIVES)}|lasso[0-9.]+"
INIT = "|".join(["", *(f"-{init}" for init in INITS)])
DENSE_NAME = rf"dense(?P<init>{INIT})(?P<tuning>{variant_pattern(FINETUNE_KEYS)})"
# A supernet's name, taken apart into its wildcards.
SUPERNET_NAME = (
    rf"kappa(?P<kappa>[0-9.]+)-(?P<objective>{OBJECTIVE})(?P<init>{INIT})"
    rf"(?P<variant>{variant_pattern(SUPERNET_KEYS)})"
)


wildcard_constraints:
    dataset=any_of(REGISTRY),
    network=any_network(),
    kappa=r"[0-9.]+",
    objective=OBJECTIVE,
    init=INIT,
    variant=variant_pattern(SUPERNET_KEYS),
    tuning=variant_pattern(FINETUNE_KEYS),
    method=any_of(config["methods"]),
    learner=any_of(TUNED),
    table=any_of(RUN_TABLES),
    study=r"tuning(-seed[0-9]+)?",
    worker=r"[0-9]+",
    seed=r"[0-9]+",
    cut=rf"ratio[0-9.]+|{SURVIVORS}",


def used_datasets():
    """Every data set that the config names and that can be had, in the config's order."""
    groups = [*config["datasets"].values(), *(datasets_of_table(config, t) for t in DATA_TABLES)]
    names = [name for group in groups for name in group] + [run.dataset for run in PLANNED]
    return [name for name in dict.fromkeys(names) if name not in UNAVAILABLE]
