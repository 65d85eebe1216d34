"""The `snakemake` command of this project's environment (`make setup` installs it).

It is Snakemake with the terminal of `snakemake_logger_plugin_iunet` (`--logger` picks another), and
with two traps removed. Options that take any number of values swallow a target that follows them:
`snakemake --cores 8 --resources gpu=1 results/tables/table9.csv` dies in Snakemake's parser, before
any workflow is read. Here such a target is moved to the front. And config files are read first, so
that a broken one is named. `python -m snakemake` is Snakemake without any of this.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from iunet.errors import UserError
from iunet.runs.overlays import read_overlay

LOGGER = "iunet"
CONFIG_FILES = ("--configfile", "--configfiles")
ASSIGNMENTS = (  # options with values of the form NAME=VALUE
    *("--config", "-C", "--resources", "--res", "--default-resources", "--default-res"),
    *("--set-threads", "--set-resources", "--set-scatter", "--set-resource-scopes"),
    *("--groups", "--group-components", "--consider-ancient"),
)


VALUES = {  # of options that take any number of them: what a value looks like
    **dict.fromkeys(ASSIGNMENTS, re.compile(".*=")),
    **dict.fromkeys(CONFIG_FILES, re.compile(r".*\.ya?ml$")),  # .json is more often a result here
    **dict.fromkeys(("-q", "--quiet"), re.compile("(all|host|progress|reason|rules)$")),
    "--rerun-triggers": re.compile("(code|input|mtime|params|software-env)$"),
}


def targets_first(arguments: list[str]) -> list[str]:
    """The arguments with targets moved to the front, out of the reach of the options above."""
    targets, kept, value = [], [], None
    for position, word in enumerate(arguments):
        if word == "--":
            return [*targets, *kept, *arguments[position:]]
        if word.startswith("-"):
            value = VALUES.get(word)
        elif value is not None and not value.match(word):
            targets.append(word)
            continue
        kept.append(word)
    return [*targets, *kept]


def prepared(arguments: list[str]) -> list[str]:
    """The arguments for Snakemake; config files that are broken are refused by name."""
    arguments = targets_first(arguments)
    parser = argparse.ArgumentParser("snakemake", add_help=False, allow_abbrev=False)
    parser.add_argument(*CONFIG_FILES, dest="files", nargs="+", default=[])
    parser.add_argument("-d", "--directory", type=Path, default=Path())
    parser.add_argument("--logger", nargs="*")
    known, _ = parser.parse_known_args(arguments)
    own = known.directory / "config" / "config.yaml"
    for path in [*([own] if own.is_file() else []), *known.files]:
        read_overlay(path)
    # With "=" it takes no target for a second logger.
    return arguments if known.logger is not None else [f"--logger={LOGGER}", *arguments]


def main() -> None:
    from snakemake.cli import main as snakemake
    from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

    import snakemake_logger_plugin_iunet as plugin

    # Snakemake does not find plugins that are installed with `pip install -e`.
    LoggerPluginRegistry().register_plugin(plugin.__name__, plugin)
    try:
        arguments = prepared(sys.argv[1:])
    except UserError as error:
        sys.exit(str(error))
    snakemake(arguments)
