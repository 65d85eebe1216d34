"""The small workflow that is disturbed: started, watched, and started again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from conftest import ROOT, Workdir
from planning import plan

RESULTS = "results/test"
TARGETS = [f"{RESULTS}/tables/table2.csv"]  # made from table 7
# wine × IUNET and tuned XGBoost, each stage long enough to be hit in its middle, with a checkpoint
# after every epoch.
CONFIG = {
    "device": "cpu",
    "train": {"checkpoint_s": 0, "supernet": {"epochs": 150}},
    "tables": {"table7": {"methods": ["iunet", "xgb"]}},
    "tuning": {"xgb": {"trials": 4}},
}
FOREIGN = {"split": {"seed": 12}}  # the same paths, other results
LONGEST_S = 600  # of one start; longer is a hang
PAUSE_S = 0.05


@dataclass
class Trouble:
    """A fault, as it is done to one start of the workflow."""

    what: str  # for the log
    names: list[str] = field(default_factory=list)  # a run that stops has to name one of these
    prefix: list[str] = field(default_factory=list)  # of the command
    strike: Callable[[Start], None] | None = None  # done while jobs run
    struck: bool = True  # whether it happened: a run may end before it is struck


class Flow:
    """A folder with the workflow, its config and its results."""

    def __init__(self, path: Path, *changes: dict[str, Any]):
        self.workdir = Workdir(path)
        self.path = path
        for number, content in enumerate([CONFIG, *changes]):
            self.workdir.overlay(f"overlay{number}.yaml", content)
        overlays = [f"overlay{number}.yaml" for number in range(1 + len(changes))]
        self.options = ["--configfile", "config/test.yaml", *overlays]
        jobs = plan(path, *TARGETS, configfiles=tuple(self.options[1:])).workflow.dag.jobs
        jobs = list(jobs)
        made = {str(file) for job in jobs for file in job.output}
        self.outputs = sorted(made)
        # What no job reads (a finished table) can be damaged without anyone noticing.
        self.read = sorted(made & {str(file) for job in jobs for file in job.input})

    def command(self, *arguments: str) -> list[str]:
        snakemake = str(Path(sys.executable).parent / "snakemake")
        return [snakemake, "--snakefile", str(ROOT / "Snakefile"), *arguments]

    def start(self, log: Path, prefix: list[str] = ()) -> Start:
        """All artifacts are asked for, so that a deleted one is made again in any case."""
        asked = self.command("--cores", "2", *self.outputs, *self.options)
        with log.open("w") as out:
            process = subprocess.Popen(
                [*prefix, *asked],
                cwd=self.path,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return Start(self, process, log)

    def unlock(self) -> None:
        """What `snakemake --unlock` does after Snakemake was killed, without its start."""
        shutil.rmtree(self.path / ".snakemake" / "locks", ignore_errors=True)

    def existing(self, *suffixes: str) -> list[Path]:
        """Artifacts that jobs read, checkpoints, and journals of studies."""
        found = [self.path / name for name in self.read]
        for beside in ("*.checkpoint", "*.journal"):
            found += (self.path / RESULTS).rglob(beside)
        return [path for path in found if path.is_file() and path.suffix in suffixes]

    def jobs(self) -> dict[Path, int]:
        """The processes of the jobs that run, by the lock of the run they make."""
        found = {}
        for lock in (self.path / RESULTS).rglob(".*.lock"):
            try:
                pid = int(lock.read_text().split()[1])
                here = Path(f"/proc/{pid}/cwd").readlink()
            except (OSError, IndexError, ValueError):
                continue  # it has ended meanwhile
            if here == self.path:  # no other process that has the number of a dead one
                found[lock] = pid
        return found


@dataclass
class Start:
    """One start of Snakemake, alone in its process group."""

    flow: Flow
    process: subprocess.Popen
    log: Path

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def watch(self, trouble: Trouble, rng: Random) -> int | None:
        """Wait for the end; strike after some job has begun. The exit code; None if it hangs."""
        end = time.monotonic() + LONGEST_S
        jobs, delay = rng.randint(1, 3), rng.uniform(0, 1.5)
        seen: set[tuple[Path, int]] = set()
        strike_at = None
        waiting = trouble.strike is not None
        trouble.struck = not waiting
        while self.process.poll() is None:
            if time.monotonic() > end:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
                return None
            if waiting:
                seen |= set(self.flow.jobs().items())
                if strike_at is None and len(seen) >= jobs:
                    strike_at = time.monotonic() + delay
                if strike_at is not None and time.monotonic() >= strike_at:
                    trouble.strike(self)
                    waiting = not trouble.struck
            time.sleep(PAUSE_S)
        return self.process.returncode


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n")
