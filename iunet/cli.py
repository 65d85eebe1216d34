"""The `snakemake` command of this project's environment: Snakemake, with a terminal that a person
can follow (iunet/terminal/; `--logger` picks another), and with three traps removed.

Options that take any number of values swallow a target that follows them: `snakemake --cores 8
--resources gpu=1 results/tables/table9.csv` dies in Snakemake's parser (9.27) with a ValueError,
before any workflow is read. Here the target is recognised, since it has not the form of a value of
that option, and moved to the front. Config files are read first, so that a broken one is named. And
a long run does not look for new jobs ever more often (`one_reevaluation_at_a_time`).
Nothing else is changed, and `python -m snakemake` is Snakemake as it is.
"""

from __future__ import annotations

import functools
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iunet.errors import UserError
from iunet.runs.overlays import read_overlay

LOGGER = "iunet"
CONFIG_FILES = ("--configfile", "--configfiles")
# Options of which Snakemake's parser does not tell what their values look like.
ASSIGNMENTS = ("--groups", "--group-components")
NAMES = ("--allowed-rules", "--preemptible-rules", "--logger")


def is_assignment(word: str) -> bool:
    return "=" in word


def is_config_file(word: str) -> bool:
    return word.endswith((".yaml", ".yml"))  # .json is more often a result here


def is_name(word: str) -> bool:
    return "/" not in word and "." not in word  # of a rule or variable, and no file


@functools.cache
def greedy_options() -> dict[str, Callable[[str], bool]]:
    """Snakemake's options with any number of values, and what their values look like.

    Options whose values are targets or files themselves are left out: all that follows is theirs.
    """
    from snakemake.cli import get_argument_parser

    found: dict[str, Callable[[str], bool]] = {}
    for action in get_argument_parser()._actions:
        if action.nargs in ("+", "*") and (looks := _looks_of(action)):
            found |= dict.fromkeys(action.option_strings, looks)
    return found


def _looks_of(action: Any) -> Callable[[str], bool] | None:
    options, metavar = action.option_strings, str(action.metavar or "")
    if action.choices:
        return lambda word: word in action.choices
    if set(options) & set(CONFIG_FILES):
        return is_config_file
    if "=" in metavar or set(options) & set(ASSIGNMENTS):
        return is_assignment
    return is_name if metavar in ("RULE", "VARNAME") or set(options) & set(NAMES) else None


def _greedy(word: str) -> Callable[[str], bool] | None:
    """Of an option, or of the last of several short ones in a word (`-nq`)."""
    last = f"-{word[-1]}" if re.fullmatch(r"-[a-zA-Z]+", word) else word
    return greedy_options().get(word) or greedy_options().get(last)


def targets_first(arguments: list[str]) -> list[str]:
    """The arguments with targets moved out of the reach of greedy options."""
    targets, kept, belongs = [], [], None
    for position, word in enumerate(arguments):
        if word == "--":
            return [*targets, *kept, *arguments[position:]]
        if word.startswith("-"):
            belongs = _greedy(word)
        elif belongs is not None and not belongs(word):
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


def with_terminal(arguments: list[str]) -> list[str]:
    """The arguments with this project's logger, unless they name one."""
    if any(word == "--logger" or word.startswith("--logger=") for word in arguments):
        return arguments
    return [f"--logger={LOGGER}", *arguments]  # with "=" it takes no target for a second logger


def one_reevaluation_at_a_time() -> None:
    """Let Snakemake's scheduler (9.27) have one timer, in place of one more with every job.

    To keep its limit of 100 jobs per second it looks for jobs again a second after each look, and
    after each job that ended, which starts a further chain of looks that never ends: after 200 jobs
    there were 15 of them every second, and they took a fifth of a core.
    """
    from snakemake.scheduling import job_scheduler

    scheduler = job_scheduler.JobScheduler
    if not hasattr(scheduler, "_schedule_reevalutation"):
        return  # another version, which may need none of this

    def schedule(self: Any, delay: float) -> None:
        if getattr(self, "iunet_timer", None) is not None:
            return

        def look_again() -> None:
            self.iunet_timer = None
            self._open_jobs.release()

        self.iunet_timer = threading.Timer(delay, look_again)
        self.iunet_timer.daemon = True  # a run that is over does not wait for it
        self.iunet_timer.start()

    scheduler._schedule_reevalutation = schedule


def main() -> None:
    from snakemake.cli import main as snakemake
    from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

    from iunet.terminal import handler

    # Snakemake finds plugins by their name only, and none that are installed with `pip install -e`.
    LoggerPluginRegistry().register_plugin(f"snakemake_logger_plugin_{LOGGER}", handler)
    one_reevaluation_at_a_time()
    arguments = targets_first(sys.argv[1:])
    try:
        check_config_files(arguments)
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    snakemake(with_terminal(arguments))
