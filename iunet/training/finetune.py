"""The fine-tune stage: a subnetwork mask ⊙ θ† trained with L_sup, its pruned weights staying zero.

Without a mask it trains the dense network by the same recipe. Vision: SGD with a constant rate.
Tabular: AdamW with cosine annealing and restarts, and a snapshot ensemble of the cycles' ends.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from iunet.artifacts import read_arrays, read_json, write_arrays, write_json
from iunet.data.load import load_part, make_inputs
from iunet.evaluation.metrics import classification_metrics
from iunet.networks import NetworkSpec, build_network, state_tensors
from iunet.objectives import supervised_loss
from iunet.pruning import compress_weights, expand_weights, lottery_ticket, unpack_masks
from iunet.training.checkpoint import Checkpoint
from iunet.training.environment import describe_environment
from iunet.training.loop import (
    Trained,
    Training,
    accuracy,
    check_weights,
    predict,
    stream,
    train,
    training_report,
)
from iunet.training.optimiser import fused_sgd


@dataclass(frozen=True)
class FinetuneSettings:
    """A fine-tuning's hyperparameters; `cycles` of 0 means a constant rate for `epochs`."""

    optimiser: str  # sgd or adamw
    lr: float
    batch_size: int
    seed: int
    epochs: int = 0
    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0
    first_cycle_epochs: int = 0
    cycle_factor: int = 1
    cycles: int = 0
    snapshot_ensemble: bool = False
    half_precision: bool = False

    def cycle_ends(self) -> list[int]:
        """The epochs after which a cosine cycle ends: 15, 45, 105."""
        lengths = [self.first_cycle_epochs * self.cycle_factor**k for k in range(self.cycles)]
        return np.cumsum(lengths, dtype=int).tolist()

    def total_epochs(self) -> int:
        return self.cycle_ends()[-1] if self.cycles else self.epochs

    def snapshot_epochs(self) -> list[int]:
        """The epochs after which a network becomes a member of the result."""
        ensemble = self.snapshot_ensemble and self.cycles > 0
        return self.cycle_ends() if ensemble else [self.total_epochs()]

    def lr_at(self, epoch: float) -> float:
        """Cosine annealing from lr to 0 in each cycle, at an epoch with fraction."""
        start = 0
        for end in self.cycle_ends():
            if epoch < end:
                return self.lr / 2 * (1 + math.cos(math.pi * (epoch - start) / (end - start)))
            start = end
        return 0.0


def finetune(
    inputs: dict[str, str],
    output: dict[str, str],
    run: str,
    settings: FinetuneSettings,
    device: torch.device,
    identity: dict[str, Any],
    checkpoint_s: float,
) -> None:
    """Fine-tune the subnetwork of a mask (`inputs` names none for the dense network)."""
    started = time.monotonic()
    description = read_json(inputs["description"])
    checkpoint = Checkpoint(Path(output["weights"]).with_name("finetune.checkpoint"), identity)
    if "mask" in inputs and (failed := read_json(inputs["mask_report"])["failed"]):
        nothing = Trained([], {}, 0.0, [])
        report = training_report(run, description, settings, identity, nothing, started)
        write_arrays(output["weights"], {})
        write_json(output["report"], report | {"failed": failed, "members": 0, "metrics": {}})
        return
    train_part, valid = (load_part(inputs[part], device) for part in ("train", "valid"))
    prepare = make_inputs(read_json(inputs["preprocessing"]), None, train_part)
    network = build_network(NetworkSpec(**description["network"])).to(device)
    masks = read_masks(inputs["mask"], inputs["mask_report"]) if "mask" in inputs else {}
    on_device = {name: torch.from_numpy(m).to(device, torch.float32) for name, m in masks.items()}
    network.load_state_dict(lottery_ticket(load_file(inputs["initial"], str(device)), on_device))
    half = settings.half_precision and device.type == "cuda"

    def loss(rows: Tensor):
        with torch.autocast(device.type, torch.float16, enabled=half):
            logits = network(prepare.prepare(train_part.raw[rows]))
        value = supervised_loss(logits.float(), train_part.labels[rows])
        return value, {"sup": value.detach()}

    snapshots = settings.snapshot_epochs()

    def keep(epoch: int) -> dict[str, Tensor]:
        if epoch + 1 not in snapshots:
            return {}
        member = snapshots.index(epoch + 1)
        return {f"{member}/{name}": t.clone() for name, t in state_tensors(network).items()}

    training = Training(
        run,
        network,
        make_optimiser(network, settings),
        settings.total_epochs(),
        settings.batch_size,
        len(train_part),
        loss,
        validate=lambda: accuracy(network, prepare, valid),
        generators={"order": stream(settings.seed, "finetune/order", device)},
        lr_at=settings.lr_at if settings.cycles else None,
        masks=on_device,
        keep=keep,
        scaler=torch.amp.GradScaler("cuda") if half else None,
    )
    trained = train(training, checkpoint, checkpoint_s)
    members = split_members(trained.kept)
    probabilities = 0.0
    for member in members:
        network.load_state_dict(member)
        check_weights(run, network)
        probabilities = probabilities + predict(network, prepare, valid).softmax(dim=1)
    predicted = (probabilities / len(members)).argmax(dim=1).cpu().numpy()
    metrics = classification_metrics(valid.labels.cpu().numpy(), predicted)
    write_members(output["weights"], members, masks)
    report = training_report(run, description, settings, identity, trained, started) | {
        "failed": None,
        "members": len(members),
        "metrics": {f"valid_{name}": value for name, value in metrics.items()},
        "environment": describe_environment(device),
    }
    write_json(output["report"], report)
    checkpoint.remove()


def make_optimiser(network: torch.nn.Module, settings: FinetuneSettings) -> torch.optim.Optimizer:
    if settings.optimiser == "adamw":
        return torch.optim.AdamW(
            network.parameters(), lr=settings.lr, weight_decay=settings.weight_decay, fused=True
        )
    return fused_sgd(
        network.parameters(),
        settings.lr,
        settings.momentum,
        settings.nesterov,
        settings.weight_decay,
    )


# ---- artifacts


def read_masks(mask_path: str | Path, report_path: str | Path) -> dict[str, np.ndarray]:
    """A mask artifact as boolean arrays."""
    layers = read_json(report_path)["layers"]
    shapes = {layer["weight"]: layer["shape"] for layer in layers}
    return unpack_masks(read_arrays(mask_path), shapes)


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
