"""SIGKILL at random moments: every run continues, and ends with the bytes of an undisturbed one."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from toy_run import Toy, result

KILLS = 12  # per stage
PROGRAM = Path(__file__).parents[1] / "helpers" / "toy_run.py"


@pytest.mark.parametrize("stage", ["supernet", "finetune"])
def test_killed_runs_end_with_identical_bytes(tmp_path, stage):
    toy = Toy(tmp_path / "toy")
    toy.initialise()
    if stage == "finetune":
        toy.supernet()
        toy.prune(4)

    def start(until: str = "started") -> subprocess.Popen:
        """Start the stage, and return when it has printed that."""
        process = subprocess.Popen(
            [sys.executable, PROGRAM, toy.folder, stage], stdout=subprocess.PIPE, text=True
        )
        while (line := process.stdout.readline()) and not line.startswith(until):
            pass
        return process

    def delete_outputs() -> None:
        """As Snakemake does with those of a job that was cut off, and nothing else."""
        for name in ("weights", "histograms", "report"):
            (folder / name).unlink(missing_ok=True)

    folder = toy.folder / stage
    process = start(until="epoch")
    began = time.monotonic()
    assert process.communicate() and process.returncode == 0
    lasted = time.monotonic() - began
    whole = result(folder)
    rng = random.Random(stage)
    kills, to_resume = 0, 0
    while kills < KILLS:
        delete_outputs()
        process = start(until="started" if kills % 4 == 3 else "epoch")
        time.sleep(rng.uniform(0, lasted / 6))
        if process.poll() is None:
            process.kill()
            kills += 1
        process.communicate()
        to_resume += (folder / f"{stage}.checkpoint").exists()
    delete_outputs()
    process = start()
    assert process.communicate() and process.returncode == 0
    assert result(folder) == whole  # and so nothing of the killed ones is left in the folder
    assert to_resume >= KILLS // 2  # most kills left something to resume
