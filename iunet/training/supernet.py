"""The supernet stage: θ†, scaled by κ (PIS) and trained with an objective or β-LASSO."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from iunet.artifacts import read_json, read_tensors, write_json, write_tensors
from iunet.data.load import TrainingData, load_part, make_inputs
from iunet.errors import one_line
from iunet.method.beta_lasso import BetaLasso, cosine_to_zero
from iunet.method.catalog import LASSO, load, objective_entry
from iunet.method.objectives import UNWEIGHTED, Batch, LossWeights, class_weights
from iunet.method.pis import proactive_initialisation
from iunet.networks.network import (
    Network,
    NetworkSpec,
    build_network,
    encoder_weights,
    scaled_weights,
    state_tensors,
)
from iunet.scoring.prediction import accuracy
from iunet.training.loop import Diverged, Trained, Training, check_weights, fused_sgd, stream, train
from iunet.training.support.checkpoint import Checkpoint
from iunet.training.support.job import Job

log = logging.getLogger(__name__)
# Bins of the magnitude histograms (figure 3): powers of ten from 1e-8 to 10, twenty per decade.
LOWEST, HIGHEST, BINS = -8.0, 1.0, 180
EXACT = 2**24  # torch counts in float32: beyond, one more weight changes nothing


@dataclass(frozen=True)
class SupernetSettings:
    """A supernet's coordinates and hyperparameters."""

    kappa: float  # PIS multiplier
    objective: str  # of the catalog, or lasso
    epochs: int
    batch_size: int
    lr: float
    seed: int
    weight: float = 0.0  # λ of L_nce
    momentum: float = 0.0
    nesterov: bool = False
    l1: float = 0.0  # β-LASSO
    beta: float = 0.0  # β-LASSO: weights below β · l1 become zero
    class_weights: str = "unweighted"  # or balanced: of L_sup
    histograms: bool = True  # of magnitudes after every epoch (figure 3), or after the last alone
    decoder_kappa: float = 1  # what the decoder's weights are multiplied by beside κ
    normalised_step: float = 1  # what lr is multiplied by for weights followed by BatchNorm


@dataclass
class Supernet:
    """What the training of a supernet came to."""

    state: dict[str, Tensor]
    histograms: Tensor  # counts of |θ| [times, bins]: before training and after (every) epoch
    trained: Trained
    failed: str | None = None  # why the weights are no result, if they are none


def fit_supernet(
    network: Network,
    initial: dict[str, Tensor],
    data: TrainingData,
    settings: SupernetSettings,
    run: str = "supernet",
    checkpoint: Checkpoint | None = None,
    weighted: LossWeights = UNWEIGHTED,
) -> Supernet:
    """Train a network from κ · θ†, where `initial` is θ†."""
    train_part, inputs, valid = data.train, data.inputs, data.valid
    device = train_part.raw.device
    start = {name: tensor.clone() for name, tensor in initial.items()}
    proactive_initialisation(start, list(scaled_weights(network)), settings.kappa)
    proactive_initialisation(start, ["decoder.weight"], settings.decoder_kappa)
    network.load_state_dict(start)
    del initial, start  # as much memory as the network
    weights = encoder_weights(network)
    histograms = {"histogram/0": magnitude_histogram(weights)}
    generators = {
        name: stream(settings.seed, f"supernet/{name}", device) for name in ("order", "g")
    }
    lasso = settings.objective == LASSO
    objective = load(objective_entry(settings.objective).loss)
    of_classes = class_weights(settings.class_weights, weighted, train_part.labels, network)

    def loss(rows: Tensor):
        raw = train_part.raw[rows]
        batch = Batch(
            inputs.prepare(raw),
            train_part.labels[rows],
            lambda: inputs.transformed(raw, generators["g"]),
            settings.weight,
            of_classes,
            weighted.of_samples(rows),
        )
        return objective(network, batch)

    def keep(epoch: int) -> dict[str, Tensor]:
        if not settings.histograms and epoch + 1 < settings.epochs:
            return {}
        return {f"histogram/{epoch + 1}": magnitude_histogram(weights)}

    training = Training(
        run,
        network,
        make_optimiser(network, settings),
        settings.epochs,
        settings.batch_size,
        len(train_part),
        loss,
        validate=None if valid is None else lambda: accuracy(network, inputs, valid),
        validate_every=data.validate_every,
        generators=generators,
        lr_at=cosine_to_zero(settings.lr, settings.epochs) if lasso else None,
        keep=keep,
    )
    trained, failed = _train(training, checkpoint, may_fail=lasso)
    histograms |= trained.kept
    # By epoch: those of a checkpoint come back in the order of their names.
    order = sorted(histograms, key=lambda name: int(name.partition("/")[2]))
    counts = [histograms[name].cpu() for name in order]
    return Supernet(state_tensors(network), torch.stack(counts), trained, failed)


def _train(
    training: Training, checkpoint: Checkpoint | None, may_fail: bool
) -> tuple[Trained, str | None]:
    """Train, or say why it failed: of one l1 of a grid, since the others go on without it."""
    try:
        trained = train(training, checkpoint)
        check_weights(training.run, state_tensors(training.network))
        return trained, None
    except Diverged as error:
        if not may_fail:
            raise
        failed = one_line(error)
    log.warning("%s", failed)
    for tensor in training.network.state_dict().values():
        tensor.zero_()
    return Trained(), failed


def train_supernet(
    inputs: dict[str, str],
    output: dict[str, str],
    settings: SupernetSettings,
    augment: dict[str, Any] | None,
    job: Job,
) -> None:
    """The stage: read, train, and write weights, magnitude histograms and the report."""
    description = read_json(inputs["description"])
    train_part, valid = (load_part(inputs[part], job.device) for part in ("train", "valid"))
    prepare = make_inputs(read_json(inputs["preprocessing"]), job.device, augment, train_part)
    checkpoint = job.checkpoint(output["weights"], "supernet")
    supernet = fit_supernet(
        build_network(NetworkSpec(**description["network"])).to(job.device),
        read_tensors(inputs["initial"]),  # on the host: a GPU has no room for copies
        TrainingData(train_part, prepare, valid, job.validate_every),
        settings,
        job.run,
        checkpoint,
    )
    history, failed = supernet.trained.history, supernet.failed
    edges = torch.logspace(LOWEST, HIGHEST, BINS + 1, dtype=torch.float64)
    write_tensors(output["weights"], supernet.state)
    write_tensors(output["histograms"], {"counts": supernet.histograms, "edges": edges})
    report = job.report(description, settings, supernet.trained) | {
        "failed": failed,
        "metrics": {} if failed else {"valid_accuracy": history[-1]["valid_accuracy"]},
        "first_layer": description["encoder_weights"][0],
    }
    write_json(output["report"], report)
    checkpoint.remove()


def make_optimiser(network: Network, settings: SupernetSettings) -> torch.optim.Optimizer:
    if settings.objective == LASSO:
        encoder = encoder_weights(network).values()
        return BetaLasso(
            network.parameters(), encoder, lr=settings.lr, l1=settings.l1, beta=settings.beta
        )
    groups = [{"params": list(network.parameters())}]
    if settings.normalised_step != 1:  # all weights of an encoder are followed by BatchNorm
        normalised = list(encoder_weights(network).values())
        known = set(map(id, normalised))
        groups = [
            {"params": normalised, "lr": settings.normalised_step * settings.lr},
            {"params": [p for p in network.parameters() if id(p) not in known]},
        ]
    return fused_sgd(groups, settings.lr, settings.momentum, settings.nesterov)


def magnitude_histogram(weights: dict[str, Tensor]) -> Tensor:
    """Counts of |θ| over the encoder's weights in logarithmic bins, the outermost ones open."""
    total = torch.zeros(BINS, dtype=torch.float64)
    for weight in weights.values():
        exponents = weight.detach().abs().log10().clamp(LOWEST, HIGHEST).float().flatten()
        for part in exponents.split(EXACT):
            total += torch.histc(part, BINS, LOWEST, HIGHEST).double().cpu()
    return total.to(torch.int64)
