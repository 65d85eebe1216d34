"""A run belongs to one process; a process that is dead keeps nothing."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from conftest import ROOT

from iunet.errors import UserError
from iunet.machine import run_lock
from iunet.machine.run_lock import lock_path, lock_run, refuse_unwritable

HOLDER = """
import sys
from iunet.machine.run_lock import lock_run
lock_run(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def output(tmp_path):
    return tmp_path / "seed0" / "supernet.safetensors"


@pytest.fixture
def holder(output):
    """Another process that makes the output, until its input is closed."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", HOLDER, output], **pipes)
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_second_process_is_refused_by_name(output, holder):
    with pytest.raises(UserError) as refused:
        lock_run(output, wait_s=0)
    for part in (str(output), f"process {holder.pid} on ", "run the same command again"):
        assert part in str(refused.value)


def test_a_second_process_waits_for_the_first_which_is_killed(output, holder, monkeypatch):
    monkeypatch.setattr(run_lock, "PAUSE_S", 0.01)
    threading.Timer(0.2, holder.kill).start()
    release = lock_run(output, wait_s=600)
    assert lock_path(output).read_text().startswith(f"process {os.getpid()} on ")
    release()
    assert list(output.parent.iterdir()) == []


def test_a_process_that_ends_leaves_no_lock_behind(output, holder):
    holder.communicate()
    assert list(output.parent.iterdir()) == []


def test_a_lock_that_is_removed_between_two_calls_is_taken_anew(output, monkeypatch):
    """Its last owner ends between filelock's `open` and its `flock`."""
    real, calls = fcntl.flock, []

    def flock(file, how):
        real(file, how)
        if not calls:
            lock_path(output).unlink()
        calls.append(how)

    monkeypatch.setattr(fcntl, "flock", flock)
    monkeypatch.setattr(run_lock, "PAUSE_S", 0.01)
    release = lock_run(output, wait_s=600)
    assert len(calls) == 2 and lock_path(output).exists()
    release()


def test_every_job_takes_its_lock_before_anything_else(output, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "workflow" / "scripts")
    import _job

    def refuse(path):
        raise UserError(f"{path} is being made")

    monkeypatch.setattr(_job, "lock_run", refuse)
    monkeypatch.setattr(_job.logging, "basicConfig", lambda **_: None)
    monkeypatch.setattr(_job.logging, "raiseExceptions", True)
    monkeypatch.setattr(_job.atexit, "register", lambda _: None)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    job = SimpleNamespace(output=[str(output)], log=[str(output.parent / "supernet.log")])
    with pytest.raises(UserError, match=r"supernet\.safetensors is being made"):
        _job.start({"snakemake": job, "__file__": "supernet.py"})


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.EROFS, "Nothing can be written to"), (errno.ENOSPC, "No space left to write")],
)
def test_a_folder_that_takes_no_lock_is_named(output, monkeypatch, number, said):
    output.parent.mkdir()

    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(run_lock.FileLock, "acquire", refuse)
    with pytest.raises(UserError, match=f"{said}.*{output.parent}"):
        lock_run(output, wait_s=0)


def test_a_read_only_folder_is_named_before_anything_runs(tmp_path, monkeypatch):
    new = tmp_path / "not" / "yet"
    refuse_unwritable(new)
    monkeypatch.setattr(run_lock.os, "access", lambda *_: False)
    for folder in (tmp_path, new):
        with pytest.raises(UserError, match=f"written to {folder} \\({tmp_path} is read-only"):
            refuse_unwritable(folder)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_a_file_system_without_locks_is_warned_of(output, monkeypatch, caplog, number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    lock_run(output, wait_s=0)()
    assert "this file system has no locks" in caplog.text
