# What all rules share: the checked config, the registry of data sets, paths and wildcards.

import functools
import sys
from pathlib import Path
from types import SimpleNamespace

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

sys.path.insert(0, workflow.basedir)  # the package is also found where it is not installed

from iunet import cluster, resources
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
from iunet.device import gpus_per_training_job, resolve_device, visible_gpus
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
from iunet.workload import data_size, network_size

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
DEVICE = resolve_device(config["device"])
TRAINING_GPUS = gpus_per_training_job(config["device"])

# Where jobs run: here, or with a scheduler (then Snakemake has a number of jobs, `nodes`). Here, no
# more jobs at once may train on a GPU than there are GPUs; `--resources gpu=N` says otherwise.
RUNS_HERE = workflow.resource_settings.nodes is None
if RUNS_HERE and "gpu" not in workflow.global_resources and visible_gpus():
    workflow.register_resource("gpu", visible_gpus())
NO_GPU = cluster.no_gpu_message(config["device"])

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
