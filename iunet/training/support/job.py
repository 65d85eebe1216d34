"""A training as a job: its name, where it runs, and where it saves what it has."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from iunet.training.support.checkpoint import Checkpoint
from iunet.training.support.environment import describe_environment

if TYPE_CHECKING:
    from iunet.training.loop import Trained


@dataclass
class Job:
    """What a training stage needs besides its files and settings."""

    run: str  # its name, for logs, reports and errors
    device: torch.device
    identity: dict[str, Any]  # of the run: checkpoints of other runs are refused
    checkpoint_s: float = 60.0  # seconds between checkpoints
    validate_every: int = 1  # epochs between two validations, for the log
    started: float = field(default_factory=time.monotonic)
    continued: Checkpoint | None = None  # from which the training may have continued

    def checkpoint(self, output: str | Path, name: str) -> Checkpoint:
        path = Path(output).with_name(f"{name}.checkpoint")
        self.continued = Checkpoint(path, self.identity, self.checkpoint_s)
        return self.continued

    def report(self, description: dict[str, Any], settings: Any, trained: Trained) -> dict:
        """What the report of every training says; `times` alone may differ between equal runs."""
        earlier_s = self.continued.earlier_s if self.continued else 0.0
        return {
            "run": self.run,
            "dataset": description["dataset"],
            "network": description["network"],
            "settings": asdict(settings),
            "history": trained.history,
            "times": {
                "total_s": earlier_s + time.monotonic() - self.started,
                "training_s": trained.seconds,
                "resumed_at": trained.resumed_at,
            },
            "environment": describe_environment(self.device),
        }
