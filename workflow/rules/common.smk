# What all rules share: the checked config, wildcards, and lookups of what it says.

import re
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

PROJECT = Path(workflow.current_basedir).parents[1]
sys.path.insert(0, str(PROJECT))  # the package is also found where it is not installed

from iunet.baselines.catalog import LEARNERS
from iunet.data.registry import check_own_file, mirror_index, read_registry
from iunet.data.sources import effective_source
from iunet.errors import UserError
from iunet.figures.catalog import FIGURES, figure_ask, figure_titles
from iunet.figures.catalog import KINDS as FIGURE_KINDS
from iunet.networks.catalog import network_entry
from iunet.runs import paths, settings
from iunet.runs.config import (
    check_datasets,
    check_default_config,
    check_ranges,
    check_results_folder,
    check_rows,
    check_run_path,
    check_seed,
    check_stand_ins,
    check_tables,
    restore_numbers,
    results_folder,
    shown_on_page,
    unavailable,
)
from iunet.runs.entries import Benchmark
from iunet.runs.names import (
    INITS,
    STRUCTURES,
    SURVIVORS,
    CutName,
    DenseName,
    SupernetName,
    base_network,
)
from iunet.runs.own import own_dataset, with_own_data
from iunet.runs.schema import check_plain, check_schema, required_keys
from iunet.runs.targets import explain_target
from iunet.runs.versions import code_lines, script_code
from iunet.tables.about import about_cells
from iunet.tables.catalog import TABLES, table_attribute, table_ask, table_module, table_names

SCHEMA = str(PROJECT / "workflow" / "schemas" / "config.schema.yaml")

try:
    check_plain(config)
    check_default_config(config, required_keys(SCHEMA))
    config.update(restore_numbers(config))
    config |= {k: results_folder(v) for k, v in config.items() if k == "results"}
    check_schema(config, SCHEMA)
    check_results_folder(config["results"])
    REGISTRY = read_registry(config["data"]["registry"])
    if own := own_dataset(config, taken=[*REGISTRY, *config["datasets"]]):
        REGISTRY[own.name] = own
        config.update(with_own_data(config, own))
    check_tables(config, TABLES, FIGURES)
    check_datasets(config, REGISTRY, table_attribute("KIND") | FIGURE_KINDS)
    check_ranges(config)
    check_stand_ins(config)
    MIRROR = config["data"]["mirror"]
    BENCH = Benchmark(
        config, REGISTRY, unavailable(REGISTRY, MIRROR), fixed=table_attribute("PAIRS")
    )
    networks = {(c.method.name, base_network(c.method.network)) for c in BENCH.cells}
    check_rows(config, {(m, n) for m, n in networks if n not in LEARNERS}, SCHEMA)
    SHOWN_TABLES = shown_on_page(config, "tables", table_names(config))
    FIGURE_TITLES = figure_titles(BENCH)
    names = shown_on_page(config, "figures", FIGURE_TITLES)
    SHOWN_FIGURES = {name: FIGURE_TITLES[name] for name in names}
except UserError as error:
    raise WorkflowError(str(error)) from None


pathvars:
    results=config["results"],
    logs=f"{config['results']}/logs",
    benchmarks=f"{config['results']}/benchmarks",


# ---- wildcards


def any_of(names):
    """A wildcard constraint: one of these names and nothing else."""
    return "|".join(map(re.escape, names))


def names_of_kind(kind):
    return [name for name, dataset in REGISTRY.items() if dataset.kind == kind]


NETWORK = rf"(?:{any_of(config['networks'])})(?:-[a-z0-9_.]+)*"


wildcard_constraints:
    dataset=any_of(REGISTRY),
    network=NETWORK,
    initial=any_of(["initial", *(f"initial-{init}" for init in INITS)]),
    supernet=SupernetName.PATTERN,
    cut=CutName.PATTERN,
    options=r"(?:-[a-z0-9_.]+)*",  # of the fine-tuning
    dense=DenseName.PATTERN,
    method=any_of(config["methods"]),
    learner=any_of(LEARNERS),
    study=r"tuning(-seed[0-9]+)?",
    worker=r"[0-9]+",
    seed=r"[0-9]+",
    table=any_of(table_names(config)),
    figure=any_of(FIGURE_TITLES),


# ---- paths that were asked for


@cache
def check_run(dataset, network, seed, run, cut=None):
    """A path may ask for any run, but for none that the config could not have."""
    if int(seed) in BENCH.seeds and (dataset, network, run, cut) in BENCH.runs:
        return  # it does have it
    point = {"network": network, "seed": seed, "run": run, "cut": cut}
    try:
        check_run_path(config, REGISTRY[dataset], point, SCHEMA)
    except UserError as error:
        raise WorkflowError(str(error)) from None


RUN_PATH = re.compile(
    rf"{re.escape(config['results'])}/runs/(?P<dataset>{any_of(REGISTRY)})/"
    rf"(?P<network>{NETWORK})/(?P<run>(?:kappa|dense)[^/]*)/seed(?P<seed>[0-9]+)/"
    rf"(?:(?P<cut>(?:{any_of([*STRUCTURES.values(), SURVIVORS])})[^/]*)/)?.*"
)


def check_targets():
    for target in workflow.dag_settings.targets or ():
        if found := RUN_PATH.fullmatch(str(target)):
            check_run(**found.groupdict())
