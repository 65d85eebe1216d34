"""MLP+C as a tuned baseline (Kadra et al. 2021); the cocktail itself is in `cocktail/`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from iunet.artifacts import read_json
from iunet.baselines.cocktail.space import from_parameters, suggest
from iunet.baselines.cocktail.train import fit, load_model, predict_probabilities, save_model
from iunet.baselines.learner import Attempt, Machine, Table, reading_model
from iunet.data.load import Part, joined, load_part, make_inputs
from iunet.scoring.scores import balanced_accuracy
from iunet.training.support.checkpoint import Checkpoint

__all__ = ["Learner", "suggest"]


class Learner:
    def __init__(self, table: Table, settings: dict[str, Any], machine: Machine):
        self.table, self.settings = table, settings
        self.device = torch.device(machine.device)
        self.preprocessing = read_json(table.files["preprocessing"])
        self.parts: dict[str, Part] = {}

    def part(self, name: str) -> Part:
        if name not in self.parts:
            self.parts[name] = load_part(self.table.files[name], self.device)
        return self.parts[name]

    def inputs(self) -> Any:
        return make_inputs(self.preprocessing, self.device)

    def try_out(self, parameters: dict[str, Any], seed: int) -> Attempt:
        train, valid = self.part("train"), self.part("valid")
        started = time.monotonic()
        cocktail = from_parameters(parameters, **self.settings)
        fitted = fit(
            cocktail,
            train,
            valid,
            self.inputs(),
            self.table.n_classes,
            self.device,
            seed,
            "trial",
            quiet=True,
        )
        predicted = fitted.valid_probabilities.argmax(dim=1).cpu().numpy()
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
        fitted = fit(
            from_parameters(parameters, **self.settings),
            rows,
            None,
            self.inputs(),
            self.table.n_classes,
            self.device,
            seed,
            run,
            checkpoint,
        )
        facts = save_model(model, fitted.model)
        sizes = {key: facts[key] for key in ("parameters", "members")}
        return {**facts, "sizes": sizes, "history": fitted.history}

    def predict(self, model: str, report: dict[str, Any], part: str) -> np.ndarray:
        rows = self.part(part)
        with reading_model(model, "MLP_TAB+C"):
            loaded = load_model(model, report["model"], self.device)
        return predict_probabilities(loaded, self.inputs(), rows).argmax(dim=1).cpu().numpy()
