"""What a job needs: seconds and memory of every stage, from data size, network, epochs and device.

Rules ask for memory and time by these formulas, iunet/runs/costs.py groups short jobs by them, and
`make cost` adds them up. Standard library only, since Snakemake asks at every start.

    seconds of a training = START + epochs · (steps · step + n_valid · forward)
    step    = kernels · LAUNCH + batch · sample + moved bytes / BANDWIDTH
              (on a GPU the launches, or the rest if it takes longer: they go on side by side)
    sample  = 3 · views · forward + AUGMENT         (AUGMENT: two views of images)
    forward = linear FLOPs / LINEAR + convolution FLOPs / CONV + units · UNIT
    kernels = a + b · layers, moved bytes = passes · parameters · 4, by objective
              (iunet/method/catalog.py; counted in tests/unit/test_fake_cuda.py)

    memory  = BASE + COPIES · data + parameters · 4 bytes · (weights, gradients, optimiser, θ†,
              the ensemble's members) + activations of a batch
    on the card = CONTEXT + data + parameters · 4 bytes · (weights, gradients, optimiser, masks, the
              ensemble's members) + activations of a batch

A job asks for MARGIN times that and a few minutes, times its attempt (iunet/runs/costs.py): the
second attempt of a job that was killed has twice as much, and a training continues from its
checkpoint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iunet.data.sizes import Data
    from iunet.method.catalog import Objective
    from iunet.networks.catalog import Size


MARGIN = 3  # of asked over estimated time: other processors, file systems, neighbours
MEMORY_MARGIN = 1.5
MOST_MEMORY = 4  # times the first attempt's
MINUTES = 3  # added for every job: a slow file system, a cold start
EVALUATION_BATCH = 1024  # as in iunet/scoring/prediction.py
IMAGE_KERNELS = 255  # of the transforms of a batch of images
CONTEXT_MB = 500  # of a GPU's memory: CUDA's own share and its libraries'
FEATURES_MB = 500  # h of all rows: 512 numbers each, of 240,000 rows


@dataclass(frozen=True)
class Speed:
    """How fast one kind of device is; with a CPU per thread."""

    start_s: float  # imports, reading, writing
    launch_s: float  # of one kernel, however small
    linear: float  # FLOP per second
    conv: float
    unit_s: float  # per hidden unit and sample, forward: BatchNorm, ReLU
    augment_s: float  # per image
    tree_s: float  # XGBoost: per tree, input and row
    bandwidth: float  # bytes per second; of a CPU it is a part of the rates above
    base_mb: float  # of the process on the host, before data


# The CPU's are measured (an AMD EPYC, one thread, torch 2.13). **The GPU's are assumptions**, of a
# card with about 20 TFLOPS in float32 and 450 GB/s (an RTX 3070): none was at hand.
SPEEDS = {
    "cpu": Speed(5, 10e-6, 60e9, 25e9, 3e-9, 140e-6, 1.2e-8, math.inf, 400),
    "cuda": Speed(10, 12e-6, 10e12, 6e12, 2e-11, 2e-6, 1e-9, 350e9, 3000),
}


@dataclass(frozen=True)
class Cost:
    """An estimate, and what a job asks for by it."""

    seconds: float
    mem_mb: float
    gpu_mb: float = 0.0  # on the card, if the job computes there

    def asked_mem_mb(self, attempt: int) -> int:
        """Rounded up to 100, so that a scheduler sees few different sizes.

        It stops growing: where jobs may not be requeued, attempts continue them, and may be many.
        """
        return min(attempt, MOST_MEMORY) * 100 * math.ceil(MEMORY_MARGIN * self.mem_mb / 100)

    def asked_minutes(self) -> int:
        """Of the first attempt."""
        return MINUTES + math.ceil(MARGIN * self.seconds / 60)


@dataclass(frozen=True)
class Epochs:
    """How long a training takes, and how many networks it keeps."""

    epochs: int
    batch_size: int
    members: int = 0


def download_cost(data: Data) -> Cost:
    """Reading, checking, writing (from a mirror 8 s and 0.3 GB for fashion-mnist); no network."""
    return Cost(10 + data.n_rows * data.n_inputs / 2e6, 300 + 4 * data.mb)


def split_cost(data: Data) -> Cost:
    """Measured: 13 s and 0.5 GB for fashion-mnist (70,000 × 784), 4 s and 0.3 GB for others."""
    return Cost(5 + data.n_rows * data.n_inputs / 5e6, 300 + 4 * data.mb)


def initial_cost(size: Size) -> Cost:
    return Cost(5 + size.parameters / 20e6, 400 + 3 * _mb(size.parameters))


def prune_cost(size: Size) -> Cost:
    return Cost(1 + size.parameters / 30e6, 200 + 4 * _mb(size.parameters))


def training_cost(
    data: Data, size: Size, epochs: Epochs, objective: Objective, device: str
) -> Cost:
    """A supernet, or a fine-tuning, of which `objective` is L_sup."""
    speed, views, batch_size = SPEEDS[device], objective.views, epochs.batch_size
    forward = _forward(size, speed)
    augment = speed.augment_s if data.side and views > 1 else 0.0
    steps = math.ceil(data.n_train / batch_size)
    launches = steps * kernels(size.layers, objective, bool(data.side)) * speed.launch_s
    computing = data.n_train * (3 * views * forward + augment)
    computing += steps * 1e6 * moved_mb(size, objective) / speed.bandwidth
    # A GPU computes while the host starts the next kernels.
    epoch = max(launches, computing) if device == "cuda" else launches + computing
    seconds = speed.start_s + epochs.epochs * (epoch + data.n_valid * forward)
    rows = 2 * max(3 * views * batch_size, EVALUATION_BATCH)
    # Weights, gradients, momentum; half of a copy to look for NaN; masks, members of the ensemble.
    card_mb = _on_card(data, size, 4 + 2 * epochs.members, rows)
    return Cost(seconds, _memory(data, size, 5 + epochs.members, rows, speed), card_mb)


def decoder_cost(data: Data, size: Size, epochs: Epochs, objective: Objective, device: str) -> Cost:
    """One pass through the encoder, as in an evaluation, then steps of a single layer."""
    speed = SPEEDS[device]
    steps = epochs.epochs * math.ceil(data.n_train / epochs.batch_size)
    encoding = (data.n_train + data.n_valid) * _forward(size, speed)
    seconds = speed.start_s + encoding + steps * kernels(1, objective) * speed.launch_s
    return Cost(seconds, evaluate_cost(data, size, epochs.members, device).mem_mb + FEATURES_MB)


def evaluate_cost(data: Data, size: Size, members: int, device: str) -> Cost:
    """One network, trained and not: metrics on valid and test, consistency on train and test.

    Untrained it is measured with θ† and, of a subnetwork, with fresh weights.
    """
    speed = SPEEDS[device]
    transforms = 4 if data.side else 1
    trained = members * (data.n_valid + (1 + transforms) * data.n_test)
    untrained = 4 * (data.n_train + (1 + transforms) * data.n_test)
    augmented = 5 * transforms * data.n_test * speed.augment_s if data.side else 0.0
    seconds = speed.start_s + (trained + untrained) * _forward(size, speed) + augmented
    card_mb = _on_card(data, size, 2 + members, 2 * EVALUATION_BATCH)
    return Cost(seconds, _memory(data, size, 4 + members, EVALUATION_BATCH, speed), card_mb)


def tune_cost(trials: int, trial: Cost, minutes: float | None, workers: int) -> Cost:
    """A worker's share of a study: its trials one after the other, or the minutes of its budget."""
    seconds = trials * trial.seconds
    if minutes is not None:
        seconds = min(seconds, 60 * minutes + trial.seconds)
    return Cost(10 + seconds / workers, trial.mem_mb + 200, trial.gpu_mb)


def kernels(layers: int, objective: Objective, images: bool = False) -> int:
    """Kernels that a training step launches; each launch takes time, however small the network."""
    fixed, each = objective.kernels
    transforms = IMAGE_KERNELS if images and objective.views > 1 else 0
    return fixed + each * layers + transforms


def moved_mb(size: Size, objective: Objective) -> float:
    """Megabytes of weights, gradients and momentum that a step moves through a GPU's memory."""
    return objective.passes * _mb(size.parameters)


def _forward(size: Size, speed: Speed) -> float:
    """Seconds of one sample."""
    linear, conv = size.linear_flops / speed.linear, size.conv_flops / speed.conv
    return linear + conv + size.units * speed.unit_s


def _memory(data: Data, size: Size, copies: int, rows: int, speed: Speed) -> float:
    """Two copies of the data, `copies` of the parameters, and the activations of `rows` rows."""
    return speed.base_mb + 2 * data.mb + copies * _mb(size.parameters) + _mb(rows * size.units)


def _on_card(data: Data, size: Size, copies: int, rows: int) -> float:
    """The same on a GPU, where data lie once; with CUDA's own share."""
    return CONTEXT_MB + data.mb + copies * _mb(size.parameters) + _mb(rows * size.units)


def _mb(numbers: int) -> float:
    return 4 * numbers / 1e6
