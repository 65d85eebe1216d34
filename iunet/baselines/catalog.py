"""The catalog of tuned learners: for each its file, its space's size, its packages, its cost.

A new learner is an entry here and a module with `suggest(trial)` and a class `Learner` (see
`learner`), and its limits in the config's section `tuning`. Standard library only, since Snakemake
reads it at every start; no result depends on what stands here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iunet.machine.resources import SPEEDS, Cost, data_mb, finetune_cost
from iunet.networks.catalog import network_entry

if TYPE_CHECKING:
    from iunet.data.sizes import Data


@dataclass(frozen=True)
class LearnerEntry:
    """What is known of a tuned learner without importing it."""

    module: str  # has `suggest` and `Learner`
    label: str  # for people, the paper's
    hyperparameters: int  # D of the paper's budget of 40·D trials
    packages: tuple[str, ...]  # whose versions its reports name
    torch: bool  # trains with torch: its threads, devices and checkpoints
    trial_cost: Callable[[dict[str, Any], Data, str], Cost]  # from settings, data and device


def _by_rows(fixed: float, each: float, faster_on_gpu: float) -> Callable[..., Cost]:
    """Seconds of a trial on a CPU, and per train row × input: assumptions, none was fitted."""

    def cost(settings: dict[str, Any], data: Data, device: str) -> Cost:
        faster = faster_on_gpu if device == "cuda" else 1
        seconds = fixed + data.n_train * data.n_inputs * each / faster
        return Cost(seconds, SPEEDS[device].base_mb + 6 * data_mb(data))

    return cost


def _mlp_c(settings: dict[str, Any], data: Data, device: str) -> Cost:
    """As a fine-tuning of a network of nine layers of its width."""
    size = network_entry("mlp_tab").size({"width": settings["width"], "depth": 9}, data)
    fine_tuning = {**settings, "batch_size": 128, "snapshot_ensemble": True}
    return finetune_cost(data, size, fine_tuning, device)


LEARNERS = {
    "xgb": LearnerEntry(
        "iunet.baselines.xgb", "XGB", 15, ("xgboost",), False, _by_rows(2.0, 4e-6, 1)
    ),
    "tabnet": LearnerEntry(
        "iunet.baselines.tabnet",
        "TABN",
        11,
        ("torch", "pytorch-tabnet"),
        True,
        _by_rows(10.0, 3e-5, 5),
    ),
    "mlp_c": LearnerEntry("iunet.baselines.mlp_c", "MLP_TAB+C", 19, ("torch",), True, _mlp_c),
}
