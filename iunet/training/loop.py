"""The one training loop, of supernet and fine-tuning alike, and what every training uses.

Data live on the device and a batch is an index slice. Losses are summed on the device and read once
per epoch, so nothing waits inside an epoch. Killed at any moment and started again, a run continues
from its last checkpoint and ends with the same bits (on a CPU with the same number of threads).
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Generator, Tensor, nn

from iunet.data.load import Inputs, Part
from iunet.errors import UserError
from iunet.method.objectives import Parts
from iunet.networks.network import Network
from iunet.scoring.prediction import EVALUATION_BATCH
from iunet.training.support.checkpoint import Checkpoint, resume, save
from iunet.training.support.progress import Progress
from iunet.training.support.signals import Stop


class Diverged(UserError):
    """A loss or a weight is not finite."""


@dataclass
class Training:
    """What the loop needs to know of a run."""

    run: str  # its name, for the log and for errors
    network: Network
    optimiser: torch.optim.Optimizer
    epochs: int
    batch_size: int
    n_rows: int
    loss: Callable[[Tensor], tuple[Tensor, Parts]]  # of a batch, given its rows' indices
    validate: Callable[[], float] | None  # accuracy in percent; None: not asked
    generators: dict[str, Generator]  # `order`, and others that `loss` uses
    lr_at: Callable[[float], float] | None = None  # learning rate at an epoch, with fraction
    masks: dict[str, Tensor] = field(default_factory=dict)  # weights that stay zero where 0
    keep: Callable[[int], dict[str, Tensor]] | None = None  # tensors to keep after an epoch
    scaler: torch.amp.GradScaler | None = None  # 16-bit training on CUDA
    stop: Callable[[int], bool] | None = None  # asked after each epoch: is it enough?
    validate_every: int = 1  # epochs; the last one is validated in any case
    quiet: bool = False  # no line per epoch: a search trains hundreds of networks


@dataclass
class Trained:
    # Per epoch: loss, its parts, validation accuracy now and then.
    history: list[dict[str, float]] = field(default_factory=list)
    kept: dict[str, Tensor] = field(default_factory=dict)  # what `keep` returned
    seconds: float = 0.0  # of training, over all interruptions
    resumed_at: list[int] = field(default_factory=list)  # first epochs after a checkpoint


def batches(n_rows: int, batch_size: int, generator: Generator) -> Iterator[Tensor]:
    """Row indices in random order; a last batch of one row is left out (BatchNorm needs two)."""
    order = torch.randperm(n_rows, generator=generator, device=generator.device)
    for rows in order.split(batch_size):
        if len(rows) > 1:
            yield rows


def n_batches(n_rows: int, batch_size: int) -> int:
    full, rest = divmod(n_rows, batch_size)
    return full + (rest > 1)


def train(training: Training, checkpoint: Checkpoint | None = None) -> Trained:
    """Run all epochs, from the start or from the checkpoint (None: nothing is kept on the way)."""
    steps = n_batches(training.n_rows, training.batch_size)
    if steps == 0:
        raise UserError(
            f"Run {training.run}: {training.n_rows} train rows are too few for a batch."
        )
    trained = Trained()
    start = 0 if checkpoint is None else resume(training, checkpoint, trained)
    weights = dict(training.network.named_parameters())
    masked = [weights[name].data for name in training.masks], list(training.masks.values())
    progress = Progress(
        training.run, training.epochs, steps, training.n_rows, start, training.quiet
    )
    with progress, Stop(checkpoint is not None) as stop:
        for epoch in range(start, training.epochs):
            began = time.monotonic()
            losses = _train_epoch(training, epoch, masked, progress)
            entry = {"epoch": epoch + 1, **losses}
            last = epoch + 1 == training.epochs
            if training.validate is not None and (
                last or (epoch + 1) % training.validate_every == 0
            ):
                entry["valid_accuracy"] = training.validate()
            trained.history.append(entry)
            if training.keep is not None:
                trained.kept |= training.keep(epoch)
            epoch_s = time.monotonic() - began
            trained.seconds += epoch_s
            progress.epoch(entry, trained.seconds, epoch_s)
            if training.stop is not None and training.stop(epoch):
                break
            if checkpoint is not None and not last and (stop.asked or checkpoint.due()):
                save(training, checkpoint, trained)
                stop.obey(training.run, epoch + 1)
    return trained


def _train_epoch(
    training: Training, epoch: int, masked: tuple[list[Tensor], list[Tensor]], progress: Progress
) -> dict[str, float]:
    """One pass over the train rows; the mean of the loss and of its parts."""
    training.network.train()
    optimiser, scaler = training.optimiser, training.scaler
    total = n_batches(training.n_rows, training.batch_size)
    sums: dict[str, Tensor] = {}
    seen = 0
    order = training.generators["order"]
    for i, rows in enumerate(batches(training.n_rows, training.batch_size, order)):
        if training.lr_at is not None:
            for group in optimiser.param_groups:
                group["lr"] = training.lr_at(epoch + i / total)
        loss, parts = training.loss(rows)
        optimiser.zero_grad()
        if scaler is None:
            loss.backward()
            optimiser.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimiser)
            scaler.update()
        if masked[0]:
            torch._foreach_mul_(*masked)  # in one kernel, for which there is no public call
        for name, value in {"loss": loss.detach(), **parts}.items():
            sums[name] = sums.get(name, 0.0) + value * len(rows)
        seen += len(rows)
        progress.step()
    means = {name: value.item() / seen for name, value in sums.items()}
    if not all(map(math.isfinite, means.values())):
        raise Diverged(
            f"Run {training.run} diverged: in epoch {epoch + 1} the loss is {means['loss']}. No "
            "weights were written. Lower its learning rate, or leave the run out."
        )
    return means


def check_weights(run: str, state: dict[str, Tensor]) -> None:
    """Refuse weights that are not numbers, before they become a result."""
    for name, tensor in state.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise Diverged(f"Run {run} diverged: {name} is not finite. No weights were written.")


# ---- random numbers, SGD, BatchNorm's statistics


def stream(seed: int, name: str, device: torch.device) -> Generator:
    """A separate random generator for each purpose, so that none depends on another's use."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return Generator(device).manual_seed(int.from_bytes(digest[:8], "big") >> 1)


def fused_sgd(
    parameters: Iterable[nn.Parameter],
    lr: float,
    momentum: float,
    nesterov: bool,
    weight_decay: float = 0.0,
) -> torch.optim.SGD:
    """torch's fused SGD, of parameters or groups of them, with a momentum of zero from the start.

    Left alone, its first step allocates the momentum without setting it, and relies on that very
    step to fill it. If GradScaler skips the step because a 16-bit gradient overflowed, whatever lay
    in memory stays there as momentum. From zero, an ordinary first step gives the same bits:
    momentum · 0 + gradient.
    """
    optimiser = torch.optim.SGD(
        parameters,
        lr=lr,
        momentum=momentum,
        nesterov=nesterov,
        weight_decay=weight_decay,
        fused=True,
    )
    if momentum:
        for group in optimiser.param_groups:
            for parameter in group["params"]:
                optimiser.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
    return optimiser


@torch.no_grad()
def set_batchnorm_statistics(network: Network, inputs: Inputs, train: Part) -> None:
    """Running statistics from one pass over the untransformed train rows.

    An untrained network has none. All batches are of (nearly) one size, and count equally; rows
    come in a random order, since in a file they are often sorted by class.
    """
    norms = [m for m in network.modules() if isinstance(m, nn.BatchNorm1d | nn.BatchNorm2d)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the plain average over batches
    network.train()
    device = train.raw.device
    order = torch.randperm(len(train), generator=stream(0, "batchnorm", device), device=device)
    for rows in order.tensor_split(-(-len(train) // EVALUATION_BATCH)):
        network(inputs.prepare(train.raw[rows]))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
