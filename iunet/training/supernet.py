"""The supernet stage: θ†, scaled by κ (PIS) and trained with `sup`, `scl`, `ilo` or β-LASSO."""

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
from iunet.baselines.beta_lasso import BetaLasso, cosine_to_zero
from iunet.data.load import load_part, make_inputs
from iunet.errors import one_line
from iunet.networks import Network, NetworkSpec, build_network, encoder_weights, state_tensors
from iunet.objectives import supernet_loss
from iunet.pruning import proactive_initialisation
from iunet.training.checkpoint import Checkpoint
from iunet.training.environment import describe_environment
from iunet.training.initial import write_tensors
from iunet.training.loop import (
    Diverged,
    Trained,
    Training,
    accuracy,
    check_weights,
    stream,
    train,
    training_report,
)
from iunet.training.optimiser import fused_sgd

log = logging.getLogger(__name__)
# Bins of the magnitude histograms (figure 3): powers of ten from 1e-8 to 10, twenty per decade.
LOWEST, HIGHEST, BINS = -8.0, 1.0, 180


@dataclass(frozen=True)
class SupernetSettings:
    """A supernet's coordinates and hyperparameters."""

    kappa: float  # PIS multiplier
    objective: str  # sup, scl, ilo or lasso
    epochs: int
    batch_size: int
    lr: float
    seed: int
    weight: float = 0.0  # λ of L_nce
    momentum: float = 0.0
    nesterov: bool = False
    l1: float = 0.0  # β-LASSO
    beta: float = 0.0  # β-LASSO: weights below β · l1 become zero


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
            "sup" if settings.objective == "lasso" else settings.objective,
            settings.weight,
        )

    checkpoint = Checkpoint(Path(output["weights"]).with_name("supernet.checkpoint"), identity)
    training = Training(
        run,
        network,
        make_optimiser(network, settings),
        settings.epochs,
        settings.batch_size,
        len(train_part),
        loss,
        validate=lambda: accuracy(network, prepare, valid),
        generators=generators,
        lr_at=cosine_to_zero(settings.lr, settings.epochs)
        if settings.objective == "lasso"
        else None,
        keep=lambda epoch: {f"histogram/{epoch + 1}": magnitude_histogram(weights)},
    )
    failed = None
    try:
        trained = train(training, checkpoint, checkpoint_s)
        check_weights(run, network)
    except Diverged as error:
        if settings.objective != "lasso":
            raise
        # One l1 of a grid: the others go on, and this one is not chosen.
        failed, trained = one_line(error), Trained([], {}, 0.0, [])
        log.warning("%s", failed)
        for tensor in network.state_dict().values():
            tensor.zero_()
    histograms |= trained.kept
    counts = [histograms[f"histogram/{epoch}"].cpu() for epoch in range(len(histograms))]
    write_tensors(output["weights"], state_tensors(network))
    edges = torch.logspace(LOWEST, HIGHEST, BINS + 1, dtype=torch.float64)
    write_tensors(output["histograms"], {"counts": torch.stack(counts), "edges": edges})
    report = training_report(run, description, settings, identity, trained, started) | {
        "failed": failed,
        "metrics": {} if failed else {"valid_accuracy": trained.history[-1]["valid_accuracy"]},
        "first_layer": description["encoder_weights"][0],
        "environment": describe_environment(device),
    }
    write_json(output["report"], report)
    checkpoint.remove()


def make_optimiser(network: Network, settings: SupernetSettings) -> torch.optim.Optimizer:
    if settings.objective == "lasso":
        encoder = encoder_weights(network).values()
        return BetaLasso(
            network.parameters(), encoder, lr=settings.lr, l1=settings.l1, beta=settings.beta
        )
    return fused_sgd(network.parameters(), settings.lr, settings.momentum, settings.nesterov)


def magnitude_histogram(weights: dict[str, Tensor]) -> Tensor:
    """Counts of |θ| over the encoder's weights in logarithmic bins, the outermost ones open."""
    total = torch.zeros(BINS, dtype=torch.float64)
    for weight in weights.values():
        exponents = weight.detach().abs().log10().clamp(LOWEST, HIGHEST)
        total += torch.histc(exponents.float(), BINS, LOWEST, HIGHEST).double().cpu()
    return total.to(torch.int64)
