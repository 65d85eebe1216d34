"""Which device training uses, decided without importing torch (Snakemake asks at every start)."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from typing import Any

from iunet import __version__
from iunet.errors import UserError
from iunet.machine.torch_gpu import why_torch_cannot

NVIDIA_GPUS = "/proc/driver/nvidia/gpus"  # the driver's list; IUNET_GPU_LIST names another folder
WSL = "/dev/dxg"  # the GPU of Windows as WSL2 shows it, where the driver has no list
WSL_TOOLS = "/usr/lib/wsl/lib"
DEVICES = ("auto", "cpu", "cuda")


def gpu_ids() -> list[str]:
    """The NVIDIA GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them.

    In a Slurm job only those that Slurm gave it: the driver lists all of the machine. As in CUDA
    itself the list ends before the first entry that names no GPU: `-1`, or Slurm's `NoDevFiles`.
    """
    present = _gpus_present()
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        allowed = "" if "SLURM_JOB_ID" in os.environ else ",".join(map(str, range(present)))
    entries = (entry.strip() for entry in allowed.split(","))
    return list(takewhile(_names_a_gpu, entries))[:present]


def _names_a_gpu(entry: str) -> bool:
    return entry.isdigit() or entry.startswith(("GPU-", "MIG-"))


def _gpus_present() -> int:
    folder = Path(os.environ.get("IUNET_GPU_LIST", NVIDIA_GPUS))
    if folder.is_dir():
        return len(list(folder.iterdir()))
    return _gpus_of_wsl() if Path(WSL).exists() else 0


@functools.cache
def _gpus_of_wsl() -> int:
    tool = shutil.which("nvidia-smi", path=f"{os.environ.get('PATH', '')}:{WSL_TOOLS}")
    if tool is None:
        return 0
    answer = subprocess.run([tool, "-L"], capture_output=True, text=True)
    return len(re.findall(r"^GPU \d+:", answer.stdout, re.MULTILINE))


def visible_gpus() -> int:
    return len(gpu_ids())


def resolve_device(wanted: str) -> str:
    """`auto` becomes cuda where there is a GPU that torch can use, else cpu; cpu and cuda stay."""
    if wanted == "auto":
        return "cuda" if visible_gpus() and not why_torch_cannot() else "cpu"
    if wanted not in DEVICES:
        raise UserError(f"The config key 'device' is '{wanted}', not one of {', '.join(DEVICES)}.")
    return wanted


def device_of(config: dict[str, Any], name: str) -> str:
    """The device of a network or tuned learner: its own of `devices`, or the config's `device`."""
    return resolve_device(config["devices"].get(name, config["device"]))


def no_gpu_message(config: dict[str, Any], name: str) -> str:
    key = f"devices.{name}" if name in config["devices"] else "device"
    return (
        f"The config key '{key}' is 'cuda', but this machine has no NVIDIA GPU that it may "
        "use (none in /proc/driver/nvidia/gpus, or CUDA_VISIBLE_DEVICES hides them). Set it to "
        f"auto or cpu, or send the jobs to machines that have one (--profile profiles/slurm)."
    )


def unusable_gpu_warning(config: dict[str, Any]) -> str | None:
    """Why `auto` leaves a GPU of this machine alone; None if it does not."""
    asks = "auto" in (config["device"], *config["devices"].values())
    if not asks or not visible_gpus() or not (reason := why_torch_cannot()):
        return None
    return (
        f"This machine has {visible_gpus()} NVIDIA GPU(s), but torch cannot use them ({reason}), "
        "so 'device: auto' trains on the CPU. docs/cluster.md says how to install another build "
        "of torch; 'device: cpu' takes this warning away."
    )


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
