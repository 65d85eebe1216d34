# What all rules share: the checked config, wildcards, and lookups of what it says.

import re
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

PROJECT = Path(workflow.current_basedir).parents[1]
sys.path.insert(0, str(PROJECT))  # the package is also found where it is not installed

from iunet.baselines.catalog import LEARNERS
from iunet.errors import UserError
from iunet.figures.catalog import declared_figures, figure_ask, figure_titles
from iunet.runs import paths, settings
from iunet.runs.names import INITS, CutName, DenseName, SupernetName
from iunet.runs.targets import check_targets
from iunet.runs.validate import shown_on_page, validate
from iunet.tables.catalog import (
    declared_tables,
    table_digest,
    table_module,
    table_names,
    table_request,
)


@contextmanager
def user_errors():
    """Errors that the user can put right, in the form in which Snakemake shows a message alone."""
    try:
        yield
    except UserError as error:
        raise WorkflowError(str(error)) from None


with user_errors():
    BENCH = validate(config, declared_tables() | declared_figures())
    FIGURE_TITLES = figure_titles(BENCH)
    SHOWN_TABLES = shown_on_page(BENCH.config, "tables", table_names(BENCH.config))
    names = shown_on_page(BENCH.config, "figures", FIGURE_TITLES)
    SHOWN_FIGURES = {name: FIGURE_TITLES[name] for name in names}
    check_targets(
        BENCH, sys.argv[1:], {"tables": table_names(BENCH.config), "figures": FIGURE_TITLES}
    )
config.update(BENCH.config)  # as jobs get it
REGISTRY = BENCH.registry


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


wildcard_constraints:
    dataset=any_of(REGISTRY),
    network=rf"(?:{any_of(config['networks'])})(?:-[a-z0-9_.]+)*",
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
