"""A small workflow is started again and again, with a random fault each time, until it completes.

    python tests/faults [--faults 100] [--seed 0] [--minutes 60] [--keep FOLDER]

Then it begins anew, until there were as many faults as asked for. Every completed run must equal an
undisturbed one but for times; every start that a fault stopped must have named the file. Anything
else is bad, is shown, and makes the program fail. It runs in a mount namespace of its own, so that
nothing stays mounted however it ends. What is in the environment reaches Snakemake and its jobs.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "helpers")]

from compare import different_results, results_but_times  # noqa: E402
from flow import FOREIGN, RESULTS, Flow, Trouble, write_json  # noqa: E402
from kinds import MIB, possible  # noqa: E402

from iunet.baselines.study import KILLED_TWICE  # noqa: E402

DISK = 64 * MIB
NAMED = re.compile(rf"({re.escape(RESULTS)}/[^\s'\",;]+[^\s'\",;.:)])")
LOGS = re.compile(rf"{re.escape(RESULTS)}/logs/\S*\.log")  # shown with every failure: no fault
EQUAL, KILLED = "completed, results equal", "stopped as killed"
NAMED_FILE, GAVE_UP = "stopped, named the file", "completed, trial recorded as killed twice"
BAD = "BAD"


class FaultRun:
    """The faults so far, and what came of them."""

    def __init__(self, folder: Path, faults: int, seed: int, minutes: float):
        self.folder, self.wanted, self.rng = folder, faults, Random(seed)
        self.end = time.monotonic() + 60 * minutes
        self.kinds, self.notes = possible()
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.kills: Counter[Path] = Counter()  # by run
        self.runs = self.starts = 0
        self.bad: list[str] = []
        self.undisturbed = self.finished(Flow(folder / "undisturbed"))
        self.foreign = Flow(folder / "foreign", FOREIGN)
        self.finished(self.foreign)

    @property
    def faults(self) -> int:
        return self.outcomes.total()

    def more(self) -> bool:
        return self.faults < self.wanted and time.monotonic() < self.end

    def finished(self, flow: Flow) -> dict:
        start = flow.start(flow.path / "out.log")
        if start.watch(Trouble("nothing"), self.rng) != 0:
            sys.exit(f"The undisturbed run failed:\n{start.output[-3000:]}")
        return results_but_times(flow.path / RESULTS)

    def run(self) -> None:
        while self.more():
            self.runs += 1
            path = self.folder / f"run{self.runs}"
            (path / "results").mkdir(parents=True)
            shutil.copytree(self.foreign.path / "config", path / "config")
            tmpfs = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "faults", path / "results"]
            subprocess.run(tmpfs, check=True)
            flow = Flow(path)
            while not self.start(flow):
                pass
            subprocess.run(["umount", "--lazy", path / "results"], check=True)
            shutil.rmtree(path, ignore_errors=True)

    def start(self, flow: Flow) -> bool:
        """One start, with a fault as long as there are some to come; whether it completed."""
        self.starts += 1
        log = self.folder / f"start{self.starts}.log"
        if not self.more():
            start = flow.start(log)
            code = start.watch(Trouble("nothing"), self.rng)
            return self.judge(flow, "no fault", Trouble("nothing"), code, start.output)
        kind = self.rng.choice(list(self.kinds))
        with self.kinds[kind](flow, self.foreign, self.rng) as trouble:
            if trouble is None:
                return False
            start = flow.start(log, trouble.prefix)
            code = start.watch(trouble, self.rng)
        return self.judge(flow, kind, trouble, code, start.output)

    def judge(self, flow: Flow, kind: str, trouble: Trouble, code: int | None, said: str) -> bool:
        completed = code == 0
        signalled = trouble.strike is not None and trouble.struck
        self.kills[flow.path] += signalled and kind.startswith("SIGKILL")
        if completed:
            outcome = self.compare(flow)
        elif code is None:
            outcome = f"{BAD}: hangs"
        elif signalled and kind.startswith("SIGKILL"):
            outcome = KILLED
        elif "Traceback (most recent call last)" in said:
            outcome = f"{BAD}: a traceback"
        elif signalled:
            outcome = KILLED
        elif any(name in LOGS.sub("", said) for name in trouble.names):
            outcome = NAMED_FILE
            self.obey(flow, said)
        else:
            outcome = f"{BAD}: stopped without a name"
        if kind != "no fault" and trouble.struck:
            self.outcomes[kind, outcome.partition(":")[0]] += 1
        print(f"{self.faults:4} run {self.runs:3}  {trouble.what}: {outcome}", flush=True)
        if outcome.startswith(BAD):
            self.bad.append(f"start {self.starts}, {trouble.what}: {outcome}\n{said[-2500:]}")
            return True  # what follows would be of another cause
        return completed

    def compare(self, flow: Flow) -> str:
        ours = results_but_times(flow.path / RESULTS)
        if different := different_results(ours, self.undisturbed):
            study = ours.get("runs/wine/xgb/tuning/study.json", {})
            if study.get("failures", {}).get(KILLED_TWICE):
                # What follows from the study is another result; everything else is the same.
                different = [n for n in different if "/xgb/" not in n and "tables/" not in n]
                if self.kills[flow.path] < 2:
                    return f"{BAD}: a trial given up after {self.kills[flow.path]} kills"
                return GAVE_UP if not different else f"{BAD}: different {different}"
            return f"{BAD}: different {different}"
        return EQUAL

    def obey(self, flow: Flow, said: str) -> None:
        """Delete what a message says to delete."""
        for line in said.splitlines():
            if "elete" in line:
                for name in NAMED.findall(line):
                    path = flow.path / name
                    if path.is_file():
                        path.unlink()


def report(run: FaultRun, seconds: float) -> str:
    kinds = sorted({kind for kind, _ in run.outcomes})
    outcomes = sorted({outcome for _, outcome in run.outcomes})
    lines = [f"| fault | {' | '.join(outcomes)} | all |", "|---" * (len(outcomes) + 2) + "|"]
    for kind in kinds:
        counts = [run.outcomes[kind, outcome] for outcome in outcomes]
        lines.append(f"| {kind} | {' | '.join(map(str, counts))} | {sum(counts)} |")
    totals = [sum(run.outcomes[kind, outcome] for kind in kinds) for outcome in outcomes]
    lines.append(f"| all | {' | '.join(map(str, totals))} | {sum(totals)} |")
    lines.append(
        f"\n{run.faults} of {run.wanted} faults in {run.starts} starts of {run.runs} runs, "
        f"{seconds / 60:.0f} min"
    )
    return "\n".join([*lines, *run.notes])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0, help="no more faults after that")
    parser.add_argument("--keep", type=Path, help="where logs and folders stay")
    arguments = parser.parse_args()
    if os.environ.get("IUNET_FAULTS_INSIDE") != "1":
        inside = ["unshare", "--map-root-user", "--mount", sys.executable, *sys.argv]
        os.execvpe(inside[0], inside, os.environ | {"IUNET_FAULTS_INSIDE": "1"})
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="iunet-faults-"))
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    run = FaultRun(folder.resolve(), arguments.faults, arguments.seed, arguments.minutes)
    run.run()
    print(report(run, time.monotonic() - began))
    write_json(folder / "outcomes.json", {" / ".join(k): n for k, n in run.outcomes.items()})
    if run.faults < run.wanted:
        print(f"The time was too short for {run.wanted} faults: --minutes allows more.")
    for text in run.bad:
        print(f"\n==== {text}")
    if not arguments.keep and not run.bad:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if run.bad else 0)


if __name__ == "__main__":
    main()
