"""Device and threads of jobs, decided without importing torch (Snakemake asks at every start)."""

from __future__ import annotations

import contextlib
import functools
import gc
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
from iunet.errors import SetupError, UserError, one_line
from iunet.machine.time_limit import sent_by_scheduler

NVIDIA_GPUS = "/proc/driver/nvidia/gpus"  # the driver's list; IUNET_GPU_LIST names another folder
WSL = "/dev/dxg"  # the GPU of Windows as WSL2 shows it, where the driver has no list
WSL_TOOLS = "/usr/lib/wsl/lib"
MIG = "MIG-"  # a part of a card, by the name that CUDA gives it
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
    named = list(takewhile(re.compile(r"\d+$|GPU-|MIG-").match, entries))
    if present and named and named[0].startswith(MIG):
        return named  # several are on one card
    return named[:present]


def _gpus_present() -> int:
    if folder := os.environ.get("IUNET_GPU_LIST"):
        return len(list(Path(folder).iterdir())) if Path(folder).is_dir() else 0
    listed = len(list(Path(NVIDIA_GPUS).iterdir())) if Path(NVIDIA_GPUS).is_dir() else 0
    if not listed and not Path(WSL).exists():
        return 0
    # In a container the driver lists all GPUs of the host, and its tool those that may be used.
    found = _ask_driver("name")
    return listed if found is None else len(found)


def gpu_memory_mb() -> int | None:
    """The memory of the smallest GPU that this process may use; None if unknown."""
    ids = gpu_ids()
    if not ids or ids[0].startswith(MIG):  # of a part nvidia-smi gives the whole card's memory
        return None
    sizes = [int(size) for size in _ask_driver("memory.total") or [] if size.isdigit()]
    return min(sizes, default=None)


@functools.cache
def _ask_driver(fact: str) -> list[str] | None:
    """What nvidia-smi says of each GPU; None where it says nothing."""
    tool = shutil.which("nvidia-smi", path=f"{os.environ.get('PATH', '')}:{WSL_TOOLS}")
    if tool is None:
        return None
    command = [tool, f"--query-gpu={fact}", "--format=csv,noheader,nounits"]
    answer = subprocess.run(command, capture_output=True, text=True)
    return answer.stdout.split("\n")[:-1] if answer.returncode == 0 else None


# ---- whether they can be used

# `device: auto` must know whether torch can use the GPU before torch is imported: a separate
# process tries once. Jobs on the same machine read its answer from the environment.
ANSWER = "IUNET_TORCH_GPU"  # "<host>|<why not>", empty if it can
PROBE = Path(__file__).with_name("gpu_probe.py")


def why_torch_cannot() -> str:
    """Why torch cannot use a GPU of this machine; empty if it can."""
    host, _, reason = os.environ.get(ANSWER, "").partition("|")
    if host != platform.node():
        reason = _probe()
        os.environ[ANSWER] = f"{platform.node()}|{reason}"
    return reason


def _probe() -> str:
    """The last line of torch's error when it computes on the GPU; empty if there is none."""
    answer = subprocess.run([sys.executable, "-P", PROBE], capture_output=True, text=True)
    lines = answer.stderr.strip().splitlines() or [f"the test ended with {answer.returncode}"]
    return "" if answer.returncode == 0 else lines[-1][:300]


def unusable_gpu_warning(config: dict[str, Any]) -> str | None:
    """Why `device: auto` does not use a GPU of this machine; None if it does."""
    asks = "auto" in (config["device"], *config["devices"].values())
    if not asks or not gpu_ids() or not (reason := why_torch_cannot()):
        return None
    return (
        f"This machine has {len(gpu_ids())} NVIDIA GPU(s), but torch cannot use them ({reason}), "
        "so 'device: auto' trains on the CPU. docs/cluster.md says how to install another build "
        "of torch. To silence this warning, set 'device: cpu'."
    )


def places_warning(config: dict[str, Any], largest_mb: int) -> str | None:
    """What to change if the largest trainings do not fit on a GPU together; None if they do."""
    memory_mb, places = gpu_memory_mb() if largest_mb else None, config["jobs_per_gpu"]
    if memory_mb is None or places * largest_mb <= memory_mb:
        return None
    fit = memory_mb // largest_mb
    advice = f"Set it to {fit}." if fit else "Set another device for that network ('devices')."
    return (
        f"'jobs_per_gpu: {places}' may run out of GPU memory: the largest training needs an "
        f"estimated {largest_mb:,} MB, and the GPU has {memory_mb:,} MB. {advice}"
    )


def check_xgboost_gpu() -> None:
    """Refuse an XGBoost that would silently train on the CPU although the config says cuda."""
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
        raise SetupError(
            f"The config key 'devices.xgb' is cuda, but XGBoost runs on {used} here: it was built "
            "without CUDA or finds no GPU. Set the key to cpu."
        )


# ---- what a job gets


def resolve_device(wanted: str) -> str:
    """`auto` becomes cuda where there is a GPU that torch can use, else cpu; cpu and cuda stay."""
    if wanted == "auto":
        return "cuda" if gpu_ids() and not why_torch_cannot() else "cpu"
    return wanted


def device_of(config: dict[str, Any], name: str) -> str:
    """The device of a network or tuned learner: its own of `devices`, or the config's `device`."""
    return resolve_device(config["devices"].get(name, config["device"]))


def device_of_job(config: dict[str, Any], name: str) -> str:
    """The same within the job, where cuda without a GPU is an error."""
    device = device_of(config, name)
    key = f"devices.{name}" if name in config["devices"] else "device"
    asked = config["devices"].get(name, config["device"])
    if device == "cpu" and asked == "auto" and sent_by_scheduler():
        raise SetupError(
            f"The config key '{key}' is 'auto', but this job was sent to {platform.node()}, which "
            "has no GPU that torch can use. On a cluster, set the key to 'cuda' (each training "
            "then asks for a GPU) or to 'cpu'."
        )
    if device == "cuda" and not gpu_ids():
        raise SetupError(
            f"The config key '{key}' is 'cuda', but this job sees no NVIDIA GPU: there is none in "
            "/proc/driver/nvidia/gpus, or CUDA_VISIBLE_DEVICES hides them. Set the key to auto or "
            "cpu, or send the jobs to machines with a GPU (--profile profiles/slurm)."
        )
    return device


# ---- when a GPU fails

OUT_OF_MEMORY = re.compile(r"CUDA out of memory|CUBLAS_STATUS_ALLOC|cudaErrorMemoryAlloc")
GPU_FAILED = re.compile(r"CUDA (driver )?error|CUDA_ERROR|cudaError|cuDNN error|CUBLAS_|CUDNN_")


def device_failure(error: BaseException) -> str:
    """`memory` if a GPU ran out of it, `device` if it failed otherwise, empty for other errors."""
    if isinstance(error, UserError):
        return ""
    name, text = type(error).__name__, str(error)
    if name == "OutOfMemoryError" or OUT_OF_MEMORY.search(text):
        return "memory"
    return "device" if name == "AcceleratorError" or GPU_FAILED.search(text) else ""


def free_gpu_memory() -> None:
    """Free the GPU memory that torch still holds after earlier work in this process."""
    gc.collect()
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.empty_cache()


def explain_failure(error: BaseException, run: str, estimated_mb: int, per_gpu: int) -> str:
    """The error of a job on a GPU that failed."""
    said, card = one_line(error), ""
    with contextlib.suppress(Exception):  # after some errors CUDA answers nothing any more
        facts = sys.modules["torch"].cuda.get_device_properties(0)
        card = f" of the {facts.total_memory / 1e6:,.0f} MB of {facts.name}"
    if device_failure(error) == "memory":
        return (
            f"{run} ran out of GPU memory ({said}). It needs an estimated {estimated_mb:,} MB"
            f"{card}. Let fewer jobs share the GPU: lower 'jobs_per_gpu' (now {per_gpu}) or "
            "`--resources gpu=N`. Or stop other programs on it (`nvidia-smi` lists them), use a "
            "larger GPU, or move the network or learner to the CPU with the config key 'devices'."
        )
    return (
        f"{run} stopped because its GPU failed ({said}). This is not counted as a result. "
        "`nvidia-smi` and the system log may say more; docs/cluster.md lists builds of torch for "
        "older GPUs and drivers. The same command continues from the last checkpoint."
    )


def try_gpu() -> None:
    """Compute something on the GPU: the installed build of torch may not support the card."""
    import torch

    from iunet.machine.gpu_probe import compute

    try:
        compute()
    except (AssertionError, RuntimeError) as error:
        card, known = "no GPU", ""
        with contextlib.suppress(AssertionError, RuntimeError):
            major, minor = torch.cuda.get_device_capability()
            card = f"{torch.cuda.get_device_name()} (sm_{major}{minor})"
            known = f", built for {' '.join(torch.cuda.get_arch_list())}"
        kind = UserError if torch.version.cuda else SetupError  # other nodes have other cards
        raise kind(
            f"The config asks for cuda, but torch {torch.__version__} (CUDA {torch.version.cuda}"
            f"{known}) cannot compute on a GPU here: it sees {card} and says: {one_line(error)}. "
            "docs/cluster.md, 'Another build of torch', lists builds for older GPUs and drivers; "
            "'device: cpu' trains without a GPU."
        ) from error


def check_threads(key: str, wanted: int, granted: int) -> None:
    """Refuse fewer threads than asked for: sums would differ, and a study would be slower."""
    if granted < wanted:
        raise SetupError(
            f"The config key '{key}' is {wanted}, but this job was given {granted}. Run snakemake "
            f"with --cores {wanted} or more ('cores' in the slurm profile), or lower the key."
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
