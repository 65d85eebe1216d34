"""The catalog of tuned learners: the file, search space, packages and cost of each.

A new learner needs an entry here, a module with `suggest(trial)` and a class `Learner` (see
`learner`), and its limits in the config's section `tuning`. Standard library only, since Snakemake
reads it at every start. No result depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from iunet.machine.resources import CONTEXT_MB, SPEEDS, Cost, Epochs, training_cost
from iunet.method.catalog import FINETUNING
from iunet.networks.catalog import network_entry
from iunet.training.schedule import schedule_of

if TYPE_CHECKING:
    from iunet.data.sizes import Data

XGB_ROUNDS = 60  # of a typical trial, which early stopping ends: assumed
XGB_ROWS = 23_000  # as many rows cost as much as what a tree costs without any: measured
TABNET_EPOCHS, TABNET_BATCH = 60, 2048  # of a typical trial, which patience ends
TABNET_LARGEST = 32_768  # batch of a trial
# Of a step, as tests/unit/test_fake_cuda.py counts them: 6 decision steps and two ghost batches;
# about half of a cocktail's switches on.
TABNET_KERNELS = 2000
TABNET_KEEPS = 560_000  # bytes for each row of a batch, in the largest trial: 10 steps, n_a = 128
MLP_C_KERNELS = 150


@dataclass(frozen=True)
class LearnerEntry:
    """What is known of a tuned learner without importing it."""

    module: str  # has `suggest` and `Learner`
    label: str  # for people, the paper's
    hyperparameters: int  # D of the paper's budget of 40·D trials
    packages: tuple[str, ...]  # its reports name their versions
    torch: bool  # trains with torch: its threads, devices and checkpoints
    trial_cost: Callable[[dict[str, Any], Data, str], Cost]  # from settings, data and device
    class_weights: str = "none"  # or balanced: as in its own paper


def _xgb(settings: dict[str, Any], data: Data, device: str) -> Cost:
    """By trees, inputs and rows. Each class has its own trees, but two classes share theirs."""
    trees = XGB_ROUNDS * (1 if data.n_classes == 2 else data.n_classes)
    seconds = 1 + trees * data.n_inputs * (XGB_ROWS + data.n_train) * SPEEDS[device].tree_s
    return _within_limit(seconds, settings, data, device)


def _tabnet(settings: dict[str, Any], data: Data, device: str) -> Cost:
    """By rows on a CPU; by kernels on a GPU, with few, large batches. None was fitted."""
    if device == "cuda":
        steps = TABNET_EPOCHS * math.ceil(data.n_train / TABNET_BATCH)
        seconds = 1 + steps * TABNET_KERNELS * SPEEDS[device].launch_s
    else:
        seconds = 10 + data.n_train * data.n_inputs * 3e-5
    card_mb = CONTEXT_MB + data.mb + min(data.n_train, TABNET_LARGEST) * TABNET_KEEPS / 1e6
    return _within_limit(seconds, settings, data, device, card_mb)


def _within_limit(
    seconds: float, settings: dict[str, Any], data: Data, device: str, card_mb: float = 0.0
) -> Cost:
    limit_s = 60 * (settings["trial_minutes"] or math.inf)
    return Cost(min(seconds, limit_s), SPEEDS[device].base_mb + 6 * data.mb, card_mb)


def _mlp_c(settings: dict[str, Any], data: Data, device: str) -> Cost:
    """As a fine-tuning of a network of nine layers of its width."""
    size = network_entry("mlp_tab").size({"width": settings["width"], "depth": 9}, data)
    epochs = Epochs(schedule_of(settings).epochs, 128, settings["cycles"])
    step = replace(FINETUNING, kernels=(MLP_C_KERNELS, 0))
    return training_cost(data, size, epochs, step, device)


LEARNERS = {
    "xgb": LearnerEntry("iunet.baselines.xgb", "XGB", 15, ("xgboost",), False, _xgb),
    "tabnet": LearnerEntry(
        "iunet.baselines.tabnet", "TABN", 11, ("torch", "pytorch-tabnet"), True, _tabnet
    ),
    "mlp_c": LearnerEntry(
        "iunet.baselines.mlp_c", "MLP_TAB+C", 19, ("torch",), True, _mlp_c, class_weights="balanced"
    ),
}
