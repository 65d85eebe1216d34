"""How fast a machine is, for the estimates of iunet/machine/resources.py.

The CPU's constants are measured (`make calibrate` on an AMD EPYC, one thread, torch 2.13). **The
GPU's are assumptions**, of a card with about 20 TFLOPS in float32: none was at hand. What
`make calibrate` measures on a machine lies in config/speeds.json and is used in place of both.
Standard library only, since Snakemake asks at every start.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from pathlib import Path

from iunet.errors import UserError

FILE = "config/speeds.json"  # IUNET_SPEEDS names another; empty: none


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


KNOWN = {
    "cpu": Speed(5, 10e-6, 60e9, 25e9, 3e-9, 140e-6, 1.2e-8, 400),
    "cuda": Speed(10, 8e-6, 10e12, 6e12, 2e-11, 2e-6, 1e-9, 3000),  # assumed
}


def speeds_file() -> Path | None:
    """Where this machine's own speeds are, if they were measured."""
    name = os.environ.get("IUNET_SPEEDS", FILE)
    return Path(name) if name and Path(name).is_file() else None


def read_speeds() -> dict[str, Speed]:
    path = speeds_file()
    if path is None:
        return KNOWN
    try:
        measured = json.loads(path.read_text(encoding="utf-8"))["speeds"]
        names = [field.name for field in fields(Speed)]
        found = {
            device: Speed(**{name: float(speed[name]) for name in names})
            for device, speed in measured.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{path} is not what `make calibrate` writes ({type(error).__name__}: {error}). Delete "
            "it, or call `make calibrate` again."
        ) from None
    return KNOWN | found


SPEEDS = read_speeds()
