"""Which library multiplies matrices on a CPU: oneDNN where it is faster and as exact, else MKL.

torch has both and asks MKL, whose kernels for AMD's CPUs use half of their width: a training step
takes twice as long as with oneDNN (`benchmarks/training_step.py`). torch asks oneDNN only if inputs
may be rounded to bfloat16. On CPUs without units for that, oneDNN multiplies in float32 all the
same, so we allow it where a trial shows that nothing is rounded.
"""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path

import torch

# Rows, inputs and outputs of products as they are in training, for the trial.
SHAPES = ((128, 3072, 512), (128, 512, 512), (512, 128, 512), (128, 512, 10))
# Products of random normal numbers: float32 errs by less than 1e-3, bfloat16 by more than 1e-2.
LARGEST_ERROR = 3e-3


def library() -> str:
    return "oneDNN" if _setting() == "bf16" else "MKL"


def choose(name: str) -> None:
    """Let torch multiply by `name`, in this process."""
    if _setting() is not None:  # torch before 2.9 has MKL only
        torch.backends.mkldnn.matmul.fp32_precision = "bf16" if name == "oneDNN" else "ieee"


@cache
def fastest() -> str:
    """The library for this CPU. The answer depends on the CPU alone, as the last bits do."""
    if _made_by_intel() or _setting() is None:
        return "MKL"
    before = library()
    choose("oneDNN")
    exact = all(_error(*shape) < LARGEST_ERROR for shape in SHAPES)
    choose(before)
    return "oneDNN" if exact else "MKL"


def _setting() -> str | None:
    matmul = getattr(torch.backends.mkldnn, "matmul", None)
    return getattr(matmul, "fp32_precision", None)


def _made_by_intel() -> bool:
    with contextlib.suppress(OSError):  # Linux only
        return "GenuineIntel" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return True


def _error(rows: int, inputs: int, outputs: int) -> float:
    """The largest error of a layer's three products: forward, and both gradients."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(rows, inputs, generator=generator)
    weight = torch.randn(outputs, inputs, generator=generator)
    dy = torch.randn(rows, outputs, generator=generator)
    products = (x, weight.T), (dy, weight), (dy.T, x)
    return max(float((a @ b - a.double() @ b.double()).abs().max()) for a, b in products)
