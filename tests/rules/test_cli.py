"""The `snakemake` command finds the target wherever it stands."""

from __future__ import annotations

import shlex
import threading
from types import SimpleNamespace

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

from iunet.cli import (
    config_files,
    folder_of,
    greedy_options,
    one_reevaluation_at_a_time,
    targets_first,
)


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ("--cores 8 --resources gpu=1 t.csv", "t.csv --cores 8 --resources gpu=1"),
        ("--config a=1 b=2 t.csv -n", "t.csv --config a=1 b=2 -n"),
        ("--configfile a.yaml b.yml t.csv u.md", "t.csv u.md --configfile a.yaml b.yml"),
        ("--configfile a.yaml -- t.csv", "--configfile a.yaml -- t.csv"),
        ("t.csv --resources gpu=1 --cores 2", "t.csv --resources gpu=1 --cores 2"),
        ("-n t.csv --forcerun rule1 rule2", "-n t.csv --forcerun rule1 rule2"),
        ("--config 'data={mirror: x}'", "--config 'data={mirror: x}'"),
        ("--configfile a.yaml b/report.json", "b/report.json --configfile a.yaml"),
        ("--sdm conda t.csv --set-threads r=2 u.csv", "t.csv u.csv --sdm conda --set-threads r=2"),
        ("-n -q results/x.csv", "results/x.csv -n -q"),
        ("-nq rules results/x.csv", "results/x.csv -nq rules"),
        ("--rerun-triggers mtime params t.csv -n", "t.csv --rerun-triggers mtime params -n"),
        ("--allowed-rules supernet prune t.csv", "t.csv --allowed-rules supernet prune"),
        ("--envvars HOME t.csv --groups a=b u.csv", "t.csv u.csv --envvars HOME --groups a=b"),
        ("--shared-fs-usage none t.csv", "t.csv --shared-fs-usage none"),
        (
            "--set-scatter a=2 t.csv --cache split t.csv",
            "t.csv t.csv --set-scatter a=2 --cache split",
        ),
        ("--until t.csv", "--until t.csv"),  # values that are targets stay
        ("", ""),
    ],
)
def test_targets_first(given, understood):
    assert targets_first(shlex.split(given)) == shlex.split(understood)


def test_every_option_of_snakemake_with_many_values_is_known():
    """What is not greedy here takes targets or files: all that follows is its own."""
    from snakemake.cli import get_argument_parser

    many = {a.option_strings[0] for a in get_argument_parser()._actions
            if a.nargs in ("+", "*") and a.option_strings}  # fmt: skip
    of_targets = {"--forcerun", "--prioritize", "--until", "--omit-from", "--cleanup-metadata",
                  "--wait-for-files", "--unneeded-temp-files"}  # fmt: skip
    internal = {"--omit-flags", "--target-jobs"}  # of Snakemake's own calls of itself
    assert len(many) >= 25
    assert many - set(greedy_options()) == of_targets | internal


def test_config_files_and_the_folder_are_found_in_the_arguments():
    words = shlex.split("t.csv --configfile a.yaml b.yml -n --configfiles=c.json -d there")
    assert config_files(words) == ["a.yaml", "b.yml", "c.json"]
    assert str(folder_of(words)) == "there" and str(folder_of(["--directory=x"])) == "x"


@pytest.mark.parametrize(
    "command",
    [
        "--cores 8 --resources gpu=1 results/tables/table9.csv -n",
        "-n --cores 8 --config seeds=[0] results/tables/table9.csv",
    ],
)
def test_the_users_command_as_it_is_typed(workdir, command):
    result = workdir.snakemake(*shlex.split(command))
    assert result.returncode == 0, result.stderr
    assert "download_table" in result.stdout + result.stderr


def test_the_scheduler_has_one_timer_however_many_jobs_end(monkeypatch):
    theirs = JobScheduler._schedule_reevalutation  # fails with a version that has none
    monkeypatch.setattr(JobScheduler, "_schedule_reevalutation", theirs)  # put back afterwards
    timers = []

    class Timer:
        def __init__(self, delay, function):
            self.fire = function
            timers.append(self)

        def start(self):
            assert self.daemon

    monkeypatch.setattr(threading, "Timer", Timer)
    one_reevaluation_at_a_time()
    looks = threading.Semaphore(0)
    scheduler = SimpleNamespace(_open_jobs=looks)
    for _ in range(5):
        JobScheduler._schedule_reevalutation(scheduler, 1)
    assert len(timers) == 1
    timers[0].fire()
    assert looks.acquire(blocking=False) and not looks.acquire(blocking=False)
    JobScheduler._schedule_reevalutation(scheduler, 1)
    assert len(timers) == 2
