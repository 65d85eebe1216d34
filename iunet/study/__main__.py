"""The CPU-scale study, part by part: `make study` and `make publish`.

python -m iunet.study run --mirror DIR --cores 2    every part in order; stop and start as you like
python -m iunet.study publish                       what is finished, into reports/cpu-study/
python -m iunet.study refresh                       the README's numbers again, from runs.csv
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

from iunet.errors import UserError
from iunet.page.facts import git_state
from iunet.study.archive import unpack
from iunet.study.publish import publish, refresh

PROJECT = Path(__file__).parents[2]
OVERLAY = "config/cpu-study.yaml"
PUBLISHED = PROJECT / "reports" / "cpu-study"
FRONT_PAGE = PROJECT / "README.md"


def read_config() -> dict[str, Any]:
    """The config of the study, as Snakemake makes it."""
    import yaml
    from snakemake.utils import update_config

    config = yaml.safe_load((PROJECT / "config" / "config.yaml").read_text(encoding="utf-8"))
    update_config(config, yaml.safe_load((PROJECT / OVERLAY).read_text(encoding="utf-8")))
    return config


def run(config: dict[str, Any], arguments: argparse.Namespace) -> int:
    """Every part in the order of the overlay; a part that fails does not stop the next."""
    results = PROJECT / config["results"]
    archive = PUBLISHED / "reports.tar.xz"
    if archive.exists() and not arguments.afresh:
        print(f"==> {unpack(archive, results)} reports of finished runs from {archive}")
    parts = arguments.parts or list(config["experiments"])
    failed = []
    for part in parts:
        if part not in config["experiments"]:
            known = ", ".join(config["experiments"])
            raise UserError(f"The study has no part '{part}'. Its parts are: {known}.")
        targets = unfinished(config, part)
        print(f"==> {part}: {len(targets)} results to make", flush=True)
        if targets and snakemake(arguments, "--", *targets):
            failed.append(part)
    if failed:
        print(f"==> not finished: {', '.join(failed)}; the same command goes on with them")
    return 1 if failed else 0


def unfinished(config: dict[str, Any], part: str) -> list[str]:
    """The results of a part that are not there yet.

    Only these are asked for: of a finished run a clone has the report, not its data and weights,
    and Snakemake would make those, and then the run again.
    """
    from iunet.data.registry import read_registry
    from iunet.runs.entries import Benchmark
    from iunet.tables.catalog import said_by_tables

    registry = read_registry(PROJECT / path for path in config["data"]["registry"])
    bench = Benchmark(config, registry, fixed=said_by_tables("PAIRS"))
    results = [p for cell in bench.cells_of(f"experiments.{part}") for p in bench.results_of(cell)]
    return [path for path in dict.fromkeys(results) if not (PROJECT / path).exists()]


def snakemake(arguments: argparse.Namespace, *more: str) -> int:
    changes = [f"data={{mirror: {arguments.mirror}}}"] if arguments.mirror else []
    command = [Path(sys.executable).parent / "snakemake", "--cores", str(arguments.cores)]
    if arguments.command == "publish":
        # Of what is finished, whatever code has made it since: tables say so, nothing is trained.
        changes.append("partial=true")
        command += ["--allowed-rules", "table", "figure", "rows", "page", "all"]
    command += ["--configfile", OVERLAY, *(["--config", *changes] if changes else []), *more]
    return subprocess.run(command, cwd=PROJECT, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m iunet.study", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", choices=["run", "publish", "refresh"])
    parser.add_argument("parts", nargs="*", help="of the study (all, if none is named)")
    parser.add_argument("--mirror", help="a folder of data sets, in place of the network")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--afresh", action="store_true", help="compute finished runs again, too")
    arguments = parser.parse_args()
    config = read_config()
    if arguments.command == "run":
        return run(config, arguments)
    if arguments.command == "publish":
        if status := snakemake(arguments):
            return status
        publish(PROJECT / config["results"], git_state(PROJECT)[0], PUBLISHED, FRONT_PAGE)
    else:
        refresh(PUBLISHED, FRONT_PAGE)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(str(error))
