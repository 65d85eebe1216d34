"""Random numbers of a run: a generator of its own for each purpose."""

from __future__ import annotations

import hashlib

import torch
from torch import Generator


def stream(seed: int, name: str, device: torch.device) -> Generator:
    """A random generator of its own for each purpose, so that none depends on another's use."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return Generator(device).manual_seed(int.from_bytes(digest[:8], "big") >> 1)
