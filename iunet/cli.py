"""The `snakemake` command of this project's environment (`make setup` installs it).

It is Snakemake with the terminal of `snakemake_logger_plugin_iunet` (`--logger` picks another), and
with some traps removed. Options that take any number of values swallow a target that follows them:
`snakemake --cores 8 --resources gpu=1 results/tables/table9.csv` dies in Snakemake's parser, before
any workflow is read. Here all targets are moved to the front. A second `--config` or `--configfile`
adds to the first, which Snakemake would forget. Config files are read first, so that a broken one
is named. SIGHUP and SIGQUIT end a run as Ctrl-C does. `python -m snakemake` is Snakemake without
any of this.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from iunet.artifacts import PROVENANCE
from iunet.errors import UserError, one_line
from iunet.machine.time_limit import interrupt_at_hangup
from iunet.runs.overlays import read_overlay

LOGGER = "iunet"
CONFIG_FILES = ("--configfile", "--configfiles")
FOLDERS = (  # of Snakemake's own folder
    *("locks", "incomplete", "metadata", "auxiliary", "conda", "conda-archive", "iocache", "log"),
    *("scripts", "shadow", "singularity"),
)
ASSIGNMENTS = (  # options with values of the form NAME=VALUE
    *("--config", "-C", "--resources", "--res", "--default-resources", "--default-res"),
    *("--set-threads", "--set-resources", "--set-scatter", "--set-resource-scopes"),
    *("--groups", "--group-components", "--consider-ancient"),
)


VALUES = {  # of options that take any number of them: what a value looks like
    **dict.fromkeys(ASSIGNMENTS, re.compile(".*=").match),
    **dict.fromkeys(CONFIG_FILES, lambda word: is_config_file(word)),
    **dict.fromkeys(("-q", "--quiet"), re.compile("(all|host|progress|reason|rules)$").match),
    "--rerun-triggers": re.compile("(code|input|mtime|params|software-env)$").match,
}


def is_config_file(word: str) -> bool:
    """YAML, or JSON that is not a result of the workflow."""
    path = Path(word)
    if path.suffix == ".json" and path.is_file():
        return PROVENANCE not in path.read_text(encoding="utf-8", errors="replace")
    return path.suffix in (".yaml", ".yml")


def targets_first(arguments: list[str]) -> list[str]:
    """The arguments with targets moved to the front, out of the reach of the options above."""
    from snakemake.cli import get_argument_parser

    end = arguments.index("--") if "--" in arguments else len(arguments)
    targets, kept, looks_right = [], [], None
    for word in arguments[:end]:
        if word.startswith("-"):
            looks_right = VALUES.get(word)
        elif looks_right is not None and not looks_right(word) and kept[-1] not in CONFIG_FILES:
            targets.append(word)  # but a config file needs no ending: there is one at least
            continue
        kept.append(word)
    # Snakemake's parser finds the others. Its complaints come when it runs.
    found: list[str] = []
    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
        found = get_argument_parser().parse_known_intermixed_args(kept)[0].targets or []
    for target in found:
        if target in kept:
            kept.remove(target)
            targets.append(target)
    return [*targets, *kept, *arguments[end:]]


def joined(arguments: list[str]) -> list[str]:
    """One `--configfile` and one `--config` in the place of several."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser("snakemake", add_help=False, allow_abbrev=False)
    parser.add_argument(*CONFIG_FILES, dest="files", nargs="+", action="extend", default=[])
    parser.add_argument("--config", "-C", nargs="*", action="extend", default=[])
    known, others = parser.parse_known_args(arguments[:end])
    plain = [change for change in known.config if "={" not in change]  # sections are merged
    for key, times in Counter(change.partition("=")[0] for change in plain).items():
        if times > 1:
            raise UserError(f"--config says {times} times what '{key}' is. Say it once.")
    files = ["--configfile", *known.files] if known.files else []
    changes = ["--config", *known.config] if known.config else []
    return [*others, *files, *changes, *arguments[end:]]


def prepared(arguments: list[str]) -> list[str]:
    """The arguments for Snakemake; config files that are broken are refused by name."""
    arguments = joined(targets_first(arguments))
    parser = argparse.ArgumentParser("snakemake", add_help=False, allow_abbrev=False)
    parser.add_argument(*CONFIG_FILES, dest="files", nargs="+", default=[])
    parser.add_argument("-d", "--directory", type=Path, default=Path())
    parser.add_argument("--logger", nargs="*")
    known, _ = parser.parse_known_args(arguments)
    own = known.directory / "config" / "config.yaml"
    for path in [*([own] if own.is_file() else []), *known.files]:
        read_overlay(path)
    refuse_unusable(known.directory / ".snakemake")
    # With "=" it takes no target for a second logger.
    return arguments if known.logger is not None else [f"--logger={LOGGER}", *arguments]


def refuse_unusable(folder: Path) -> None:
    """Refuse a folder of Snakemake's records that is there but cannot be used."""
    for place in (folder, *(folder / name for name in FOLDERS)):
        if os.path.lexists(place) and not place.is_dir():
            raise UserError(
                f"{place} is not a folder, but Snakemake keeps its records there. Remove it."
            )
        if place.is_dir() and not os.access(place, os.W_OK | os.X_OK):
            raise UserError(
                f"Nothing can be written to {place}, where Snakemake keeps its records. Make it "
                "writable."
            )


def damaged_records(folder: Path) -> Iterator[str]:
    """The records of Snakemake that are not text; its own error does not name them."""
    for path in sorted(path for name in FOLDERS[:3] for path in (folder / name).rglob("*")):
        try:
            path.is_file() and path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            yield f"{path}, a record of Snakemake's, is damaged ({one_line(error)}). Remove it."


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
    try:
        interrupt_at_hangup()
        snakemake(arguments)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
    except SystemExit as ended:
        for problem in damaged_records(Path(".snakemake")) if ended.code else ():
            print(problem, file=sys.stderr)
        raise
