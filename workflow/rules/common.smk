# What all rules share: the checked config, wildcards, and lookups of what it says.

import re
import sys
from contextlib import contextmanager
from pathlib import Path

from snakemake.exceptions import WorkflowError

PROJECT = Path(workflow.current_basedir).parents[1]
sys.path.insert(0, str(PROJECT))  # the package is also found where it is not installed

from iunet.baselines.catalog import LEARNERS
from iunet.errors import UserError
from iunet.runs import paths, settings
from iunet.runs.names import OPTIONS
from iunet.runs.overlays import own_overlay, read_overlay
from iunet.runs.targets import check_targets
from iunet.shown import Shown, benchmark

if config.get("own"):  # the user's own data, which `validate` puts in the paper's place

    configfile: own_overlay(config["own"])


@contextmanager
def user_errors():
    """Errors that the user can put right, in the form in which Snakemake shows a message alone."""
    try:
        yield
    except UserError as error:
        raise WorkflowError(str(error)) from None


with user_errors():
    for path in workflow.configfiles:  # however Snakemake was started
        read_overlay(path)
    BENCH = benchmark(config)
    SHOWN = Shown(BENCH)
    check_targets(BENCH, sys.argv[1:], {"table": SHOWN.tables, "figure": SHOWN.figures})
config.update(BENCH.config)  # as jobs get it


pathvars:
    results=config["results"],
    logs=f"{config['results']}/logs",
    benchmarks=f"{config['results']}/benchmarks",


# ---- wildcards


def any_of(names):
    """A wildcard constraint: one of these names and nothing else."""
    return "|".join(map(re.escape, names))


def any_of_kind(kind):
    """Data sets of a kind, as a wildcard constraint."""
    return any_of(name for name, dataset in BENCH.registry.items() if dataset.kind == kind)


wildcard_constraints:
    **paths.PATTERNS
    | {
        "dataset": any_of(BENCH.registry),
        "network": rf"(?:{any_of(config['networks'])}){OPTIONS}",
        "method": any_of(config["methods"]),
        "learner": any_of(LEARNERS),
        "table": any_of(SHOWN.tables),
        "figure": any_of(SHOWN.figures),
    },


# ---- outputs and inputs of several rules

TRAINING_DATA = {
    "train": paths.TRAIN,
    "valid": paths.VALID,
    "preprocessing": paths.PREPROCESSING,
}
SPLIT_FILES = TRAINING_DATA | {
    "test": paths.TEST,
    "indices": paths.INDICES,
    "split": paths.SPLIT_REPORT,
}


def experiment_files(wildcards):
    """The tables and pictures of the config's experiments, and nothing else."""
    names = list(config["experiments"])
    with user_errors():
        if not names:
            raise UserError(
                "The config has no experiments: name one under 'experiments', as docs/runs.md shows."
            )
    tables = expand(f"{paths.TABLE}.csv", table=names)
    return tables + expand(f"{paths.FIGURE}.png", figure=names)


def config_name():
    """The config files, the default first; paths as a reader of the page can follow them."""
    files = dict.fromkeys(Path(path).absolute() for path in reversed(workflow.configfiles))
    roots = (Path.cwd(), PROJECT)
    return ", ".join(
        str(next((p.relative_to(r) for r in roots if r in p.parents), p)) for p in files
    )
