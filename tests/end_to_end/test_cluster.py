"""A real Slurm on this one machine, with two pretend GPUs: a table through profiles/slurm."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from compare import different_results, results_but_times
from conftest import Workdir

from iunet.runs.costs import SMALL

ROOT = Path(__file__).resolve().parents[2]
PROFILE = ROOT / "profiles" / "slurm"
HELPERS = ROOT / "tests" / "helpers" / "slurm"
NEEDED = ("slurmctld", "slurmd", "munged", "sbatch", "scancel")

# The table: wine × three methods × one seed.
WINE = "results/test/runs/wine/mlp_tab"
TARGETS = ("results/test/tables/table7.csv",)
# Long enough to be killed in its middle, with a checkpoint after every second.
CONFIG = {
    "device": "cpu",
    "train": {"supernet": {"epochs": 2000}},
    "cluster": {"checkpoint_s": 1},
    "tuning": {"workers": 1},  # several are not reproducible bit by bit
    "tables": {"table7": {"methods": ["omp", "iunet", "xgb"]}},
}
OPTIONS = ("--configfile", "config/test.yaml", "table.yaml")
# Ask soon whether jobs have ended; and a GPU for a group of jobs, though it uses none here, by a
# text that is the same for all of them, as `cluster.gres` gives it to trainings on a GPU.
SLURM = ("--profile", str(PROFILE), "--slurm-init-seconds-before-status-checks", "2")
GPU = ("--set-resources", *(f"{rule}:gres='gpu:1'" for rule in SMALL))

# A training and a study that take several jobs: some 85 s of a Xeon each, where a job has 54.
SUPERNET = "runs/wine/mlp_tab/kappa0.25-ilo/seed0/supernet.json"
STUDY = "runs/wine/xgb/tuning/study.json"
MINUTES = int(os.environ.get("IUNET_SLURM_MINUTES", "1"))  # more where other programs compute
LONG_TARGETS = (f"results/test/{SUPERNET}", f"results/test/{STUDY}")
LONG = {
    "cluster": {"max_minutes": MINUTES, "checkpoint_s": 600},  # saved near the limit, not before
    "train": {"supernet": {"epochs": 30_000 * MINUTES}},
    "tuning": {
        "xgb": {"trials": int(850 * MINUTES**0.6), "max_rounds": 400, "max_rounds_dart": 100}
    },
}


@pytest.fixture(scope="module")
def slurm():
    """The cluster. Where there can be none, tests skip; with IUNET_NEED_SLURM=1 they fail."""

    def give_up(reason: str) -> None:
        if os.environ.get("IUNET_NEED_SLURM") == "1":
            pytest.fail(reason)
        pytest.skip(reason)

    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        give_up(f"no Slurm here, {missing[0]} is missing (apt-get install slurm-wlm munge)")
    if os.geteuid() != 0:
        give_up("starting a Slurm needs root")
    folder = Path(tempfile.mkdtemp(prefix="iunet-slurm-"))
    started = subprocess.run([HELPERS / "start.sh", folder], capture_output=True, text=True)
    try:
        if started.returncode != 0:
            give_up(f"Slurm could not be started: {started.stderr.strip()[-500:]}")
        yield folder
    finally:
        subprocess.run([HELPERS / "stop.sh", folder])
        shutil.rmtree(folder, ignore_errors=True)


def make_workdir(path: Path) -> Workdir:
    workdir = Workdir(path)
    (workdir.path / "table.yaml").write_text(json.dumps(CONFIG))
    return workdir


def ask(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def wait_for(condition, what: str, process: subprocess.Popen, log: Path, seconds=500) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, f"Snakemake ended before {what}: {log.read_text()[-4000:]}"
        assert time.monotonic() < end, f"{what} did not happen in {seconds:.0f} s"
        time.sleep(0.1)


def send(workdir: Workdir, log: Path, *arguments: str | Path) -> subprocess.Popen:
    """Snakemake with the slurm profile, in the background."""
    snakemake = Path(sys.executable).parent / "snakemake"
    command = [snakemake, *arguments, "--snakefile", ROOT / "Snakefile", *SLURM]
    with log.open("w") as out:
        return subprocess.Popen(command, cwd=workdir.path, stdout=out, stderr=out)


def end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.terminate()
        process.wait(timeout=60)


def assert_equal_results(remote: Workdir, local: Workdir) -> None:
    ours, theirs = (results_but_times(w.path / "results" / "test") for w in (remote, local))
    assert different_results(ours, theirs) == []


def test_a_table_through_slurm_with_a_killed_job_equals_a_local_run(slurm, tmp_path):
    local, remote = make_workdir(tmp_path / "local"), make_workdir(tmp_path / "remote")
    local.run(*TARGETS, *OPTIONS)
    log = tmp_path / "out.log"
    process = send(remote, log, *TARGETS, *GPU, *OPTIONS)
    try:
        checkpoint = remote.path / WINE / "kappa0.25-ilo" / "seed0" / "supernet.checkpoint"
        wait_for(checkpoint.exists, "a checkpoint", process, log)
        running = ("--noheader", "--states=RUNNING", "--partition=gpu", "--format=%i")
        (job,) = ask("squeue", *running).split()
        facts = ask("scontrol", "show", "job", job)
        assert "Partition=gpu" in facts and "gres:gpu:1" in facts
        ask("scancel", "--signal=KILL", job)
        process.wait(timeout=800)
    finally:
        end(process)
    output = log.read_text()
    assert process.returncode == 0, output[-3000:]
    assert "Trying to restart job" in output  # killed, and sent again
    assert 3 <= output.count("has been submitted with SLURM jobid") <= 15
    report = json.loads((checkpoint.parent / "supernet.json").read_text())
    assert report["times"]["resumed_at"] and not checkpoint.exists()
    assert_equal_results(remote, local)


def test_jobs_that_meet_their_limit_go_on_until_they_are_done(slurm, tmp_path):
    """A training and a study that take longer than a job may: Slurm gets their jobs back."""
    local, remote = make_workdir(tmp_path / "local"), make_workdir(tmp_path / "remote")
    for workdir in (local, remote):
        workdir.overlay("long.yaml", LONG)
    local.run(*LONG_TARGETS, *OPTIONS, "long.yaml")
    log = tmp_path / "out.log"
    process = send(remote, log, *LONG_TARGETS, *OPTIONS, "long.yaml", "--retries", "0")
    try:
        process.wait(timeout=1500)
    finally:
        end(process)
    output = log.read_text()
    assert process.returncode == 0, output[-3000:]
    assert "Trying to restart job" not in output  # no retry was used: for Snakemake none has ended
    again = [int(n) for n in re.findall(r"Restarts=(\d+)", ask("scontrol", "show", "job"))]
    # The training and the study; how often each was put back depends on the machine's speed.
    assert sum(n >= 1 for n in again) >= 2, again
    report = json.loads((remote.path / "results" / "test" / SUPERNET).read_text())
    assert report["times"]["resumed_at"]
    assert_equal_results(remote, local)


def test_a_profile_with_a_partition_that_does_not_exist(slurm, tmp_path):
    def check() -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "iunet.machine.cluster", tmp_path]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    profile = tmp_path / "config.yaml"
    profile.write_text("default-resources: {slurm_partition: gpus}")
    assert "the Slurm partition 'gpus', which does not exist" in check().stderr
    assert "Did you mean 'gpu'? This cluster has: cpu, gpu." in check().stderr
    profile.write_text("default-resources: {slurm_partition: gpu}")
    assert check().returncode == 0
