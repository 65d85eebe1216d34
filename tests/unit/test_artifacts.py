"""Artifacts are whole or absent, whatever happens while they are written."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iunet import artifacts
from iunet.artifacts import atomic_path, read_arrays, read_json, write_arrays, write_json
from iunet.errors import UserError


def test_arrays_round_trip_in_memory_order(tmp_path):
    transposed = np.arange(6).reshape(2, 3).T
    write_arrays(tmp_path / "a", {"x": transposed, "empty": np.zeros((3, 0))}, dataset="d")
    read = read_arrays(tmp_path / "a")
    assert np.array_equal(read["x"], transposed)
    assert read["empty"].shape == (3, 0)
    assert list(read_arrays(tmp_path / "a", "x")) == ["x"]


def test_artifacts_can_be_read_by_whom_the_user_allows(tmp_path):
    """safetensors writes private files, which nobody else of a group could use."""
    before = os.umask(0o027)
    try:
        write_arrays(tmp_path / "a", {"x": np.arange(3)})
        write_json(tmp_path / "b", {})
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {0o640}


def test_an_error_keeps_the_old_file_and_leaves_no_other(tmp_path):
    write_json(tmp_path / "a.json", {"version": 1})
    with pytest.raises(ZeroDivisionError), atomic_path(tmp_path / "a.json") as temporary:
        temporary.write_text("half of it")
        raise ZeroDivisionError
    assert read_json(tmp_path / "a.json") == {"version": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_nan_is_not_json(tmp_path):
    with pytest.raises(ValueError):
        write_json(tmp_path / "a.json", {"loss": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_killed_while_writing(tmp_path):
    """SIGKILL cannot be caught: what it leaves must not have the artifact's name."""
    code = (
        "import sys, time; from iunet.artifacts import atomic_path\n"
        "with atomic_path(sys.argv[1]) as temporary:\n"
        "    temporary.write_text('half'); print('writing', flush=True); time.sleep(60)"
    )
    path = tmp_path / "a.json"
    process = subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not path.exists() and len(list(tmp_path.iterdir())) == 1
    (tmp_path / ".a.json.tmp").mkdir()  # of somebody else
    artifacts.remove_leftovers(path)
    assert [left.name for left in tmp_path.iterdir()] == [".a.json.tmp"]


def test_of_two_writers_at_once_one_wins_whole(tmp_path):
    mine = tmp_path / ".a.tmp" / "notes"
    mine.parent.mkdir()
    mine.write_text("a user's own")
    with atomic_path(tmp_path / "a") as one, atomic_path(tmp_path / "a") as other:
        one.write_text("1" * 9)
        other.write_text("2" * 5)
        assert one != other
    assert (tmp_path / "a").read_text() == "1" * 9
    assert mine.read_text() == "a user's own"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a.tmp", "a"]


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path):
    write_json(tmp_path / ("x" * 255), {"a": 1})
    assert read_json(tmp_path / ("x" * 255)) == {"a": 1}


# ---- a full disk


WRITERS = {
    "json": lambda path: write_json(path, {"text": "x" * 3_000_000}),
    "arrays": lambda path: write_arrays(path, {"x": np.random.default_rng(0).random(400_000)}),
    "parquet": lambda path: _write_parquet(path),
}


def _write_parquet(path):
    table = pa.table({"x": np.random.default_rng(0).random(400_000)})
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MiB; needs the right to mount one."""
    libc = ctypes.CDLL(None, use_errno=True)
    folder = tmp_path / "disk"
    folder.mkdir()
    if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, b"size=1m") != 0:
        pytest.skip(f"cannot mount a small file system: {os.strerror(ctypes.get_errno())}")
    yield folder
    for _ in range(50):  # a writer may hold the folder for a moment
        if libc.umount2(os.fsencode(folder), 0) == 0:
            return
        time.sleep(0.1)


@pytest.mark.parametrize("writer", WRITERS)
def test_full_disk(small_disk, writer):
    path = small_disk / "results" / "artifact"
    with pytest.raises(UserError, match=r"No space left to write .*artifact .*MiB free"):
        WRITERS[writer](path)
    assert list(path.parent.iterdir()) == []


def test_full_disk_when_the_data_reach_it_late(tmp_path, monkeypatch):
    """Network file systems report it only when a file is synchronised."""

    def fail(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UserError, match="No space left"):
        write_json(tmp_path / "a.json", {})
    assert list(tmp_path.iterdir()) == []


# ---- what an artifact says of itself

CODE = {"iunet.training.loop": ["45439a88"]}


@pytest.fixture(params=["a.json", "a.safetensors"])
def signed(tmp_path, request):
    """An artifact that says who made it."""
    path = tmp_path / request.param
    artifacts.sign({"id": "old", "rule": "supernet", "code": CODE})
    try:
        if path.suffix == ".json":
            write_json(path, {"a": 1})
        else:
            write_arrays(path, {"a": np.arange(2)}, dataset="d")
    finally:
        artifacts.sign({})
    return path


def test_what_an_artifact_says_of_itself_cannot_be_changed(signed):
    """The versions of the code, for one, which later stages hand on to the tables."""
    assert artifacts.read_provenance(signed)["code"] == CODE
    signed.write_bytes(signed.read_bytes().replace(b"45439a88", b"45439a89"))
    with pytest.raises(UserError, match="is damaged: its record of how it was made has changed"):
        artifacts.read_provenance(signed)


def test_an_artifact_of_an_older_version_gets_the_id_of_today(signed):
    """Published reports outlive changes of how a lineage is described; their content stays."""
    artifacts.give_identity(signed, {"id": "new", "rule": "supernet"})
    record = artifacts.read_provenance(signed)
    assert (record["id"], record["code"], record["file"]) == ("new", CODE, signed.name)
    if signed.suffix == ".json":
        assert read_json(signed) == {"a": 1}
    else:
        arrays, metadata = artifacts.read_arrays_and_metadata(signed)
        assert list(arrays["a"]) == [0, 1] and metadata == {"dataset": "d"}
