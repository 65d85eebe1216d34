"""The catalogs of objectives, scores and learning-rate schedules.

A new one is a function in a file of its own and an entry here; paths, the config's schema and the
estimates of time ask these entries. A name is what a config and a path call the entry. Standard
library only, since Snakemake reads it at every start: functions are named as `module:function` and
imported in the job that uses them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Objective:
    """A loss by which supernets are trained."""

    loss: str  # of a network and a Batch (iunet/method/objectives.py)
    label: str  # for people
    views: int = 1  # 2: it also sees transformed rows
    trains_decoder: bool = True  # else one is trained afterwards, on the frozen encoder
    weighted: bool = False  # λ weighs its terms
    # Of a step, as tests/unit/test_fake_cuda.py counts: fixed kernels, and those of each layer; and
    # how often all weights go through a GPU's memory.
    kernels: tuple[int, int] = (85, 14)
    passes: int = 10


@dataclass(frozen=True)
class Score:
    """A ranking of weights, by which a mask keeps the first n/r of them."""

    masks: str  # from weights, initial weights, their names and the ratio to boolean masks


@dataclass(frozen=True)
class ScheduleEntry:
    """A learning rate over time."""

    make: str  # from a fine-tuning's recipe to a Schedule (iunet/training/schedule.py)
    needs: tuple[str, ...] = ()  # keys of the recipe, which not every kind of data has


OBJECTIVES = {
    "sup": Objective("iunet.method.objectives:supervised", "sup", kernels=(15, 8), passes=9),
    "scl": Objective(
        "iunet.method.objectives:contrastive",
        "SCL",
        views=2,
        trains_decoder=False,
        kernels=(72, 14),
    ),
    "ilo": Objective(
        "iunet.method.objectives:invariance", "ILO", views=2, weighted=True, kernels=(85, 14)
    ),
}
LASSO = "lasso"  # L_sup with an optimiser of its own; a path holds its l1 behind the name
BETA_LASSO = Objective("iunet.method.objectives:supervised", "β-LASSO", kernels=(17, 9), passes=16)
# L_sup with masks, as fine-tunings minimise it; with 16 bits numbers are converted on the way.
FINETUNING = replace(OBJECTIVES["sup"], passes=12)
IN_HALF_PRECISION = replace(FINETUNING, kernels=(16, 14), passes=16)

SCORES = {  # the first is the default, which a path leaves out
    "magnitude": Score("iunet.method.pruning:by_magnitude"),
    "relative": Score("iunet.method.pruning:by_relative_magnitude"),
    "layerwise": Score("iunet.method.pruning:by_magnitude_in_layer"),
}

SCHEDULES = {
    "constant": ScheduleEntry("iunet.training.schedule:constant"),
    "restarts": ScheduleEntry(
        "iunet.training.schedule:restarts", ("first_cycle_epochs", "cycle_factor", "cycles")
    ),
}


def objective_entry(name: str) -> Objective:
    """The objective of a supernet, β-LASSO's included."""
    return BETA_LASSO if name == LASSO else OBJECTIVES[name]


def load(function: str) -> Callable[..., Any]:
    """The function that an entry names."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)


def module_of(function: str) -> str:
    return function.partition(":")[0]
