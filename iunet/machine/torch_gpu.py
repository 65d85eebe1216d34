"""Whether the torch that is installed can use the GPU that is listed.

A build for the CPU, a driver that is too old, a card that is too old: torch finds out when it is
used, and `device: auto` must know before. torch's version file answers for a CPU build; for the
rest a process of its own multiplies two matrices, once: its answer is handed on to the jobs of this
machine by an environment variable.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ANSWER = "IUNET_TORCH_GPU"  # "<host>|<why not>", empty if it can
PROBE = """
import torch
assert torch.cuda.is_available(), "torch.cuda.is_available() is False: is the driver too old?"
ones = torch.ones(8, 8, device="cuda")
assert (ones @ ones).sum().item() == 512, "a matrix product on the GPU is wrong"
"""


def why_torch_cannot() -> str:
    """Why torch cannot use a GPU of this machine; empty if it can."""
    host, _, reason = os.environ.get(ANSWER, "").partition("|")
    if host != platform.node():
        reason = cuda_missing() or _probe(os.environ.get("CUDA_VISIBLE_DEVICES"))
        os.environ[ANSWER] = f"{platform.node()}|{reason}"
    return reason


def cuda_missing() -> str:
    """That torch is missing or was built for the CPU alone, by its version file; else empty."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return "torch is not installed"
    text = Path(found.origin).with_name("version.py").read_text(encoding="utf-8")
    version = re.search(r"__version__ = '([^']*)'", text)
    built = re.search(r"^cuda[^=]*= '", text, re.MULTILINE)
    return "" if built else f"torch {version[1] if version else ''} is a build without CUDA"


@functools.cache
def _probe(visible: str | None) -> str:
    """The last line of what torch says when it is asked to compute on the GPU."""
    answer = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True)
    lines = answer.stderr.strip().splitlines() or [f"the test ended with {answer.returncode}"]
    return "" if answer.returncode == 0 else lines[-1][:300]
