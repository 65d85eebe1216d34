"""TabNet (Arik and Pfister 2021), with the search space of Kadra et al. 2021.

The network is pytorch-tabnet's; it is trained by our own loop, which keeps the data on the device
and, unlike pytorch-tabnet's, does not drop a last, smaller batch. (There, a batch larger than the
data trains nothing, without a word.) Categorical columns are embedded in one dimension each, as
pytorch-tabnet does by default; a category that train never had is a level of its own.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from pytorch_tabnet.tab_network import TabNet
from torch import Tensor, nn

from iunet.artifacts import read_arrays, write_tensors
from iunet.baselines.learner import Attempt, Machine, Table, reading_model
from iunet.data.load import Part, joined, load_part
from iunet.method.objectives import balanced_class_weights
from iunet.networks.network import state_tensors
from iunet.scoring.prediction import predict
from iunet.scoring.scores import balanced_accuracy
from iunet.training.loop import Training, check_weights, n_batches, stream, train
from iunet.training.support.checkpoint import Checkpoint

if TYPE_CHECKING:
    import optuna

BATCHES = [256 * 2**k for k in range(8)]  # up to 32768
VIRTUAL_BATCHES = [256 * 2**k for k in range(5)]  # up to 4096
CLIP = 1.0  # of the gradient's norm, pytorch-tabnet's default
TIME_LIMIT, EPOCHS_LIMIT = "time limit", "epochs limit"


def suggest(trial: optuna.Trial) -> dict[str, Any]:
    return {
        "n_a": trial.suggest_categorical("n_a", [8, 16, 24, 32, 64, 128]),  # and n_d
        "lr": trial.suggest_categorical("lr", [0.005, 0.01, 0.02, 0.025]),
        "gamma": trial.suggest_categorical("gamma", [1.0, 1.2, 1.5, 2.0]),
        "n_steps": trial.suggest_int("n_steps", 3, 10),
        "lambda_sparse": trial.suggest_categorical(
            "lambda_sparse", [0, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1]
        ),
        "batch_size": trial.suggest_categorical("batch_size", BATCHES),
        "virtual_batch_size": trial.suggest_categorical("virtual_batch_size", VIRTUAL_BATCHES),
        "decay_rate": trial.suggest_categorical("decay_rate", [0.4, 0.8, 0.9, 0.95]),
        "decay_iterations": trial.suggest_categorical(
            "decay_iterations", [500, 2000, 8000, 10000, 20000]
        ),
        "momentum": trial.suggest_categorical("momentum", [0.4, 0.3, 0.2, 0.1, 0.05, 0.02]),
        "patience": trial.suggest_int("patience", 1, 20),
    }


@dataclass
class EmbeddedInputs:
    """Raw columns to TabNet's inputs: numbers as they are, codes moved up by one."""

    n_numeric: int

    def prepare(self, raw: Tensor) -> Tensor:
        if raw.shape[1] == self.n_numeric:
            return raw
        return torch.cat([raw[:, : self.n_numeric], raw[:, self.n_numeric :] + 1], dim=1)


class TabNetLogits(nn.Module):
    """TabNet as a network that gives logits; `with_sparsity` gives its sparsity term too."""

    def __init__(self, network: TabNet):
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x)[0]

    def with_sparsity(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.network(x)


class ClippedAdam(torch.optim.Adam):
    def step(self) -> None:
        parameters = [p for group in self.param_groups for p in group["params"]]
        torch.nn.utils.clip_grad_norm_(parameters, CLIP)
        super().step()


class Learner:
    def __init__(self, table: Table, settings: dict[str, Any], machine: Machine):
        self.table, self.settings = table, settings
        self.device = device = torch.device(machine.device)
        self.inputs = EmbeddedInputs(len(table.preprocessing.numeric))
        self.part = functools.cache(lambda name: load_part(table.files[name], device))

    def batch_sizes(self, parameters: dict[str, Any], n_rows: int) -> tuple[int, int]:
        """Batch and virtual batch, neither larger than what it is a part of."""
        batch = min(parameters["batch_size"], n_rows)
        return batch, min(parameters["virtual_batch_size"], batch)

    def build(self, parameters: dict[str, Any], virtual_batch: int, seed: int) -> TabNetLogits:
        categorical = self.table.preprocessing.categorical
        n_numeric = len(self.table.preprocessing.numeric)
        n_columns = n_numeric + len(categorical)
        torch.manual_seed(seed)
        network = TabNet(
            n_columns,
            self.table.n_classes,
            n_d=parameters["n_a"],
            n_a=parameters["n_a"],
            n_steps=parameters["n_steps"],
            gamma=parameters["gamma"],
            cat_idxs=list(range(n_numeric, n_columns)),
            cat_dims=[column.width + 1 for column in categorical],
            cat_emb_dim=[1] * len(categorical),
            virtual_batch_size=virtual_batch,
            momentum=parameters["momentum"],
            group_attention_matrix=torch.eye(n_columns, device=self.device),
        )
        return TabNetLogits(network).to(self.device)

    def training(
        self, parameters: dict[str, Any], rows: Part, epochs: int, seed: int, run: str
    ) -> Training:
        """How TabNet is trained on some rows; StepLR counts optimiser steps."""
        batch, virtual = self.batch_sizes(parameters, len(rows))
        network = self.build(parameters, virtual, seed)
        per_epoch = n_batches(len(rows), batch)
        balanced = self.settings.get("class_weights") == "balanced"
        weights = balanced_class_weights(rows.labels, self.table.n_classes) if balanced else None

        def loss(indices: Tensor):
            logits, sparsity = network.with_sparsity(self.inputs.prepare(rows.raw[indices]))
            value = nn.functional.cross_entropy(logits, rows.labels[indices], weights)
            return value - parameters["lambda_sparse"] * sparsity, {}

        def lr_at(epoch: float) -> float:
            decays = round(epoch * per_epoch) // parameters["decay_iterations"]
            return parameters["lr"] * parameters["decay_rate"] ** decays

        return Training(
            run,
            network,
            ClippedAdam(network.parameters(), lr=parameters["lr"]),
            epochs,
            batch,
            len(rows),
            loss,
            validate=None,
            generators={"order": stream(seed, "tabnet/order", self.device)},
            lr_at=lr_at,
        )

    def try_out(self, parameters: dict[str, Any], seed: int) -> Attempt:
        max_epochs, minutes = self.settings["max_epochs"], self.settings["trial_minutes"]
        valid = self.part("valid")
        labels = valid.labels.cpu().numpy()
        started = time.monotonic()
        training = self.training(parameters, self.part("train"), max_epochs, seed, "trial")
        training.quiet = True
        scores: list[float] = []
        flags: list[str] = []

        def stop(epoch: int) -> bool:
            predicted = predict(training.network, self.inputs, valid).argmax(dim=1)
            scores.append(balanced_accuracy(labels, predicted.cpu().numpy()))
            if minutes is not None and time.monotonic() - started > 60 * minutes:
                flags.append(TIME_LIMIT)
            return bool(flags) or epoch - int(np.argmax(scores)) >= parameters["patience"]

        training.stop = stop
        train(training)
        check_weights("trial", state_tensors(training.network))
        best = int(np.argmax(scores))
        if len(scores) == max_epochs and max_epochs - 1 - best < parameters["patience"]:
            flags.append(EPOCHS_LIMIT)
        return Attempt(scores[best], time.monotonic() - started, {"epochs": best + 1}, flags)

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
        training = self.training(parameters, rows, found["epochs"], seed, run)
        trained = train(training, checkpoint)
        state = state_tensors(training.network)
        check_weights(run, state)
        write_tensors(model, state)
        n_parameters = sum(p.numel() for p in training.network.parameters())
        return {
            "virtual_batch_size": self.batch_sizes(parameters, len(rows))[1],
            "sizes": {"parameters": n_parameters, "members": 1},
            "history": trained.history,
        }

    def predict(self, model: str, report: dict[str, Any], part: str) -> np.ndarray:
        with reading_model(model, "TabNet"):
            parameters, facts = report["parameters"], report["model"]
            network = self.build(parameters, facts["virtual_batch_size"], seed=0)
            weights = {name: torch.from_numpy(array) for name, array in read_arrays(model).items()}
            network.load_state_dict(weights)
        return predict(network, self.inputs, self.part(part)).argmax(dim=1).cpu().numpy()
