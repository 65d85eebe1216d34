"""The fine-tune stage: a subnetwork mask ⊙ θ† trained with L_sup, its pruned weights staying zero.

Without a mask it trains the dense network by the same recipe. Vision: SGD with a constant rate.
Tabular: AdamW with cosine annealing and restarts, and a snapshot ensemble of the cycles' ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from iunet.artifacts import (
    read_arrays,
    read_json,
    read_tensors,
    write_arrays,
    write_json,
    write_tensors,
)
from iunet.data.load import TrainingData, load_part, make_inputs
from iunet.method.masks import compress_weights, expand_weights, read_masks
from iunet.method.objectives import supervised_loss
from iunet.method.pruning import lottery_ticket
from iunet.networks.network import Network, NetworkSpec, build_network, state_tensors
from iunet.scoring.prediction import accuracy, mean_softmax
from iunet.training.loop import Trained, Training, check_weights, train
from iunet.training.streams import stream
from iunet.training.support.checkpoint import Checkpoint
from iunet.training.support.job import Job


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


@dataclass
class Finetuned:
    """What a fine-tuning came to: the members of the ensemble (one without snapshots)."""

    members: list[dict[str, Tensor]]
    trained: Trained


def fit_subnetwork(
    network: Network,
    start: dict[str, Tensor],
    masks: dict[str, Tensor],
    data: TrainingData,
    settings: FinetuneSettings,
    run: str = "finetune",
    checkpoint: Checkpoint | None = None,
) -> Finetuned:
    """Train from `start`, keeping at zero what `masks` (0 and 1, by weight) prune."""
    train_part, inputs, valid = data.train, data.inputs, data.valid
    device = train_part.raw.device
    network.load_state_dict(start)
    half = settings.half_precision and device.type == "cuda"

    def loss(rows: Tensor):
        with torch.autocast(device.type, torch.float16, enabled=half):
            logits = network(inputs.prepare(train_part.raw[rows]))
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
        validate=None if valid is None else lambda: accuracy(network, inputs, valid),
        generators={"order": stream(settings.seed, "finetune/order", device)},
        lr_at=settings.lr_at if settings.cycles else None,
        masks=masks,
        keep=keep,
        scaler=torch.amp.GradScaler("cuda") if half else None,
    )
    trained = train(training, checkpoint)
    members = split_members(trained.kept)
    for member in members:
        network.load_state_dict(member)
        check_weights(run, network)
    return Finetuned(members, trained)


def finetune(
    inputs: dict[str, str], output: dict[str, str], settings: FinetuneSettings, job: Job
) -> None:
    """The stage, of a subnetwork, or of the dense network if `inputs` names no mask.

    Beside weights and report it writes the labels that the ensemble predicts for the validation
    rows, from which any metric can be computed later.
    """
    description = read_json(inputs["description"])
    if "mask" in inputs and (failed := read_json(inputs["mask_report"])["failed"]):
        report = job.report(description, settings, Trained([], {}, 0.0, []))
        write_arrays(output["weights"], {})
        write_arrays(output["predictions"], {})
        write_json(output["report"], report | {"failed": failed, "members": 0})
        return
    checkpoint = job.checkpoint(output["weights"], "finetune")
    train_part, valid = (load_part(inputs[part], job.device) for part in ("train", "valid"))
    prepare = make_inputs(read_json(inputs["preprocessing"]), job.device)
    network = build_network(NetworkSpec(**description["network"])).to(job.device)
    masks = read_masks(inputs["mask"], inputs["mask_report"]) if "mask" in inputs else {}
    on_device = on(job.device, masks)
    start = lottery_ticket(read_tensors(inputs["initial"], job.device), on_device)
    data = TrainingData(train_part, prepare, valid)
    finetuned = fit_subnetwork(network, start, on_device, data, settings, job.run, checkpoint)
    predicted = mean_softmax(network, finetuned.members, prepare, valid).argmax(dim=1)
    write_members(output["weights"], finetuned.members, masks)
    write_tensors(output["predictions"], {"predicted": predicted})
    report = job.report(description, settings, finetuned.trained)
    write_json(output["report"], report | {"failed": None, "members": len(finetuned.members)})
    checkpoint.remove()


def on(device: torch.device, masks: dict[str, np.ndarray]) -> dict[str, Tensor]:
    """Boolean masks as 0 and 1 on a device."""
    return {name: torch.from_numpy(m).to(device, torch.float32) for name, m in masks.items()}


def make_optimiser(network: torch.nn.Module, settings: FinetuneSettings) -> torch.optim.Optimizer:
    if settings.optimiser == "adamw":
        return torch.optim.AdamW(
            network.parameters(), lr=settings.lr, weight_decay=settings.weight_decay, fused=True
        )
    return torch.optim.SGD(
        network.parameters(),
        lr=settings.lr,
        momentum=settings.momentum,
        nesterov=settings.nesterov,
        weight_decay=settings.weight_decay,
        fused=True,
    )


# ---- artifacts


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
