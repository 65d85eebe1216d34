"""The fine-tune stage: a subnetwork mask ⊙ θ† trained with L_sup, its pruned weights staying zero.

Without a mask it trains the dense network by the same recipe. Vision: SGD with a constant rate.
Tabular: AdamW with cosine annealing and restarts, and a snapshot ensemble of the cycles' ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from iunet.artifacts import read_json, read_tensors, write_arrays, write_json, write_tensors
from iunet.data.load import TrainingData, load_part, make_inputs
from iunet.method.masks import read_masks
from iunet.method.objectives import UNWEIGHTED, LossWeights, class_weights, supervised_loss
from iunet.method.pruning import lottery_ticket
from iunet.networks.network import Network, NetworkSpec, build_network
from iunet.scoring.prediction import accuracy, mean_softmax
from iunet.training.initial import fresh_weights
from iunet.training.loop import Trained, Training, check_weights, fused_sgd, stream, train
from iunet.training.members import keep_members, on, split_members, write_members
from iunet.training.schedule import schedule_of
from iunet.training.support.checkpoint import Checkpoint
from iunet.training.support.job import Job


@dataclass(frozen=True)
class FinetuneSettings:
    """A fine-tuning's hyperparameters; it has `epochs`, or `cycles`."""

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
    class_weights: str = "unweighted"  # or balanced
    reinit: str = "initial"  # θ† again; or fresh initial weights, or trained ones
    schedule: str = ""  # restarts with cycles, constant without, if none is named
    augment: dict[str, Any] | None = None  # transforms of the train rows, with their strengths


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
    weighted: LossWeights = UNWEIGHTED,
) -> Finetuned:
    """Train from `start`, keeping at zero what `masks` (0 and 1, by weight) prune."""
    train_part, inputs, valid = data.train, data.inputs, data.valid
    device = train_part.raw.device
    network.load_state_dict(start)
    del start  # as much memory as the network
    half = in_half_precision(settings, device)
    of_classes = class_weights(settings.class_weights, weighted, train_part.labels, network)
    names = ("order", "g") if settings.augment else ("order",)
    generators = {name: stream(settings.seed, f"finetune/{name}", device) for name in names}

    def loss(rows: Tensor):
        raw = train_part.raw[rows]
        x = inputs.transformed(raw, generators["g"]) if settings.augment else inputs.prepare(raw)
        with torch.autocast(device.type, torch.float16, enabled=half):
            logits = network(x)
        value = supervised_loss(
            logits.float(), train_part.labels[rows], of_classes, weighted.of_samples(rows)
        )
        return value, {"sup": value.detach()}

    schedule = schedule_of(vars(settings))
    training = Training(
        run,
        network,
        make_optimiser(network, settings),
        schedule.epochs,
        settings.batch_size,
        len(train_part),
        loss,
        validate=None if valid is None else lambda: accuracy(network, inputs, valid),
        validate_every=data.validate_every,
        generators=generators,
        lr_at=schedule.lr_at,
        masks=masks,
        keep=keep_members(network, schedule.member_epochs(settings.snapshot_ensemble)),
        scaler=torch.amp.GradScaler(device.type) if half else None,
    )
    trained = train(training, checkpoint)
    members = split_members(trained.kept)
    for member in members:
        check_weights(run, member)
    return Finetuned(members, trained)


def in_half_precision(settings: FinetuneSettings, device: torch.device) -> bool:
    """On CUDA only: on some CPUs 16 bits are hundreds of times slower than 32."""
    return settings.half_precision and device.type == "cuda"


def finetune(
    inputs: dict[str, str], output: dict[str, str], settings: FinetuneSettings, job: Job
) -> None:
    """The stage, of a subnetwork, or of the dense network if `inputs` names no mask.

    Beside weights and report it writes the labels that the ensemble predicts for the validation
    rows, from which any metric can be computed later.
    """
    description = read_json(inputs["description"])
    if "mask" in inputs and (failed := read_json(inputs["mask_report"])["failed"]):
        report = job.report(description, settings, Trained())
        write_arrays(output["weights"], {})
        write_arrays(output["predictions"], {})
        write_json(output["report"], report | {"failed": failed, "members": 0})
        return
    checkpoint = job.checkpoint(output["weights"], "finetune")
    train_part, valid = (load_part(inputs[part], job.device) for part in ("train", "valid"))
    preprocessing = read_json(inputs["preprocessing"])
    prepare = make_inputs(preprocessing, job.device, settings.augment, train_part)
    network = build_network(NetworkSpec(**description["network"])).to(job.device)
    masks = read_masks(inputs["mask"], inputs["mask_report"]) if "mask" in inputs else {}
    on_device = on(job.device, masks)
    data = TrainingData(train_part, prepare, valid, job.validate_every)
    finetuned = fit_subnetwork(
        network,
        lottery_ticket(_start(inputs, description, settings, job.device), on_device),
        on_device,
        data,
        settings,
        job.run,
        checkpoint,
    )
    predicted = mean_softmax(network, finetuned.members, prepare, valid).argmax(dim=1)
    write_members(output["weights"], finetuned.members, masks)
    write_tensors(output["predictions"], {"predicted": predicted})
    report = job.report(description, settings, finetuned.trained)
    write_json(output["report"], report | {"failed": None, "members": len(finetuned.members)})
    checkpoint.remove()


def _start(
    inputs: dict[str, str],
    description: dict[str, Any],
    settings: FinetuneSettings,
    device: torch.device,
) -> dict[str, Tensor]:
    """The weights to be masked: θ†, new ones drawn like it, or the supernet's."""
    if settings.reinit == "trained":
        return read_tensors(inputs["supernet"], device)
    if settings.reinit == "fresh":
        return fresh_weights(description, device)
    return read_tensors(inputs["initial"], device)


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
