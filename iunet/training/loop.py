"""The one training loop, of the supernet and of the fine-tuning alike.

Data live on the device and a batch is an index slice. Losses are summed on the device and read once
per epoch, so nothing waits inside an epoch. Killed at any moment and started again, a run continues
from its last checkpoint and ends with the same bits (on a CPU with the same number of threads).
"""

from __future__ import annotations

import hashlib
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Generator, Tensor

from iunet.data.load import Inputs, Part
from iunet.errors import UserError
from iunet.method.objectives import Parts
from iunet.networks import Network, state_tensors
from iunet.training.support.checkpoint import Checkpoint, optimiser_tensors, restore_optimiser

log = logging.getLogger(__name__)
EVALUATION_BATCH = 1024
show_progress_bar = False  # set where a person watches one job in a terminal


class Diverged(UserError):
    """A loss or a weight that is no number any more."""


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
    validate: Callable[[], float] | None  # accuracy in percent, after each epoch; None: not asked
    generators: dict[str, Generator]  # `order`, and others that `loss` uses
    lr_at: Callable[[float], float] | None = None  # learning rate at an epoch, with fraction
    masks: dict[str, Tensor] = field(default_factory=dict)  # weights that stay zero where 0
    keep: Callable[[int], dict[str, Tensor]] | None = None  # tensors to keep after an epoch
    scaler: torch.amp.GradScaler | None = None  # 16-bit training on CUDA
    stop: Callable[[int], bool] | None = None  # asked after each epoch: is it enough?
    quiet: bool = False  # no line per epoch: a search trains hundreds of networks


@dataclass
class Trained:
    history: list[dict[str, float]]  # per epoch: loss, its parts, validation accuracy if asked
    kept: dict[str, Tensor]  # what `keep` returned
    seconds: float  # of training, over all interruptions
    resumed_at: list[int]  # epochs at which a checkpoint was taken up


def stream(seed: int, name: str, device: torch.device) -> Generator:
    """A random generator of its own for each purpose, so that none depends on another's use."""
    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    return Generator(device).manual_seed(int.from_bytes(digest[:8], "big") >> 1)


def batches(n_rows: int, batch_size: int, generator: Generator) -> Iterator[Tensor]:
    """Row indices in random order; a last batch of one row is left out (BatchNorm needs two)."""
    order = torch.randperm(n_rows, generator=generator, device=generator.device)
    for rows in order.split(batch_size):
        if len(rows) > 1:
            yield rows


def n_batches(n_rows: int, batch_size: int) -> int:
    full, rest = divmod(n_rows, batch_size)
    return full + (rest > 1)


def train(training: Training, checkpoint: Checkpoint | None, checkpoint_s: float) -> Trained:
    """Run all epochs, from the start or from the checkpoint (None: nothing is kept on the way)."""
    if n_batches(training.n_rows, training.batch_size) == 0:
        raise UserError(
            f"Run {training.run}: {training.n_rows} train rows are too few for a batch."
        )
    trained = Trained([], {}, 0.0, [])
    start = 0 if checkpoint is None else _resume(training, checkpoint, trained)
    weights = dict(training.network.named_parameters())
    masked = [weights[name].data for name in training.masks], list(training.masks.values())
    saved = time.monotonic()
    with _ProgressBar(training, start) as bar, _Stop(checkpoint is not None) as stop:
        for epoch in range(start, training.epochs):
            began = time.monotonic()
            losses = _train_epoch(training, epoch, masked, bar)
            entry = {"epoch": epoch + 1, **losses}
            if training.validate is not None:
                entry["valid_accuracy"] = training.validate()
            trained.history.append(entry)
            if training.keep is not None:
                trained.kept |= training.keep(epoch)
            trained.seconds += time.monotonic() - began
            _log_epoch(training, entry, trained.seconds, time.monotonic() - began, bar)
            if training.stop is not None and training.stop(epoch):
                break
            due = stop.asked or time.monotonic() - saved >= checkpoint_s
            if checkpoint is not None and due and epoch + 1 < training.epochs:
                _save(training, checkpoint, trained)
                saved = time.monotonic()
                stop.obey(training.run, epoch + 1)
    return trained


def _train_epoch(
    training: Training, epoch: int, masked: tuple[list[Tensor], list[Tensor]], bar: _ProgressBar
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
            torch._foreach_mul_(*masked)
        for name, value in {"loss": loss.detach(), **parts}.items():
            sums[name] = sums.get(name, 0.0) + value * len(rows)
        seen += len(rows)
        bar.step()
    means = {name: value.item() / seen for name, value in sums.items()}
    if not all(map(_is_finite, means.values())):
        raise Diverged(
            f"Run {training.run} diverged: in epoch {epoch + 1} the loss is {means['loss']}. No "
            "weights were written. Lower its learning rate, or leave the run out."
        )
    return means


def _is_finite(value: float) -> bool:
    return value == value and abs(value) != float("inf")


def check_weights(run: str, network: Network) -> None:
    """Refuse weights that are not numbers, before they become a result."""
    for name, tensor in state_tensors(network).items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise Diverged(f"Run {run} diverged: {name} is not finite. No weights were written.")


@torch.no_grad()
def predict(network: Network, inputs: Inputs, part: Part) -> Tensor:
    """Logits of every row, in eval mode."""
    network.eval()
    return torch.cat([network(inputs.prepare(raw)) for raw in part.raw.split(EVALUATION_BATCH)])


def accuracy(network: Network, inputs: Inputs, part: Part) -> float:
    """Percent of rows whose label is predicted."""
    predicted = predict(network, inputs, part).argmax(dim=1)
    return 100.0 * (predicted == part.labels).double().mean().item()


def training_report(
    run: str,
    description: dict[str, Any],
    settings: Any,
    identity: dict[str, Any],
    trained: Trained,
    started: float,
) -> dict[str, Any]:
    """What the report of every training says; `times` alone may differ between two equal runs."""
    return {
        "run": run,
        "dataset": description["dataset"],
        "network": description["network"],
        "settings": asdict(settings),
        "identity": identity,
        "history": trained.history,
        "times": {
            "total_s": time.monotonic() - started,
            "training_s": trained.seconds,
            "resumed_at": trained.resumed_at,
        },
    }


# ---- checkpoints


def _save(training: Training, checkpoint: Checkpoint, trained: Trained) -> None:
    tensors = {f"network/{k}": t for k, t in state_tensors(training.network).items()}
    tensors |= optimiser_tensors(training.optimiser)
    tensors |= {f"generator/{k}": g.get_state() for k, g in training.generators.items()}
    tensors |= {f"kept/{k}": t for k, t in trained.kept.items()}
    facts: dict[str, Any] = {
        "history": trained.history,
        "seconds": trained.seconds,
        "resumed_at": trained.resumed_at,
    }
    if training.scaler is not None:
        facts["scaler"] = training.scaler.state_dict()
    checkpoint.save(tensors, facts)


def _resume(training: Training, checkpoint: Checkpoint, trained: Trained) -> int:
    """Take up a checkpoint if there is one; the number of epochs that are done."""
    device = next(training.network.parameters()).device
    loaded = checkpoint.load(device)
    if loaded is None:
        return 0
    tensors, facts = loaded

    def section(prefix: str) -> dict[str, Tensor]:
        return {k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)}

    training.network.load_state_dict(section("network/"))
    restore_optimiser(training.optimiser, tensors)
    for name, state in section("generator/").items():
        training.generators[name].set_state(state.cpu())
    if training.scaler is not None:
        training.scaler.load_state_dict(facts["scaler"])
    trained.kept = section("kept/")
    trained.history = facts["history"]
    trained.seconds = facts["seconds"]
    done = len(trained.history)
    trained.resumed_at = [*facts["resumed_at"], done + 1]
    log.info("%s: resumed from %s after epoch %d", training.run, checkpoint.path, done)
    return done


class _Stop:
    """SIGTERM, by which schedulers announce a kill: the epoch is finished and saved first.

    If that takes longer than the scheduler waits, the last regular checkpoint stands. A training
    that saves nothing (`can_save`) ends at once, as processes do.
    """

    def __init__(self, can_save: bool):
        self.can_save = can_save
        self.asked = False
        self.before = None

    def __enter__(self) -> _Stop:
        if self.can_save and threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGTERM, self._ask)
        return self

    def __exit__(self, *_) -> None:
        if self.before is not None:
            signal.signal(signal.SIGTERM, self.before)

    def _ask(self, *_) -> None:
        self.asked = True

    def obey(self, run: str, epoch: int) -> None:
        if self.asked:
            raise UserError(
                f"Run {run} was asked to stop (SIGTERM). It is saved after epoch {epoch} and "
                "continues from there when it is started again."
            )


# ---- progress


def _log_epoch(
    training: Training, entry: dict[str, float], total_s: float, epoch_s: float, bar: _ProgressBar
) -> None:
    if training.quiet:
        return
    epoch = int(entry["epoch"])
    left = total_s / epoch * (training.epochs - epoch)
    parts = ", ".join(f"{k} {v:.4f}" for k, v in entry.items() if k in ("sup", "nce"))
    valid = ""
    if "valid_accuracy" in entry:
        valid = f"valid {entry['valid_accuracy']:.2f} %"
        bar.describe(valid)
    log.info(
        "epoch %*d/%d  loss %.4f%s%s  %s samples/s  %s left",
        len(str(training.epochs)),
        epoch,
        training.epochs,
        entry["loss"],
        f" ({parts})" if parts else "",
        f"  {valid}" if valid else "",
        f"{training.n_rows / epoch_s:,.0f}",
        time.strftime("%H:%M:%S", time.gmtime(left)),
    )


class _ProgressBar:
    """A bar over all steps, where a person watches; else nothing."""

    def __init__(self, training: Training, start: int):
        self.bar = None
        if show_progress_bar and sys.stderr.isatty():
            from tqdm import tqdm

            per_epoch = n_batches(training.n_rows, training.batch_size)
            total = training.epochs * per_epoch
            self.bar = tqdm(total=total, initial=start * per_epoch, unit="step", desc=training.run)

    def __enter__(self) -> _ProgressBar:
        return self

    def __exit__(self, *_) -> None:
        if self.bar is not None:
            self.bar.close()

    def step(self) -> None:
        if self.bar is not None:
            self.bar.update()

    def describe(self, text: str) -> None:
        if self.bar is not None:
            self.bar.set_postfix_str(text)
