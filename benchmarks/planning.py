"""Time and peak memory of `snakemake -n` for a config, and at ten times its seeds.

Limits: 5 ms a job and 500 MB for the paper's config; ten times the jobs must not take more than ten
times as long (with 20 % for the machine's moods), a ratio that holds on any machine.

    python benchmarks/planning.py [--configfile config/demo.yaml] [--check]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT_MS, LIMIT_MB = 5, 500


def plan(overlays: list[str]) -> tuple[float, float, int]:
    """Seconds, peak MB and number of jobs of a dry run, in a process of its own."""
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "-n", "--quiet", "rules"]
    command += ["--configfile", *overlays] if overlays else []
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile("w+") as out:
        began = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        out.seek(0)
        text = out.read()
    if status != 0:
        sys.exit(text[-2000:])
    return seconds, usage.ru_maxrss / 1000, int(re.findall(r"^total +(\d+)", text, re.M)[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configfile", action="append", default=[])
    parser.add_argument("--seeds", type=int, default=3, help="of the config, for the tenfold run")
    parser.add_argument("--check", action="store_true", help="fail if a limit is missed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ten = Path(folder) / "seeds.yaml"
        ten.write_text(json.dumps({"seeds": list(range(10 * arguments.seeds))}))
        one = plan(arguments.configfile)
        many = plan([*arguments.configfile, str(ten)])
    for name, (seconds, memory, jobs) in {"config": one, "ten times the seeds": many}.items():
        each = 1000 * seconds / jobs
        print(f"{name:20}{jobs:8,} jobs{seconds:8.1f} s{each:7.2f} ms/job{memory:8.0f} MB")
    growth = (many[0] / one[0]) / (many[2] / one[2])
    print(f"time grew {growth:.2f} times as fast as the number of jobs (1 is linear)")
    each_ms = 1000 * one[0] / one[2]
    missed = each_ms > LIMIT_MS or one[1] > LIMIT_MB or growth > 1.2
    if arguments.check and missed:
        sys.exit(f"missed: {LIMIT_MS} ms a job, {LIMIT_MB} MB, growth 1.2")


if __name__ == "__main__":
    main()
