"""The `snakemake` command of this project's environment (`make setup` installs it).

It is Snakemake with the terminal of `snakemake_logger_plugin_iunet` (`--logger` picks another), and
with two traps removed. Options that take any number of values swallow a target that follows them:
`snakemake --cores 8 --resources gpu=1 results/tables/table9.csv` dies in Snakemake's parser, before
any workflow is read. Here such a target is moved to the front. And config files are read first, so
that a broken one is named. `python -m snakemake` is Snakemake without any of this.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
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


def is_assignment(word: str) -> bool:
    return "=" in word


def is_config_file(word: str) -> bool:
    return word.endswith((".yaml", ".yml"))  # .json is more often a result here


def is_one_of(*choices: str) -> Callable[[str], bool]:
    return lambda word: word in choices


VALUES: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys(ASSIGNMENTS, is_assignment),
    **dict.fromkeys(CONFIG_FILES, is_config_file),
    **dict.fromkeys(("-q", "--quiet"), is_one_of("all", "host", "progress", "reason", "rules")),
    "--rerun-triggers": is_one_of("code", "input", "mtime", "params", "software-env"),
}


def targets_first(arguments: list[str]) -> list[str]:
    """The arguments with targets moved to the front, out of the reach of the options above."""
    targets, kept, is_value = [], [], None
    for position, word in enumerate(arguments):
        if word == "--":
            return [*targets, *kept, *arguments[position:]]
        if word.startswith("-"):
            is_value = VALUES.get(word)
        elif is_value is not None and not is_value(word):
            targets.append(word)
            continue
        kept.append(word)
    return [*targets, *kept]


def config_files(arguments: list[str]) -> list[str]:
    """The config files among arguments whose targets stand first."""
    found, belongs = [], False
    for word in arguments:
        option, equals, value = word.partition("=")
        if word.startswith("-"):
            belongs = option in CONFIG_FILES
            found += [value] if belongs and equals else []
        elif belongs:
            found.append(word)
    return found


def folder_of(arguments: list[str]) -> Path:
    """Where Snakemake will work: `-d`, or here."""
    for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if word in ("-d", "--directory"):
            return Path(following)
        if word.startswith("--directory="):
            return Path(word.partition("=")[2])
    return Path()


def check_config_files(arguments: list[str]) -> None:
    """Refuse broken ones by name: the project's own, if it is there, and all that are named."""
    own = folder_of(arguments) / "config" / "config.yaml"
    for path in [*([own] if own.is_file() else []), *config_files(arguments)]:
        read_overlay(path)


def with_logger(arguments: list[str]) -> list[str]:
    """The arguments with this project's logger, unless they name one."""
    if any(word == "--logger" or word.startswith("--logger=") for word in arguments):
        return arguments
    return [f"--logger={LOGGER}", *arguments]  # with "=" it takes no target for a second logger


def main() -> None:
    from snakemake.cli import main as snakemake
    from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

    import snakemake_logger_plugin_iunet as plugin

    # Snakemake does not find plugins that are installed with `pip install -e`.
    LoggerPluginRegistry().register_plugin(plugin.__name__, plugin)
    arguments = targets_first(sys.argv[1:])
    try:
        check_config_files(arguments)
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    snakemake(with_logger(arguments))
