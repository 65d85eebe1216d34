"""A GPU for each job on a machine that has several, by lock files.

Snakemake's `gpu` resource only counts: on two GPUs it lets two jobs run at once, but both would use
the first GPU. So a job locks a free GPU, hides the others from itself (CUDA_VISIBLE_DEVICES), and
keeps the lock until its process ends, however it ends. With `jobs_per_gpu`, a GPU has several
locks, and jobs spread evenly: one on each GPU before any has two.

If only one GPU is visible, there is nothing to choose. This is so in a job of Slurm or a pod of
Kubernetes, which got its GPU from the scheduler. CUDA reads the variable at its first use, and not
when torch is imported.
"""

from __future__ import annotations

import itertools
import logging
import os
import platform
import stat
import time
from pathlib import Path

from filelock import FileLock, Timeout

from iunet.errors import UserError, one_line
from iunet.machine.device import gpu_ids

log = logging.getLogger(__name__)
PAUSE_S = 1.0
_held: list[FileLock] = []  # for the life of the process: a lock that is collected is freed


def claim_gpu(per_gpu: int = 1, wait_s: float = 600.0) -> str | None:
    """Take one of `per_gpu` places on a GPU and hide the other GPUs; None if there is only one.

    Waits while all places are taken, since another workflow of the same user may use them; after
    `wait_s` that is an error.
    """
    ids = gpu_ids()
    if len(ids) < 2:
        return None
    folder = lock_folder()
    end = time.monotonic() + wait_s
    waiting = False
    while True:
        for slot, gpu in itertools.product(range(per_gpu), ids):
            if _lock(folder / f"{_numbering()}-{gpu.replace('/', '_')}-{slot}.lock"):
                os.environ["CUDA_VISIBLE_DEVICES"] = gpu
                log.info("this job has GPU %s of %s, place %d", gpu, ", ".join(ids), slot + 1)
                return gpu
        if time.monotonic() >= end:
            raise UserError(
                f"All {len(ids)} GPUs ({', '.join(ids)}) have been busy for {wait_s:.0f} s, with "
                f"{per_gpu} job(s) on each. Run one workflow at a time, or raise the config key "
                f"'jobs_per_gpu' (lock files: {folder})."
            )
        if not waiting:
            log.info("all GPUs are in use: waiting for one")
            waiting = True
        time.sleep(PAUSE_S)


def lock_folder() -> Path:
    """A folder in the user's runtime or cache folder, where nobody else can put files or links."""
    own = os.environ.get("XDG_RUNTIME_DIR") or os.environ.get("XDG_CACHE_HOME")
    folder = Path(own or Path.home() / ".cache") / "iunet-gpus"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise UserError(
            f"The folder {folder}, where jobs lock GPUs, cannot be created ({one_line(error)}). "
            "Set XDG_RUNTIME_DIR to a folder of yours."
        ) from error
    others_may_write = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or others_may_write:
        raise UserError(
            f"The folder {folder}, where jobs lock GPUs, is a link, or another user owns it or may "
            "write to it. Remove it, or set XDG_RUNTIME_DIR to a folder of yours."
        )
    return folder


def _numbering() -> str:
    """Where GPU numbers are unique: the machine, or a Slurm allocation, which counts from 0."""
    return f"{platform.node()}-{os.environ.get('SLURM_JOB_ID', 'all')}"


def _lock(path: Path) -> bool:
    lock = FileLock(path, timeout=0, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        return False
    _held.append(lock)
    return True
