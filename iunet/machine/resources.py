"""What a job needs: seconds and memory of every stage, from data size, network, epochs and device.

The one place for it: rules ask for memory and time by it, the slurm profile groups short jobs by
it, and `make cost` adds it up. Standard library only, since Snakemake asks at every start.

    seconds of a training = START + epochs · (steps · step + n_valid · forward)
    step    = kernels · LAUNCH + batch · sample     (on a GPU the larger of both, side by side)
    sample  = 3 · views · forward + AUGMENT         (AUGMENT: two views of images)
    forward = linear FLOPs / LINEAR + convolution FLOPs / CONV + units · UNIT
    kernels = a + b · layers, by objective (iunet/method/catalog.py)

    memory  = BASE + COPIES · data + parameters · 4 bytes · (weights, gradients, optimiser, θ†,
              the ensemble's members) + activations of a batch

A job asks for MARGIN times that and a few minutes, times its attempt (iunet/runs/costs.py): a job
that was killed for time or memory comes back with twice as much, and training goes on from its
checkpoint.

The speeds are constants (iunet/machine/speeds.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iunet.machine.speeds import SPEEDS, Speed

if TYPE_CHECKING:
    from iunet.data.sizes import Data
    from iunet.method.catalog import Objective
    from iunet.networks.catalog import Size


MARGIN = 3  # time asked for over time estimated: other processors, file systems, neighbours
MEMORY_MARGIN = 1.5
MOST_MEMORY = 4  # times that of the first attempt
MINUTES = 3  # asked for on top, in every job: a slow file system, a cold start
EVALUATION_BATCH = 1024  # as in iunet/scoring/prediction.py
# Stages that save what they have before their time is up and go on in the next job
# (iunet/machine/time_limit.py). Their time need not grow with the attempt.
RESUMED = ("supernet", "finetune", "train_dense", "tune")
IMAGE_KERNELS = 60  # of the transforms of a batch of images
FEATURES_MB = 500  # h of all rows: 512 numbers each, of 240,000 rows


@dataclass(frozen=True)
class Cost:
    """An estimate, without margins."""

    seconds: float
    mem_mb: float

    def __add__(self, other: Cost) -> Cost:
        """One after the other."""
        return Cost(self.seconds + other.seconds, max(self.mem_mb, other.mem_mb))


def asked_mem_mb(cost: Cost, attempt: int) -> int:
    """Rounded up to 100, so that a scheduler sees few different sizes.

    Where jobs may not go back into the queue, attempts only continue them: there may be many.
    """
    return min(attempt, MOST_MEMORY) * 100 * math.ceil(MEMORY_MARGIN * cost.mem_mb / 100)


def asked_minutes(cost: Cost) -> int:
    """Of the first attempt."""
    return MINUTES + math.ceil(MARGIN * cost.seconds / 60)


# ---- stages


def download_cost(data: Data) -> Cost:
    """Reading, checking, writing (from a mirror 8 s and 0.3 GB for fashion-mnist); no network."""
    return Cost(10 + data.n_rows * data.n_inputs / 2e6, 300 + 4 * data_mb(data))


def split_cost(data: Data) -> Cost:
    """Measured: 13 s and 0.5 GB for fashion-mnist (70,000 × 784), 4 s and 0.3 GB for others."""
    return Cost(5 + data.n_rows * data.n_inputs / 5e6, 300 + 4 * data_mb(data))


def initial_cost(size: Size) -> Cost:
    return Cost(5 + size.parameters / 20e6, 400 + 3 * _mb(size.parameters))


def prune_cost(size: Size) -> Cost:
    return Cost(1 + size.parameters / 30e6, 200 + 4 * _mb(size.parameters))


def select_cost() -> Cost:
    return Cost(1, 150)


@dataclass(frozen=True)
class Epochs:
    """How long a training takes, and how many networks it keeps."""

    epochs: int
    batch_size: int
    members: int = 1


def supernet_cost(
    data: Data, size: Size, epochs: Epochs, objective: Objective, device: str
) -> Cost:
    return _training(data, size, epochs, objective, 4, device)


def finetune_cost(
    data: Data, size: Size, epochs: Epochs, objective: Objective, device: str
) -> Cost:
    """`objective` is L_sup; AdamW keeps one array more than SGD."""
    return _training(data, size, epochs, objective, 5 + epochs.members, device)


def decoder_cost(data: Data, size: Size, epochs: Epochs, objective: Objective, device: str) -> Cost:
    """One pass through the encoder, as in an evaluation, then steps of a single layer."""
    speed = SPEEDS[device]
    steps = epochs.epochs * math.ceil(data.n_train / epochs.batch_size)
    encoding = (data.n_train + data.n_valid) * _forward(size, speed)
    seconds = speed.start_s + encoding + steps * kernels(1, objective) * speed.launch_s
    return Cost(seconds, evaluate_cost(data, size, epochs.members, device).mem_mb + FEATURES_MB)


def evaluate_cost(data: Data, size: Size, members: int, device: str) -> Cost:
    """One network, trained and not: metrics on valid and test, consistency on train and test."""
    speed = SPEEDS[device]
    transforms = 4 if data.side else 1
    trained = members * (data.n_valid + (1 + transforms) * data.n_test)
    untrained = data.n_train + (1 + transforms) * data.n_test
    augmented = 2 * transforms * data.n_test * speed.augment_s if data.side else 0.0
    seconds = speed.start_s + (trained + untrained) * _forward(size, speed) + augmented
    copies = 4 + members
    activations = EVALUATION_BATCH * size.units * 4 / 1e6
    memory = speed.base_mb + 2 * data_mb(data) + copies * _mb(size.parameters) + activations
    return Cost(seconds, memory)


# ---- groups


SMALL_S, LARGE_S = 5 * 60, 60 * 60  # of a supernet with a fine-tuning; of a fine-tuning

# size → rule → group; jobs of one group that depend on each other are submitted as one. Small: a
# supernet and a fine-tuning take minutes, so all of a seed become one job; medium: a cut with its
# evaluation is a job; large: every training is a job of its own.
GROUPS = {
    "small": dict.fromkeys(
        ("initialise", "supernet", "prune", "finetune", "evaluate", "evaluate_supernet",
         "train_dense", "evaluate_dense", "decoder"),
        "small",
    ),
    "medium": {
        "initialise": "initials",
        "prune": "cuts",
        "finetune": "cuts",
        "evaluate": "cuts",
        "train_dense": "dense",
        "evaluate_dense": "dense",
    },
    "large": {"initialise": "initials", "prune": "cut", "finetune": "cut"},
}  # fmt: skip
SPLIT_GROUPS = {"split_table": "splits", "split_images": "splits"}
TUNED_GROUPS = {"refit": "tuned", "evaluate_tuned": "tuned"}  # minutes; a study is a job by itself


# ---- tuned baselines


def tune_cost(trials: int, trial: Cost, minutes: float | None, workers: int) -> Cost:
    """A worker's share of a study: its trials one after the other, or the minutes of its budget."""
    seconds = trials * trial.seconds
    if minutes is not None:
        seconds = min(seconds, 60 * minutes + trial.seconds)
    return Cost(10 + seconds / workers, trial.mem_mb + 200)


def kernels(layers: int, objective: Objective, images: bool = False) -> int:
    """That a training step starts: each costs its launch, however small the network."""
    fixed, each = objective.kernels
    transforms = IMAGE_KERNELS if images and objective.views > 1 else 0
    return fixed + each * layers + transforms


def _training(
    data: Data, size: Size, epochs: Epochs, objective: Objective, copies: int, device: str
) -> Cost:
    speed, views, batch_size = SPEEDS[device], objective.views, epochs.batch_size
    forward = _forward(size, speed)
    augment = speed.augment_s if data.side and views > 1 else 0.0
    steps = math.ceil(data.n_train / batch_size)
    launches = steps * kernels(size.layers, objective, bool(data.side)) * speed.launch_s
    computing = data.n_train * (3 * views * forward + augment)
    # A GPU computes while the host starts the next kernels.
    epoch = max(launches, computing) if device == "cuda" else launches + computing
    seconds = speed.start_s + epochs.epochs * (epoch + data.n_valid * forward)
    units = max(3 * views * batch_size, EVALUATION_BATCH) * size.units
    activations = 2 * units * 4 / 1e6
    memory = speed.base_mb + 2 * data_mb(data) + copies * _mb(size.parameters) + activations
    return Cost(seconds, memory)


def _forward(size: Size, speed: Speed) -> float:
    """Seconds of one sample."""
    linear, conv = size.linear_flops / speed.linear, size.conv_flops / speed.conv
    return linear + conv + size.units * speed.unit_s


def _mb(parameters: int) -> float:
    return 4 * parameters / 1e6


def data_mb(data: Data) -> float:
    return data.n_rows * data.bytes_per_row / 1e6
