"""What a scheduler gave this process: cores, memory, and whether the workflow was sent to it.

Standard library only: the Makefile asks before anything is installed.
"""

from __future__ import annotations

import os

SENT = "IUNET_SENT_TO_SCHEDULER"  # set by workflow/rules/machine.smk, in jobs that were sent away
RESTARTS = "IUNET_RESTARTS"


def mark_as_sent() -> None:
    """In a job that Snakemake gave to a scheduler, for the processes that it starts.

    Snakemake's plugin for Slurm hides from them how often the job was put back into the queue.
    """
    os.environ[SENT] = "1"
    if "SLURM_RESTART_COUNT" in os.environ:
        os.environ[RESTARTS] = os.environ["SLURM_RESTART_COUNT"]


def was_sent() -> bool:
    """True in a job that Snakemake gave to a scheduler; False in an allocation of the user's."""
    return SENT in os.environ


def cores() -> int:
    """Of the Slurm job that this process runs in, else those that it may use of the machine."""
    for name in ("SLURM_CPUS_ON_NODE", "SLURM_CPUS_PER_TASK"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_mb() -> int:
    """Of the Slurm job that this process runs in, else the machine's. (Slurm's 0 means all.)"""
    given = (
        _number("SLURM_MEM_PER_NODE"),
        _number("SLURM_MEM_PER_CPU") * cores(),
        _number("SLURM_MEM_PER_GPU") * _number("SLURM_GPUS_ON_NODE"),
    )
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    return next(filter(None, given), machine)


def _number(name: str) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else 0


def in_slurm_job() -> bool:
    return "SLURM_JOB_ID" in os.environ


def restarts() -> int:
    """How often Slurm has put the job that this process belongs to back into the queue."""
    return _number(RESTARTS)


if __name__ == "__main__":
    print(cores())
