"""SIGKILL at random moments: every run continues, and ends with the bytes of an undisturbed one."""

from __future__ import annotations

import random
import signal
import time

import pytest
from toy_run import StageProcess, Toy, result

from iunet.artifacts import remove_leftovers

KILLS = 6  # per stage


def delete_outputs(folder) -> None:
    """What Snakemake removes after a job was killed, and the job itself when it starts again."""
    for name in ("weights", "histograms", "predictions", "report"):
        (folder / name).unlink(missing_ok=True)
        remove_leftovers(folder / name)


@pytest.fixture
def toy(tmp_path) -> Toy:
    toy = Toy(tmp_path / "toy")
    toy.initialise()
    return toy


@pytest.mark.parametrize("stage", ["supernet", "finetune"])
def test_killed_runs_end_with_identical_bytes(toy, stage):
    if stage == "finetune":
        toy.supernet()
        toy.prune(4)
    folder = toy.folder / stage
    process = StageProcess(toy, stage).wait_for("epoch")
    began = time.monotonic()
    assert process.finish()[0] == 0
    lasted = time.monotonic() - began
    whole = result(folder)
    rng = random.Random(stage)
    kills, to_resume = 0, 0
    while kills < KILLS:
        delete_outputs(folder)
        process = StageProcess(toy, stage).wait_for("started" if kills % 4 == 3 else "epoch")
        time.sleep(rng.uniform(0, lasted / 6))
        if process.running():
            process.send(signal.SIGKILL)
            kills += 1
        process.finish()
        to_resume += (folder / f"{stage}.checkpoint").exists()
    delete_outputs(folder)
    assert StageProcess(toy, stage).finish()[0] == 0
    assert result(folder) == whole  # and so nothing of the killed ones is left in the folder
    assert to_resume >= KILLS // 2  # most kills left something to resume


def test_sigterm_saves_the_epoch_and_the_next_start_continues(toy):
    folder = toy.folder / "supernet"
    assert StageProcess(toy, "supernet").finish()[0] == 0
    expected = result(folder)
    delete_outputs(folder)
    stopped = StageProcess(toy, "supernet").wait_for("epoch")
    stopped.send(signal.SIGTERM)
    code, said = stopped.finish()
    assert code != 0 and "was stopped (SIGTERM)" in said
    assert [path.name for path in folder.iterdir()] == ["supernet.checkpoint"]
    assert StageProcess(toy, "supernet").finish()[0] == 0
    assert result(folder) == expected
