"""Torch's settings, borrowed for one call and given back as they were."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import torch

from iunet.errors import DataError
from iunet.machine.device import resolve_device
from iunet.training.support import progress

# Threads and random numbers are settings of the whole process: calls in several threads take turns.
ONE_AT_A_TIME = threading.RLock()


@contextlib.contextmanager
def borrowed_torch(device: str, n_threads: int, show_progress: bool = False) -> Iterator:
    """The device to compute on; inside, torch is set as a job of the workflow sets it.

    The number of threads is fixed, since float sums change with it, and denormal numbers count as
    zero. Tensors are float32 with gradients, whatever the caller has set around the call.
    Afterwards threads, random state and flags are what they were.
    """
    with ONE_AT_A_TIME, contextlib.ExitStack() as afterwards:
        chosen = _device(device)
        threads, cudnn = torch.get_num_threads(), torch.backends.cudnn
        afterwards.callback(torch.set_num_threads, threads)
        afterwards.callback(torch.set_default_dtype, torch.get_default_dtype())
        afterwards.enter_context(torch.inference_mode(False))
        afterwards.enter_context(torch.enable_grad())
        afterwards.enter_context(torch.autocast(chosen.type, enabled=False))
        afterwards.callback(torch.set_flush_denormal, denormals_are_zero())
        afterwards.callback(_set_cudnn, cudnn.deterministic, cudnn.benchmark)
        afterwards.callback(setattr, progress, "show_progress_bar", progress.show_progress_bar)
        gpus = range(torch.cuda.device_count()) if chosen.type == "cuda" else ()
        afterwards.enter_context(torch.random.fork_rng(gpus))
        torch.set_num_threads(n_threads)
        torch.set_default_dtype(torch.float32)
        torch.set_flush_denormal(True)
        _set_cudnn(True, False)
        progress.show_progress_bar = show_progress
        yield chosen


def denormals_are_zero() -> bool:
    """Torch has no question for what `set_flush_denormal` sets, in this thread."""
    smallest = torch.full((1,), torch.finfo(torch.float32).tiny)
    return (smallest * 0.5).item() == 0.0


def _set_cudnn(deterministic: bool, benchmark: bool) -> None:
    torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = deterministic, benchmark


def _device(wanted: str) -> torch.device:
    if wanted not in ("auto", "cpu", "cuda"):
        raise DataError(f"The parameter 'device' is {wanted!r}, not one of auto, cpu, cuda.")
    if wanted == "cuda" and not torch.cuda.is_available():
        raise DataError(
            f"The parameter 'device' asks for cuda, but torch {torch.__version__} sees no GPU here."
        )
    resolved = resolve_device(wanted)
    return torch.device(resolved if torch.cuda.is_available() else "cpu")
