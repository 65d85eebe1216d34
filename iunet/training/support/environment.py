"""The device and the threads of a job, and what a report says of both."""

from __future__ import annotations

import contextlib
import ctypes
import platform
from typing import Any

import torch

from iunet.machine.compiler import leave_out_compiler
from iunet.machine.cpu import cpu_name, fastest_products, set_products
from iunet.machine.device import check_threads, describe_machine, resolve_device, try_gpu

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # of glibc's malloc.h


def set_up_torch(
    device: str, threads: int, granted_threads: int, tf32: bool = False
) -> torch.device:
    """Fix the number of threads, so that float sums come out the same everywhere.

    `granted_threads` is what the scheduler gave; fewer than asked for is an error, since the result
    would be another, and more would slow the other jobs down by an order of magnitude.
    """
    check_threads("train.threads", threads, granted_threads)
    torch.set_num_threads(threads)
    keep_freed_memory()
    leave_out_compiler()
    set_products(fastest_products())
    torch.set_flush_denormal(True)  # tiny weights would make every product many times slower
    # Kernels that give the same sums every time, at a small cost on CUDA.
    torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = True, False
    # One setting for both: by default torch has it off for the one and on for the other.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    resolved = resolve_device(device)
    if resolved == "cuda":
        try_gpu()
    return torch.device(resolved)


def keep_freed_memory() -> None:
    """Tell glibc to keep what is freed, instead of returning it to the system after every step.

    The gradients of a large network are freed and needed again at each step. By default each of
    them is mapped anew, and the kernel clears it page by page: a fifth of the step of `mlp_vis`.
    """
    with contextlib.suppress(OSError, AttributeError):  # not glibc: nothing to tune
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(M_MMAP_MAX, 0)
        libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def describe_environment(device: torch.device) -> dict[str, Any]:
    """Versions and hardware, for a run's report."""
    on_cuda = device.type == "cuda"
    return describe_machine(device.type, torch.get_num_threads(), "torch") | {
        "device": torch.cuda.get_device_name(device) if on_cuda else platform.machine(),
        "cpu": cpu_name(),
        "tf32": on_cuda and torch.backends.cudnn.allow_tf32,
    }
