"""The CPU: its name, and who multiplies matrices on it.

torch has two libraries for products, MKL and oneDNN, and asks MKL. On AMD's CPUs MKL uses half of
their width, and a training step takes twice as long as with oneDNN (docs/runs.md, "Speed"). torch
asks oneDNN only if inputs may be rounded to bfloat16. Many CPUs have no units for that, and there
oneDNN multiplies in float32 all the same. We allow it where a trial shows that nothing is rounded.
"""

from __future__ import annotations

import contextlib
import platform
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

ONEDNN, EXACT = "bf16", "ieee"  # torch's names for the permission to round, and for none
# Rows, inputs and outputs of products as they are in training, for the trial.
SHAPES = ((128, 3072, 512), (128, 512, 512), (512, 128, 512), (128, 512, 10))
# Of products of random normal numbers: float32 errs by less than 1e-3, bfloat16 by more than 1e-2.
LARGEST_ERROR = 3e-3


def cpu_name() -> str:
    """What decides about the last bits of float sums: the CPU's model, and torch's libraries."""
    facts = cpu_facts()
    numbers = "/".join(facts[key] for key in ("cpu family", "model") if key in facts)
    parts = [facts.get("model name") or platform.processor() or platform.machine()]
    parts += [f"model {numbers}"] if numbers else []
    parts += [torch.backends.cpu.get_cpu_capability()]
    parts += ["oneDNN"] if products() == ONEDNN else []
    return ", ".join(parts)


@cache
def cpu_facts() -> dict[str, str]:
    facts = {}
    with contextlib.suppress(OSError):  # Linux only
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            facts.setdefault(key.strip(), value.strip())
    return facts


def products() -> str | None:
    """torch's setting for products in this process; None where it has none (before 2.9)."""
    matmul = getattr(torch.backends.mkldnn, "matmul", None)
    return getattr(matmul, "fp32_precision", None)


def set_products(value: str | None) -> None:
    if value is not None:
        torch.backends.mkldnn.matmul.fp32_precision = value


@cache
def fastest_products() -> str | None:
    """The setting for this CPU: always the same, since the last bits depend on it."""
    before = products()
    if before is None or cpu_facts().get("vendor_id", "GenuineIntel") == "GenuineIntel":
        return before and EXACT
    set_products(EXACT)
    by_mkl = trial()
    set_products(ONEDNN)
    by_onednn = trial()
    set_products(before)
    pairs = list(zip(by_mkl, by_onednn, strict=True))
    if all(torch.equal(a, b) for a, b in pairs):
        return EXACT  # the CPU is too old for torch to ask oneDNN
    exact = all(float((a - b).abs().max()) < LARGEST_ERROR for a, b in pairs)
    return ONEDNN if exact else EXACT


def trial() -> list[Tensor]:
    """Products of training: for each shape forward, and the gradients of input and weight."""
    generator = torch.Generator().manual_seed(0)
    found = []
    for rows, inputs, outputs in SHAPES:
        x, weight, dy = (
            torch.randn(shape, generator=generator, dtype=torch.float32)
            for shape in ((rows, inputs), (outputs, inputs), (rows, outputs))
        )
        found += [x @ weight.T, dy @ weight, dy.T @ x]
    return found
