"""The lock of a run: only one process at a time may make it.

If Snakemake is killed, its jobs live on, and the next Snakemake starts the same job in the same
folder: two trainings would write one checkpoint. So a job locks a file next to its first output and
keeps the lock until its process ends.

The lock is the kernel's (flock, by `filelock`), so a killed process loses it, although its file
remains. On NFS, Linux passes the lock on to the server, and jobs on other nodes see it. On a file
system without locks, the job warns and runs without one: filelock's fallback, a lock that consists
in the existence of its file, would outlive a killed job.
"""

from __future__ import annotations

import atexit
import errno
import logging
import os
import platform
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from iunet.artifacts import explain_full_disk
from iunet.errors import UserError

log = logging.getLogger(__name__)
WAIT_S = 60.0  # long enough for a process that is about to end, not for a training
PAUSE_S = 0.5
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}


def lock_path(output: str | Path) -> Path:
    output = Path(output)
    return output.with_name(f".{output.name}.lock")


def lock_run(output: str | Path, wait_s: float = WAIT_S) -> Callable[[], None]:
    """Lock the run that makes `output`, or name the process that has locked it.

    Returns the function that unlocks it, which is also called when the process ends.
    """
    path = lock_path(output)
    lock = FileLock(path, thread_local=False, fallback_to_soft=False, on_acquired=_write_holder)

    def release() -> None:
        path.unlink(missing_ok=True)  # before the release; filelock notices if it waited for it
        lock.release()

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=wait_s, poll_interval=PAUSE_S)
    except Timeout:
        raise UserError(
            f"{output} is being made by {_holder(path)}, which belongs to another workflow or was "
            "left by an earlier one. Wait until that process ends, or stop it (after `kill`, a "
            "training saves its epoch first), and run the same command again."
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            explain_full_disk(error, path)
            raise _unwritable(path.parent, error.strerror) from error
        log.warning(
            "%s: this file system has no locks; make sure that no other workflow makes this run",
            path,
        )
    atexit.register(release)
    return release


def _write_holder(file: int) -> None:
    """Write this process into its lock file, so that others can name it in their error."""
    os.ftruncate(file, 0)
    os.write(file, f"process {os.getpid()} on {platform.node()}".encode())


def _holder(path: Path) -> str:
    """The process that has the lock; unknown while it writes or removes the file."""
    try:
        return path.read_text(encoding="utf-8") or "another process"
    except OSError:
        return "another process"


def refuse_unwritable(folder: str | Path) -> None:
    """Refuse a folder that cannot be made or written to."""
    place = next(path for path in (Path(folder), *Path(folder).parents) if path.exists())
    if not os.access(place, os.W_OK):
        raise _unwritable(folder, f"{place} is read-only")


def _unwritable(folder: str | Path, why: str | None) -> UserError:
    return UserError(
        f"Nothing can be written to {folder} ({why}). Make the folder writable, or set `results` "
        "in the config to another one, and run the same command again."
    )
