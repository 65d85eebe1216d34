"""How fast a machine is, for the estimates of iunet/machine/resources.py.

The CPU's constants are measured (an AMD EPYC, one thread, torch 2.13). **The GPU's are
assumptions**, of a card with about 20 TFLOPS in float32: none was at hand. Standard library only,
since Snakemake asks at every start.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Speed:
    """Of one kind of device; with a CPU per thread."""

    start_s: float  # imports, reading, writing
    launch_s: float  # of one kernel, however small
    linear: float  # FLOP per second
    conv: float
    unit_s: float  # per hidden unit and sample, forward: BatchNorm, ReLU
    augment_s: float  # per image
    tree_s: float  # XGBoost: per tree, input and row
    base_mb: float  # of the process on the host, before data


SPEEDS = {
    "cpu": Speed(5, 10e-6, 60e9, 25e9, 3e-9, 140e-6, 1.2e-8, 400),
    "cuda": Speed(10, 8e-6, 10e12, 6e12, 2e-11, 2e-6, 1e-9, 3000),  # assumed
}
