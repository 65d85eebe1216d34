"""The CPU-scale study, part by part: `make study` and `make publish`.

python -m iunet.study run --mirror DIR --cores 2    every part in order; stop and start as you like
python -m iunet.study publish                       what is finished, into reports/cpu-study/
python -m iunet.study refresh                       fill the documents' tables again, from runs.csv
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from iunet.errors import UserError
from iunet.runs.overlays import merged_config
from iunet.runs.settings import Config
from iunet.study.archive import published_view, unpack
from iunet.study.publish import publish, refresh

PROJECT = Path(__file__).parents[2]
OVERLAY = "config/cpu-study.yaml"
PUBLISHED = PROJECT / "reports" / "cpu-study"
ARCHIVE = PUBLISHED / "reports.tar.xz"
DRAWN = ("figure3", "figure4")  # of more than reports: a clone may have to train supernets for them


def read_config() -> Config:
    """The config of the study; called in the project's folder, as `make` does."""
    return merged_config([OVERLAY])


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Every part in the order of the overlay; a part that fails does not stop the next."""
    known = [*config["experiments"], *DRAWN]
    for part in arguments.parts:
        if part not in known:
            raise UserError(f"The study has no part '{part}'. Its parts are: {', '.join(known)}.")
    if ARCHIVE.exists() and not arguments.afresh:
        new = unpack(ARCHIVE, PROJECT / config["results"])
        adopt_reports(arguments, config["results"])
        print(f"==> {new} reports of finished runs from {ARCHIVE}")
    failed = []
    for part in arguments.parts or known:
        targets = unfinished(config, part)
        print(f"==> {part}: {len(targets)} results to make", flush=True)
        if targets and snakemake(arguments, "--", *targets):
            failed.append(part)
    if failed:
        print(f"==> not finished: {', '.join(failed)}; the same command goes on with them")
    return 1 if failed else 0


def adopt_reports(arguments: argparse.Namespace, results: str, partial: bool = False) -> None:
    """Reports of older versions count as finished runs, if their settings are the study's."""
    from iunet.shown import Shown, benchmark
    from iunet.verify import adopt

    config = read_config() | {"results": results, "partial": partial}
    config["data"]["mirror"] = arguments.mirror
    adopt(Shown(benchmark(config)).lineage, PROJECT / results)


def unfinished(config: Config, part: str) -> list[str]:
    """The results of a part that are not there yet; of a figure what it is drawn of.

    Only these are asked for: of a finished run a clone has the report, not its data and weights,
    and Snakemake would make those, and then the run again.
    """
    from iunet.figures.catalog import figure_request
    from iunet.shown import benchmark

    bench = benchmark(config)
    if part in DRAWN:
        results = figure_request(bench, part).artifacts
    else:
        cells = bench.cells_of(f"experiments.{part}")
        results = [path for cell in cells for path in bench.results_of(cell)]
    return [path for path in dict.fromkeys(results) if not (PROJECT / path).exists()]


def snakemake(arguments: argparse.Namespace, *more: str, view: Path | None = None) -> int:
    """Run the workflow; of a `view` of finished reports only make what is shown."""
    changes = [f"data={{mirror: {arguments.mirror}}}"] if arguments.mirror else []
    command = [Path(sys.executable).parent / "snakemake", "--cores", str(arguments.cores)]
    command += ["--max-jobs-per-timespan", "1000/10s"]  # docs/reproduce.md, "While it runs"
    if view:
        # Whatever code has made them since: tables say so, nothing is trained.
        changes += ["partial=true", f"results={view.relative_to(PROJECT)}"]
        command += ["--allowed-rules", "table", "figure", "rows", "page", "all"]
    command += ["--configfile", OVERLAY, *(["--config", *changes] if changes else []), *more]
    return subprocess.run(command, cwd=PROJECT, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m iunet.study", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", choices=["run", "publish", "refresh"])
    parser.add_argument("parts", nargs="*", help="parts of the study (default: all)")
    parser.add_argument("--mirror", help="a folder of data sets, used instead of downloads")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--afresh", action="store_true", help="compute finished runs again, too")
    arguments = parser.parse_intermixed_args()  # parts may follow options
    config = read_config()
    if arguments.command == "run":
        return run(config, arguments)
    if arguments.command == "publish":
        view, old = published_view(ARCHIVE, PROJECT / config["results"])
        print(f"==> {old} reports stay as they are published, though they were made again")
        adopt_reports(arguments, str(view.relative_to(PROJECT)), partial=True)
        if status := snakemake(arguments, view=view):
            return status
        publish(view, PUBLISHED)
        shutil.rmtree(view)
    else:
        refresh(PUBLISHED)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(str(error))
