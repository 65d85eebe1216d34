"""Learning rates over time (entries of SCHEDULES in iunet/method/catalog.py name these functions).

A recipe is a fine-tuning's settings: `lr`, and `epochs` or the keys of cycles. Standard library
only, since Snakemake asks at every start how long a training takes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from iunet.method.catalog import SCHEDULES, ScheduleEntry, load

Recipe = Mapping[str, Any]


@dataclass(frozen=True)
class Schedule:
    """How long a training takes, and its learning rate on the way."""

    epochs: int
    lr_at: Callable[[float], float] | None = None  # at an epoch with fraction; None: constant
    cycle_ends: tuple[int, ...] = ()  # epochs after which a snapshot may be taken

    def member_epochs(self, snapshot_ensemble: bool) -> list[int]:
        """The epochs after which the network becomes a member of the result."""
        ensemble = snapshot_ensemble and self.cycle_ends
        return list(self.cycle_ends) if ensemble else [self.epochs]


def constant(recipe: Recipe) -> Schedule:
    return Schedule(total_epochs(recipe))


def restarts(recipe: Recipe) -> Schedule:
    """Cosine annealing from lr to 0 in cycles, each `cycle_factor` times as long as the last."""
    lr, ends = recipe.get("lr", 0.0), _cycle_ends(recipe)

    def lr_at(epoch: float) -> float:
        start = 0
        for end in ends:
            if epoch < end:
                return lr / 2 * (1 + math.cos(math.pi * (epoch - start) / (end - start)))
            start = end
        return 0.0

    return Schedule(ends[-1], lr_at, ends)


def _cycle_ends(recipe: Recipe) -> tuple[int, ...]:
    """The epochs after which a cycle ends: 15, 45, 105."""
    lengths = (
        recipe["first_cycle_epochs"] * recipe["cycle_factor"] ** k for k in range(recipe["cycles"])
    )
    return tuple(itertools.accumulate(lengths))


def schedule_of(recipe: Recipe) -> Schedule:
    """The schedule of a fine-tuning."""
    return load(schedule_entry(recipe).make)(recipe)


def schedule_entry(recipe: Recipe) -> ScheduleEntry:
    """The entry of the catalog that a recipe means."""
    return SCHEDULES[recipe.get("schedule") or usual_schedule(recipe)]


def usual_schedule(recipe: Recipe) -> str:
    """The name of the schedule that a recipe means if it names none."""
    return "restarts" if recipe.get("cycles") else "constant"


def total_epochs(recipe: Recipe) -> int:
    """The epochs of a recipe, whether it counts them or cycles."""
    return _cycle_ends(recipe)[-1] if recipe.get("cycles") else recipe["epochs"]
