"""The `snakemake` command of this project's environment: Snakemake, with a terminal that a person
can follow (iunet/terminal/; `--logger` picks another), and with one trap removed.

`--resources`, `--config` and `--configfile` take any number of values, and so swallow a target that
follows them: `snakemake --cores 8 --resources gpu=1 results/tables/table9.csv` dies in Snakemake's
parser (9.27) with a ValueError, before any workflow is read. Here the target is recognised, since
it has not the form of a value of that option, and moved to the front. Nothing else is changed, and
`python -m snakemake` is Snakemake as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

LOGGER = "iunet"


def is_assignment(word: str) -> bool:
    return "=" in word


def is_config_file(word: str) -> bool:
    return word.endswith((".yaml", ".yml"))  # .json is more often a result here


def is_deployment(word: str) -> bool:
    return word in ("conda", "apptainer", "env-modules")


GREEDY: dict[str, Callable[[str], bool]] = {  # option → what its values look like
    "--resources": is_assignment,
    "--res": is_assignment,
    "--config": is_assignment,
    "-C": is_assignment,
    "--set-threads": is_assignment,
    "--set-resources": is_assignment,
    "--default-resources": is_assignment,
    "--default-res": is_assignment,
    "--sdm": is_deployment,
    "--software-deployment-method": is_deployment,
    "--configfile": is_config_file,
    "--configfiles": is_config_file,
}


def targets_first(arguments: list[str]) -> list[str]:
    """The arguments with targets moved out of the reach of greedy options."""
    targets, kept, belongs = [], [], None
    for position, word in enumerate(arguments):
        if word == "--":
            return [*targets, *kept, *arguments[position:]]
        if word.startswith("-"):
            belongs = GREEDY.get(word)
        elif belongs is not None and not belongs(word):
            targets.append(word)
            continue
        kept.append(word)
    return [*targets, *kept]


def with_terminal(arguments: list[str]) -> list[str]:
    """The arguments with this project's logger, unless they name one."""
    if any(word == "--logger" or word.startswith("--logger=") for word in arguments):
        return arguments
    return [f"--logger={LOGGER}", *arguments]  # with "=" it takes no target for a second logger


def main() -> None:
    from snakemake.cli import main as snakemake
    from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

    from iunet.terminal import handler

    # Snakemake finds plugins by their name only, and none that are installed with `pip install -e`.
    LoggerPluginRegistry().register_plugin(f"snakemake_logger_plugin_{LOGGER}", handler)
    snakemake(with_terminal(targets_first(sys.argv[1:])))
