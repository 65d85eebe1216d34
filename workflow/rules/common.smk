# What all rules share: the checked config, wildcards, and lookups of what it says.

import re
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

PROJECT = Path(workflow.current_basedir).parents[1]
sys.path.insert(0, str(PROJECT))  # the package is also found where it is not installed

from iunet.baselines.catalog import LEARNERS
from iunet.data.registry import check_own_file, mirror_index
from iunet.data.sources import effective_source
from iunet.errors import UserError
from iunet.figures.catalog import declared_figures, figure_ask, figure_titles
from iunet.networks.catalog import network_entry
from iunet.runs import paths, settings
from iunet.runs.names import (
    INITS,
    STRUCTURES,
    SURVIVORS,
    CutName,
    DenseName,
    SupernetName,
    base_network,
)
from iunet.runs.targets import check_run_path, check_seed, explain_target
from iunet.runs.validate import shown_on_page, validate
from iunet.runs.versions import code_lines, script_code
from iunet.tables.about import about_cells
from iunet.tables.catalog import TABLES, declared_tables, table_ask, table_module, table_names

try:
    BENCH = validate(config, declared_tables() | declared_figures())
    FIGURE_TITLES = figure_titles(BENCH)
    SHOWN_TABLES = shown_on_page(BENCH.config, "tables", table_names(BENCH.config))
    names = shown_on_page(BENCH.config, "figures", FIGURE_TITLES)
    SHOWN_FIGURES = {name: FIGURE_TITLES[name] for name in names}
except UserError as error:
    raise WorkflowError(str(error)) from None
config.update(BENCH.config)  # as jobs get it
REGISTRY, MIRROR = BENCH.registry, BENCH.mirror


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
        check_run_path(config, REGISTRY[dataset], point)
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
