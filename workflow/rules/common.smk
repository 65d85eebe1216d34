# What all rules share: the checked config, the registry of data sets, paths and wildcards.

import sys

from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

sys.path.insert(0, workflow.basedir)  # the package is also found where it is not installed

from iunet.config import (
    check_datasets,
    datasets_of_table,
    explain_schema_error,
    restore_numbers,
    unavailable,
)
from iunet.data.registry import mirror_index, read_registry
from iunet.data.sources import effective_source
from iunet.errors import UserError
from iunet.science_version import science_version

config.update(restore_numbers(config))
try:
    validate(config, "../schemas/config.schema.yaml")
except WorkflowError as error:
    raise WorkflowError(explain_schema_error(error.__context__)) from None

try:
    REGISTRY = read_registry(config["data"]["registry"])
    check_datasets(config, REGISTRY)
    MIRROR = config["data"]["mirror"]
    UNAVAILABLE = unavailable(REGISTRY, MIRROR)
except UserError as error:
    raise WorkflowError(str(error)) from None

TABLES = ["table8", "table9"]


pathvars:
    results=config["results"],
    logs=f"{config['results']}/logs",
    benchmarks=f"{config['results']}/benchmarks",


def names_of_kind(kind):
    return [name for name, dataset in REGISTRY.items() if dataset.kind == kind]


def any_of(names):
    """A wildcard constraint: one of these names and nothing else."""
    return "|".join(map(re.escape, names))


wildcard_constraints:
    dataset=any_of(REGISTRY),


def used_datasets():
    """Every data set that the config names and that can be had, in the config's order."""
    groups = [*config["datasets"].values(), *(datasets_of_table(config, t) for t in TABLES)]
    names = dict.fromkeys(name for group in groups for name in group)
    return [name for name in names if name not in UNAVAILABLE]


# ---- download


def own_file(wildcards):
    """The user's file that a data set is made from, so that changing it makes the set anew."""
    dataset = REGISTRY[wildcards.dataset]
    return dataset.location if dataset.source == "file" else []


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


# ---- aggregate


def available_datasets(table):
    return [name for name in datasets_of_table(config, table) if name not in UNAVAILABLE]


def table_params(table):
    """Which data sets the table shows, and why some of them will be missing."""
    names = datasets_of_table(config, table)
    return {
        "datasets": names,
        "missing": {name: UNAVAILABLE[name] for name in names if name in UNAVAILABLE},
    }
