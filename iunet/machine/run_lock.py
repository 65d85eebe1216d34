"""A run belongs to one process at a time, by a lock file beside its outputs.

If Snakemake is killed, its jobs live on, and the next Snakemake starts the same job in the same
folder: two trainings would write one checkpoint, two workers one share of a study. So a job takes
the lock of its first output and keeps it until its process ends, however it ends: the lock is the
kernel's (flock), the file that a killed process leaves behind is none.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import logging
import os
import platform
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from iunet.artifacts import explain_full_disk
from iunet.errors import UserError

log = logging.getLogger(__name__)
WAIT_S = 60.0  # a process that is about to end is waited for, a long training is not
PAUSE_S = 0.5
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}  # of a file system without any
_held: dict[Path, IO] = {}  # open for the life of the process: closing would free the lock


def lock_path(output: str | Path) -> Path:
    output = Path(output)
    return output.with_name(f".{output.name}.lock")


def lock_run(output: str | Path, wait_s: float = WAIT_S) -> None:
    """Take the lock of the run that makes `output`; if another process keeps it, name that."""
    path = lock_path(output)
    end = time.monotonic() + wait_s
    waiting = False
    while (file := _locked(path)) is None:
        holder = _holder(path)
        if time.monotonic() >= end:
            raise UserError(
                f"{output} is being made by {holder}, which an earlier start of the workflow left "
                "behind, or another one runs. Wait until that process ends, or end it (`kill` lets "
                "a training save its epoch first), and run the same command again."
            )
        if not waiting:
            log.info("%s is being made by %s: waiting for its end", output, holder)
            waiting = True
        time.sleep(PAUSE_S)
    _held[path] = file
    atexit.register(release, output)


def _holder(path: Path) -> str:
    """Who has the lock; its owner may just be writing or removing the file."""
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8") or "another process"
    return "another process"


def release(output: str | Path) -> None:
    """Give a lock back, and leave no file behind."""
    path = lock_path(output)
    if file := _held.pop(path, None):
        path.unlink(missing_ok=True)
        file.close()


def _locked(path: Path) -> IO | None:
    """The lock's open file, with this process named in it; None if another process has the lock."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+")
    except OSError as error:
        explain_full_disk(error, path)
        raise _unwritable(path.parent, error.strerror) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        log.warning("%s: this file system has no locks; see that no other job runs here", path)
        return file
    if not _is_at(file, path):  # its last owner removed it between our two calls
        file.close()
        return _locked(path)
    try:
        file.truncate(0)
        file.write(f"process {os.getpid()} on {platform.node()}")
        file.flush()
    except OSError as error:
        explain_full_disk(error, path)
        raise
    return file


def refuse_unwritable(paths: Iterable[str | Path]) -> None:
    """Name the first folder of these files that exists and takes no file."""
    for folder in dict.fromkeys(Path(path).parent for path in paths):
        if folder.is_dir() and not os.access(folder, os.W_OK):
            raise _unwritable(folder, "it is read-only")


def _unwritable(folder: Path, why: str) -> UserError:
    return UserError(
        f"Nothing can be written to {folder} ({why}). Make the folder writable, or set `results` "
        "in the config to another one, and run the same command again."
    )


def _is_at(file: IO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
