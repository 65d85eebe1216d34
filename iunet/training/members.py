"""The members of an ensemble as artifacts; of pruned layers only what is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from iunet.artifacts import read_arrays, write_arrays
from iunet.method.masks import compress_weights, expand_weights
from iunet.networks.network import state_tensors


def on(device: torch.device, masks: dict[str, np.ndarray]) -> dict[str, Tensor]:
    """Boolean masks as 0 and 1 on a device."""
    return {name: torch.from_numpy(m).to(device, torch.float32) for name, m in masks.items()}


def keep_members(network: nn.Module, epochs: list[int]) -> Callable[[int], dict[str, Tensor]]:
    """A training's `keep`: the state after each of these epochs is a member of the ensemble."""

    def keep(epoch: int) -> dict[str, Tensor]:
        if epoch + 1 not in epochs:
            return {}
        member = epochs.index(epoch + 1)
        return {f"{member}/{name}": t.clone() for name, t in state_tensors(network).items()}

    return keep


def split_members(tensors: dict[str, Any]) -> list[dict[str, Any]]:
    """Tensors named `<member>/<name>` as one dictionary per member of the ensemble."""
    members: dict[int, dict[str, Any]] = {}
    for key, tensor in tensors.items():
        member, name = key.split("/", 1)
        members.setdefault(int(member), {})[name] = tensor
    return [members[i] for i in sorted(members)]


def write_members(
    path: str | Path, members: list[dict[str, Tensor]], masks: dict[str, np.ndarray]
) -> None:
    """The ensemble's weights, of pruned layers only what is kept."""
    arrays = {}
    for i, member in enumerate(members):
        state = {name: tensor.cpu().numpy() for name, tensor in member.items()}
        compressed = compress_weights(state, masks)
        arrays |= {f"{i}/{name}": array for name, array in compressed.items()}
    write_arrays(path, arrays)


def read_members(
    path: str | Path, masks: dict[str, np.ndarray], device: torch.device
) -> list[dict[str, Tensor]]:
    """The members of a fine-tuned ensemble, with the pruned weights back as zeros."""
    members = [expand_weights(member, masks) for member in split_members(read_arrays(path))]
    return [{k: torch.from_numpy(a).to(device) for k, a in member.items()} for member in members]
