"""What the tuned baselines have in common: a search space, a trial, a refit, a prediction.

A learner is tuned on train, scored by balanced accuracy on valid, and then fitted again on both.
Each has its own module, which is imported only where it is needed: XGBoost's jobs don't need torch.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from iunet.artifacts import read_arrays, read_json
from iunet.baselines.catalog import LEARNERS
from iunet.data.preprocess import Preprocessing
from iunet.errors import UserError, one_line


@dataclass(frozen=True)
class Machine:
    """What a job may use."""

    device: str  # cpu or cuda
    threads: int


@dataclass(frozen=True)
class Attempt:
    """What one trial came to."""

    score: float  # balanced accuracy on valid, in percent
    fit_seconds: float  # of the trial's time, what went into fitting the model
    found: dict[str, int] = field(default_factory=dict)  # what the refit repeats: rounds, epochs
    flags: list[str] = field(default_factory=list)  # limits that the trial ran into


class Learner(Protocol):
    """A tuned baseline, holding the data of one data set."""

    def try_out(self, parameters: dict[str, Any], seed: int) -> Attempt:
        """Fit on train, score on valid."""

    def refit(
        self, parameters: dict[str, Any], found: dict[str, int], seed: int, model: str, **job: Any
    ) -> dict[str, Any]:
        """Fit on the rows of `job["parts"]`, write the model; facts about it for the report.

        `job` also has the run's name, and its checkpoint (None for learners without torch).
        """

    def predict(self, model: str, report: dict[str, Any], part: str) -> np.ndarray:
        """The labels that a written model predicts for `valid` or `test`."""


def learner_module(name: str) -> Any:
    """The module of a learner: `suggest(trial)` and the class `Learner`."""
    return importlib.import_module(LEARNERS[name].module)


@contextlib.contextmanager
def reading_model(model: str, learner: str) -> Iterator[None]:
    """Inside, a model of another learner, or one that does not fit its report, is refused."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        if type(error).__name__ == "OutOfMemoryError":  # torch's: the model may be whole
            raise
        raise UserError(
            f"{model} is no model of {learner}, or not the one that its report describes "
            f"({one_line(error)}). Delete both and run the same command again to rebuild them."
        ) from error


@dataclass
class Table:
    """A split table, read part by part as NumPy arrays."""

    files: dict[str, str]  # train, valid, (test,) preprocessing, split

    def __post_init__(self) -> None:
        self.preprocessing = Preprocessing.from_json(read_json(self.files["preprocessing"]))
        split = read_json(self.files["split"])
        self.dataset, self.n_classes = split["dataset"], split["n_classes"]

    def part(self, *names: str) -> dict[str, np.ndarray]:
        """`numeric`, `categorical` codes and `labels` of one part, or of several together."""
        parts = [read_arrays(self.files[name]) for name in names]
        return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
