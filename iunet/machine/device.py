"""Which device training uses, decided without importing torch (Snakemake asks at every start)."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from typing import Any

from iunet import __version__
from iunet.errors import UserError

NVIDIA_GPUS = "/proc/driver/nvidia/gpus"  # the driver's list; IUNET_GPU_LIST names another folder


def gpu_ids() -> list[str]:
    """The NVIDIA GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them.

    In a Slurm job only those that Slurm gave it: the driver lists all of the machine.
    """
    folder = Path(os.environ.get("IUNET_GPU_LIST", NVIDIA_GPUS))
    present = len(list(folder.iterdir())) if folder.is_dir() else 0
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        allowed = "" if "SLURM_JOB_ID" in os.environ else ",".join(map(str, range(present)))
    return [device.strip() for device in allowed.split(",") if device.strip()][:present]


def visible_gpus() -> int:
    return len(gpu_ids())


def resolve_device(wanted: str) -> str:
    """`auto` becomes cuda where there is a GPU, else cpu; cpu and cuda stay."""
    if wanted == "auto":
        return "cuda" if visible_gpus() else "cpu"
    if wanted not in ("cpu", "cuda"):
        raise UserError(f"The config key 'device' is '{wanted}', not one of auto, cpu, cuda.")
    return wanted


def gpus_per_training_job(wanted: str) -> int:
    """What a training job asks for as its `gpu` resource.

    0 on a CPU, so that jobs run side by side; with a GPU 1, so that `--resources gpu=N` counts.
    """
    return int(resolve_device(wanted) == "cuda")


def describe_machine(device: str, threads: int, *packages: str) -> dict[str, Any]:
    """Versions and hardware, for the report of a run that may not have torch."""
    versions = {name: importlib.metadata.version(name) for name in packages}
    return {
        "device": platform.machine(),
        "device_type": device,
        "threads": threads,
        "versions": {"iunet": __version__, "python": platform.python_version(), **versions},
        "platform": sys.platform,
    }
