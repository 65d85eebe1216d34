"""Device and threads of jobs, decided without importing torch (Snakemake asks at every start)."""

from __future__ import annotations

import functools
import importlib.metadata
import json
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

NVIDIA_GPUS = "/proc/driver/nvidia/gpus"  # the driver's list; IUNET_GPU_LIST names another folder
WSL = "/dev/dxg"  # the GPU of Windows as WSL2 shows it, where the driver has no list
WSL_TOOLS = "/usr/lib/wsl/lib"
DEVICES = ("auto", "cpu", "cuda")


# ---- which GPUs there are


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
    return list(takewhile(re.compile(r"\d+$|GPU-|MIG-").match, entries))[:present]


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


# ---- whether they can be used

# What torch can do is known when it is used, and `device: auto` must know before: a process of its
# own multiplies two matrices, once. The jobs of this machine get its answer from the environment.
ANSWER = "IUNET_TORCH_GPU"  # "<host>|<why not>", empty if it can
PROBE = """
import torch
assert torch.version.cuda, f"torch {torch.__version__} is a build without CUDA"
assert torch.cuda.is_available(), "torch.cuda.is_available() is False: is the driver too old?"
ones = torch.ones(8, 8, device="cuda")
assert (ones @ ones).sum().item() == 512, "a matrix product on the GPU is wrong"
"""


def why_torch_cannot() -> str:
    """Why torch cannot use a GPU of this machine; empty if it can."""
    host, _, reason = os.environ.get(ANSWER, "").partition("|")
    if host != platform.node():
        reason = _probe()
        os.environ[ANSWER] = f"{platform.node()}|{reason}"
    return reason


def _probe() -> str:
    """The last line of what torch says when it is asked to compute on the GPU."""
    answer = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True)
    lines = answer.stderr.strip().splitlines() or [f"the test ended with {answer.returncode}"]
    return "" if answer.returncode == 0 else lines[-1][:300]


def unusable_gpu_warning(config: dict[str, Any]) -> str | None:
    """Why `auto` leaves a GPU of this machine alone; None if it does not."""
    asks = "auto" in (config["device"], *config["devices"].values())
    if not asks or not gpu_ids() or not (reason := why_torch_cannot()):
        return None
    return (
        f"This machine has {len(gpu_ids())} NVIDIA GPU(s), but torch cannot use them ({reason}), "
        "so 'device: auto' trains on the CPU. docs/cluster.md says how to install another build "
        "of torch; 'device: cpu' takes this warning away."
    )


def check_xgboost_gpu() -> None:
    """Refuse an XGBoost that trains on the CPU where it was asked for CUDA, as it does silently."""
    import numpy as np
    import xgboost

    rows = xgboost.DMatrix(np.array([[0.0], [1.0]]), np.array([0.0, 1.0]))
    asked = {"device": "cuda", "tree_method": "hist", "verbosity": 0}
    try:
        config = xgboost.train(asked, rows, 1).save_config()
        used = json.loads(config)["learner"]["generic_param"]["device"]  # `cuda:0`, or `cpu`
    except xgboost.core.XGBoostError:  # a build without CUDA
        used = "cpu"
    if not used.startswith("cuda"):
        raise UserError(
            f"The config key 'devices.xgb' is cuda, but XGBoost uses the {used} here: it was built "
            "without CUDA, or finds no GPU. Set the key to cpu."
        )


# ---- what a job gets


def resolve_device(wanted: str) -> str:
    """`auto` becomes cuda where there is a GPU that torch can use, else cpu; cpu and cuda stay."""
    if wanted == "auto":
        return "cuda" if gpu_ids() and not why_torch_cannot() else "cpu"
    if wanted not in DEVICES:
        raise UserError(f"The config key 'device' is '{wanted}', not one of {', '.join(DEVICES)}.")
    return wanted


def device_of(config: dict[str, Any], name: str) -> str:
    """The device of a network or tuned learner: its own of `devices`, or the config's `device`."""
    return resolve_device(config["devices"].get(name, config["device"]))


def device_of_job(config: dict[str, Any], name: str) -> str:
    """The same, in the job itself: cuda without a GPU is an error."""
    device = device_of(config, name)
    if device == "cuda" and not gpu_ids():
        key = f"devices.{name}" if name in config["devices"] else "device"
        raise UserError(
            f"The config key '{key}' is 'cuda', but this machine has no NVIDIA GPU that it may "
            "use (none in /proc/driver/nvidia/gpus, or CUDA_VISIBLE_DEVICES hides them). Set it "
            "to auto or cpu, or send the jobs to machines that have one (--profile profiles/slurm)."
        )
    return device


def check_threads(key: str, wanted: int, granted: int) -> None:
    """Fewer than asked for is an error: torch's sums would be others, and a study slower."""
    if granted < wanted:
        raise UserError(
            f"The config key '{key}' is {wanted}, but this job was given {granted}: call snakemake "
            f"with --cores {wanted} or more (the slurm profile has a line 'cores'), or lower the "
            "key."
        )


def describe_machine(device: str, threads: int, *packages: str) -> dict[str, Any]:
    """Versions and hardware, for the report of a run."""
    versions = {name: importlib.metadata.version(name) for name in packages}
    return {
        "device": platform.machine(),
        "device_type": device,
        "threads": threads,
        "versions": {"iunet": __version__, "python": platform.python_version(), **versions},
        "platform": sys.platform,
    }
