"""Training checkpoints: weights, optimiser, random generators, epoch, history; in one file.

The file is replaced atomically and lies beside the stage's outputs without being one of them, since
Snakemake deletes the outputs of a job that was cut off. It holds the identity of its run: a
checkpoint of another run, or a damaged one, is refused by name, and training starts afresh.
"""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from iunet.artifacts import atomic_path
from iunet.errors import one_line

log = logging.getLogger(__name__)


class Checkpoint:
    """The checkpoint of one run, at one path."""

    def __init__(self, path: str | Path, identity: dict[str, Any]):
        self.path = Path(path)
        self.identity = json.loads(json.dumps(identity))  # as it comes back from the file

    def save(self, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
        header = {"checkpoint": json.dumps({"identity": self.identity, "facts": facts})}
        with atomic_path(self.path) as temporary:
            save_file({k: t.contiguous() for k, t in tensors.items()}, temporary, metadata=header)

    def load(self, device: torch.device) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Tensors and facts, or None if there is no checkpoint of this run."""
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt", device=str(device)) as file:
                content = json.loads(file.metadata()["checkpoint"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            log.warning(
                "checkpoint %s is damaged (%s): starting afresh", self.path, one_line(error)
            )
            return None
        if different := _differences(content.get("identity", {}), self.identity):
            log.warning(
                "checkpoint %s is of another run (%s differ): starting afresh",
                self.path,
                ", ".join(different),
            )
            return None
        return tensors, content["facts"]

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        shutil.rmtree(self.path.with_name(f".{self.path.name}.tmp"), ignore_errors=True)


def _differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return sorted(key for key in {*one, *other} if one.get(key) != other.get(key))


# ---- optimisers as tensors


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's state by the place of each parameter; every entry must be a tensor."""
    tensors = {}
    for place, entry in optimiser.state_dict()["state"].items():
        for name, value in entry.items():
            if value is not None:
                tensors[f"optimiser/{place}/{name}"] = torch.as_tensor(value)
    return tensors


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        if key.startswith("optimiser/"):
            _, place, name = key.split("/")
            state.setdefault(int(place), {})[name] = tensor
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": state, "param_groups": groups})
