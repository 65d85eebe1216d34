"""A real Slurm on this one machine, with two pretend GPUs: a table through profiles/slurm."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime
from pathlib import Path

import pytest
from compare import different_results, results_but_times
from conftest import ROOT, Workdir

from iunet.machine.run_lock import lock_path
from iunet.runs.costs import SMALL

PROFILE = ROOT / "profiles" / "slurm"
HELPERS = ROOT / "tests" / "helpers" / "slurm"
NEEDED = ("slurmctld", "slurmd", "munged", "sbatch", "scancel")

RESULTS = Path("results/test")
WINE = "runs/wine/mlp_tab"
TABLE = "results/test/tables/table7.csv"
# wine × three methods × one seed; trainings and a study of seconds, so that they can be cut off.
CONFIG = {
    "train": {"supernet": {"epochs": 4000}},
    "cluster": {"checkpoint_s": 1},
    "tuning": {
        "workers": 1,  # several are not reproducible bit by bit
        "xgb": {"trials": 120, "max_rounds": 400, "max_rounds_dart": 100},
    },
    "tables": {"table7": {"methods": ["omp", "iunet", "xgb"]}},
}
OPTIONS = ("--configfile", "config/test.yaml", "table.yaml")
# Jobs of a minute, that save near their limit and not before: their outputs, and their logs.
SHORT = {"cluster": {"max_minutes": 1, "checkpoint_s": 600}}
SUPERNET = f"{WINE}/kappa0.25-ilo/seed0/supernet.safetensors"
CUT_SHORT = {
    SUPERNET: f"logs/{WINE}/kappa0.25-ilo/seed0/supernet.log",
    "runs/wine/xgb/tuning/worker0.json": "logs/runs/wine/xgb/tuning/worker0.log",
}
# Ask soon whether jobs have ended; and exit soon, since Snakemake waits for the end of a timespan.
SLURM = ("--profile", PROFILE, "--slurm-init-seconds-before-status-checks", "2")
SLURM += ("--max-jobs-per-timespan", "100/5s")
# A GPU for a group of jobs, though it uses none here, by a text that is the same for all of them,
# as `cluster.gres` gives it to trainings on a GPU.
GPU = ("--set-resources", *(f"{rule}:gres='gpu:1'" for rule in SMALL))


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


def ask(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


class Sent:
    """Snakemake with the slurm profile, in the background."""

    def __init__(self, workdir: Workdir, log: Path, *arguments: str | Path):
        snakemake = Path(sys.executable).parent / "snakemake"
        command = [snakemake, *arguments, "--snakefile", ROOT / "Snakefile", *SLURM]
        self.log = log
        with log.open("w") as out:
            self.process = subprocess.Popen(command, cwd=workdir.path, stdout=out, stderr=out)

    def __enter__(self) -> Sent:
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=60)

    def wait_for(self, condition, what: str) -> None:
        end = time.monotonic() + 500
        while not condition():
            assert self.process.poll() is None, f"it ended before {what}: {self.log.read_text()}"
            assert time.monotonic() < end, f"{what} did not happen"
            time.sleep(0.1)

    def output(self) -> str:
        """Of a run that must succeed."""
        self.process.wait(timeout=800)
        text = self.log.read_text()
        assert self.process.returncode == 0, text[-3000:]
        return text


def stop_until_limit(output: Path, log: Path) -> bool:
    """Stop the job that makes `output`, if it has begun, until eight seconds before its limit.

    So a minute of its job passes, and no minute of this machine.
    """
    if not log.exists() or not log.read_text():
        return False
    pid = int(re.search(r"process (\d+)", lock_path(output).read_text())[1])
    os.kill(pid, signal.SIGSTOP)
    job = re.search(rb"SLURM_JOB_ID=(\d+)", Path(f"/proc/{pid}/environ").read_bytes())[1].decode()
    ends = datetime.fromisoformat(ask("squeue", "--noheader", f"--jobs={job}", "--format=%e"))
    left_s = ends.timestamp() - 8 - time.time()
    threading.Timer(left_s, os.kill, (pid, signal.SIGCONT)).start()
    return True


def test_a_table_through_slurm_equals_a_local_run(slurm, tmp_path):
    """Though jobs meet their time limit in the middle, and one is killed."""
    local = Workdir(tmp_path / "local")
    local.overlay("table.yaml", CONFIG)
    local.overlay("short.yaml", SHORT)
    local.run(str(RESULTS / WINE / "initial/seed0/initial.json"), *OPTIONS)
    shutil.copytree(local.path, tmp_path / "remote")
    remote = Workdir(tmp_path / "remote")
    results = remote.path / RESULTS

    # A training and a study that take longer than a job may: Slurm gets their jobs back.
    targets = (str(RESULTS / output) for output in CUT_SHORT)
    options = (*OPTIONS, "short.yaml", "--retries", "0")
    with Sent(remote, tmp_path / "short.log", *targets, *options) as sent:
        begun = {(results / output, results / log) for output, log in CUT_SHORT.items()}

        def both_have_begun() -> bool:
            begun.difference_update([job for job in begun if stop_until_limit(*job)])
            return not begun

        sent.wait_for(both_have_begun, "the start of both jobs")
        local.run(TABLE, *OPTIONS)  # while they do nothing
        output = sent.output()
    assert "Trying to restart job" not in output  # no retry was used: for Snakemake none has ended
    again = [int(n) for n in re.findall(r"Restarts=(\d+)", ask("scontrol", "show", "job"))]
    assert sum(n >= 1 for n in again) == 2, again
    report = json.loads((results / SUPERNET).with_name("supernet.json").read_text())
    assert report["times"]["resumed_at"]

    # The rest, of which a group with a GPU is killed.
    with Sent(remote, tmp_path / "table.log", TABLE, *GPU, *OPTIONS) as sent:
        checkpoint = results / WINE / "kappa1-sup/seed0/supernet.checkpoint"
        sent.wait_for(checkpoint.exists, "a checkpoint")
        running = ("--noheader", "--states=RUNNING", "--partition=gpu", "--format=%i")
        (job,) = ask("squeue", *running).split()
        facts = ask("scontrol", "show", "job", job)
        assert "Partition=gpu" in facts and "gres:gpu:1" in facts
        ask("scancel", "--signal=KILL", job)
        output = sent.output()
    assert "Trying to restart job" in output  # killed, and sent again
    assert 2 <= output.count("has been submitted with SLURM jobid") <= 6
    report = json.loads(checkpoint.with_name("supernet.json").read_text())
    assert report["times"]["resumed_at"] and not checkpoint.exists()
    ours, theirs = (results_but_times(w.path / RESULTS) for w in (remote, local))
    assert different_results(ours, theirs) == []


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
