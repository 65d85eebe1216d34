"""MLP+C as a tuned baseline (Kadra et al. 2021); the cocktail itself is in `cocktail/`."""

from __future__ import annotations

import functools
import time
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from iunet.artifacts import read_json
from iunet.baselines.cocktail.settings import Cocktail, from_parameters, suggest
from iunet.baselines.cocktail.train import Model, fit
from iunet.baselines.learner import Attempt, Machine, Table, reading_model
from iunet.data.load import joined, load_part, make_inputs
from iunet.scoring.scores import balanced_accuracy
from iunet.training.members import read_members, write_members
from iunet.training.support.checkpoint import Checkpoint

__all__ = ["Learner", "suggest"]


class Learner:
    def __init__(self, table: Table, settings: dict[str, Any], machine: Machine):
        self.settings, self.n_classes = settings, table.n_classes
        self.device = device = torch.device(machine.device)
        self.inputs = make_inputs(read_json(table.files["preprocessing"]), device)
        self.part = functools.cache(lambda name: load_part(table.files[name], device))

    def try_out(self, parameters: dict[str, Any], seed: int) -> Attempt:
        train, valid = self.part("train"), self.part("valid")
        started = time.monotonic()
        cocktail = from_parameters(parameters, **self.settings)
        model, _ = fit(cocktail, train, self.inputs, self.n_classes, seed, "trial", quiet=True)
        predicted = model.probabilities(self.inputs, valid).argmax(dim=1).cpu().numpy()
        score = balanced_accuracy(valid.labels.cpu().numpy(), predicted)
        return Attempt(score, time.monotonic() - started)

    def refit(
        self,
        parameters: dict[str, Any],
        found: dict[str, int],
        seed: int,
        model: str,
        run: str,
        checkpoint: Checkpoint,
        parts: tuple[str, ...],
    ) -> dict[str, Any]:
        rows = joined(*map(self.part, parts))
        cocktail = from_parameters(parameters, **self.settings)
        fitted, trained = fit(cocktail, rows, self.inputs, self.n_classes, seed, run, checkpoint)
        write_members(model, fitted.members, {})
        sizes = {
            "parameters": sum(p.numel() for p in fitted.empty_network().parameters()),
            "members": len(fitted.members),
        }
        return {
            "name": "mlp_c",
            "n_inputs": fitted.n_inputs,
            "n_classes": self.n_classes,
            **sizes,
            "cocktail": asdict(cocktail),
            "sizes": sizes,
            "history": trained.history,
        }

    def predict(self, model: str, report: dict[str, Any], part: str) -> np.ndarray:
        rows = self.part(part)
        with reading_model(model, "MLP_TAB+C"):
            facts, members = report["model"], read_members(model, {}, self.device)
            cocktail = Cocktail(**facts["cocktail"])
            loaded = Model(cocktail, facts["n_inputs"], facts["n_classes"], members)
        return loaded.probabilities(self.inputs, rows).argmax(dim=1).cpu().numpy()
