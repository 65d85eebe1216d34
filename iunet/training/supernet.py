"""The supernet stage: θ†, scaled by κ (PIS) and trained with `sup`, `scl` or `ilo`."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from iunet.artifacts import read_json, write_json
from iunet.data.load import load_part, make_inputs
from iunet.networks import NetworkSpec, build_network, encoder_weights, state_tensors
from iunet.objectives import supernet_loss
from iunet.pruning import proactive_initialisation
from iunet.training.checkpoint import Checkpoint
from iunet.training.environment import describe_environment
from iunet.training.initial import write_tensors
from iunet.training.loop import (
    Training,
    accuracy,
    check_weights,
    stream,
    train,
    training_report,
)

log = logging.getLogger(__name__)
# Bins of the magnitude histograms (figure 3): powers of ten from 1e-8 to 10, twenty per decade.
LOWEST, HIGHEST, BINS = -8.0, 1.0, 180


@dataclass(frozen=True)
class SupernetSettings:
    """A supernet's coordinates and hyperparameters."""

    kappa: float  # PIS multiplier
    objective: str  # sup, scl or ilo
    weight: float  # λ of L_nce
    epochs: int
    batch_size: int
    lr: float
    momentum: float
    nesterov: bool
    seed: int


def train_supernet(
    inputs: dict[str, str],
    output: dict[str, str],
    run: str,
    settings: SupernetSettings,
    augment: dict[str, Any] | None,
    device: torch.device,
    identity: dict[str, Any],
    checkpoint_s: float,
) -> None:
    """Train a supernet from θ† and write its weights, magnitude histograms and report."""
    started = time.monotonic()
    description = read_json(inputs["description"])
    train_part, valid = (load_part(inputs[part], device) for part in ("train", "valid"))
    prepare = make_inputs(read_json(inputs["preprocessing"]), augment, train_part)
    network = build_network(NetworkSpec(**description["network"])).to(device)
    initial = load_file(inputs["initial"], device=str(device))
    proactive_initialisation(initial, description["scaled_weights"], settings.kappa)
    network.load_state_dict(initial)
    weights = encoder_weights(network)
    histograms = {"histogram/0": magnitude_histogram(weights)}
    generators = {
        name: stream(settings.seed, f"supernet/{name}", device) for name in ("order", "g")
    }

    def loss(rows: Tensor):
        raw = train_part.raw[rows]
        return supernet_loss(
            network,
            prepare.prepare(raw),
            train_part.labels[rows],
            lambda: prepare.transformed(raw, generators["g"]),
            settings.objective,
            settings.weight,
        )

    optimiser = torch.optim.SGD(
        network.parameters(),
        lr=settings.lr,
        momentum=settings.momentum,
        nesterov=settings.nesterov,
        fused=True,
    )
    checkpoint = Checkpoint(Path(output["weights"]).with_name("supernet.checkpoint"), identity)
    training = Training(
        run,
        network,
        optimiser,
        settings.epochs,
        settings.batch_size,
        len(train_part),
        loss,
        validate=lambda: accuracy(network, prepare, valid),
        generators=generators,
        keep=lambda epoch: {f"histogram/{epoch + 1}": magnitude_histogram(weights)},
    )
    trained = train(training, checkpoint, checkpoint_s)
    check_weights(run, network)
    histograms |= trained.kept
    counts = [histograms[f"histogram/{epoch}"].cpu() for epoch in range(settings.epochs + 1)]
    write_tensors(output["weights"], state_tensors(network))
    edges = torch.logspace(LOWEST, HIGHEST, BINS + 1, dtype=torch.float64)
    write_tensors(output["histograms"], {"counts": torch.stack(counts), "edges": edges})
    report = training_report(run, description, settings, identity, trained, started) | {
        "metrics": {"valid_accuracy": trained.history[-1]["valid_accuracy"]},
        "first_layer": description["encoder_weights"][0],
        "environment": describe_environment(device),
    }
    write_json(output["report"], report)
    checkpoint.remove()


def magnitude_histogram(weights: dict[str, Tensor]) -> Tensor:
    """Counts of |θ| over the encoder's weights in logarithmic bins, the outermost ones open."""
    total = torch.zeros(BINS, dtype=torch.float64)
    for weight in weights.values():
        exponents = weight.detach().abs().log10().clamp(LOWEST, HIGHEST)
        total += torch.histc(exponents.float(), BINS, LOWEST, HIGHEST).double().cpu()
    return total.to(torch.int64)
