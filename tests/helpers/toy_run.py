"""A small data set and the stages on it: functions, and processes for tests that kill them."""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import torch

from iunet.artifacts import read_json, write_arrays, write_json
from iunet.data.preprocess import Numeric, Preprocessing
from iunet.errors import UserError
from iunet.evaluation.evaluate import evaluate_dense, evaluate_subnetwork, evaluate_supernet
from iunet.method.pruning import Cut, prune_supernet
from iunet.training.finetune import FinetuneSettings, finetune
from iunet.training.initial import write_initial
from iunet.training.supernet import SupernetSettings, train_supernet
from iunet.training.support.environment import set_up_torch
from iunet.training.support.job import Job

AUGMENT = {"corruption": 0.6}
NETWORK = {"width": 16, "depth": 2}
SUPERNET = {
    "kappa": 0.25,
    "objective": "ilo",
    "weight": 1.0,
    "epochs": 8,
    "batch_size": 16,
    "lr": 0.05,
    "momentum": 0.9,
    "nesterov": True,
    "seed": 0,
}
FINETUNE = {
    "optimiser": "adamw",
    "lr": 0.01,
    "batch_size": 16,
    "seed": 0,
    "weight_decay": 0.01,
    "first_cycle_epochs": 2,
    "cycle_factor": 2,
    "cycles": 3,
    "snapshot_ensemble": True,
}


class Toy:
    """A folder with a split table of `n_classes` Gaussian clouds, and the stages in it."""

    def __init__(self, folder: Path, n_train: int = 100, n_classes: int = 3, n_features: int = 5):
        self.folder = folder
        self.n_classes, self.n_features = n_classes, n_features
        if not (folder / "split.json").exists():
            self._write(n_train)

    def _write(self, n_train: int) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(0)
        centres = 2 * rng.normal(size=(self.n_classes, self.n_features))
        for part, n in {"train": n_train, "valid": 40, "test": 40}.items():
            labels = np.arange(n) % self.n_classes
            values = centres[labels] + rng.normal(size=(n, self.n_features))
            arrays = {"numeric": values.astype(np.float32), "labels": labels.astype("i8")}
            arrays["categorical"] = np.zeros((n, 0), np.int32)
            write_arrays(self.folder / f"{part}.safetensors", arrays)
        columns = [Numeric(f"x{i}", 0.0, 0.0, 1.0) for i in range(self.n_features)]
        fitted = Preprocessing(columns, [], [])
        write_json(self.folder / "preprocessing.json", {"kind": "tabular", **fitted.to_json()})
        facts = {"dataset": "toy", "n_classes": self.n_classes, "n_inputs": self.n_features}
        write_json(self.folder / "split.json", facts)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def inputs(self, **more: str) -> dict[str, str]:
        parts = {part: self.path(f"{part}.safetensors") for part in ("train", "valid", "test")}
        return {
            **parts,
            "preprocessing": self.path("preprocessing.json"),
            "initial": self.path("initial/weights"),
            "description": self.path("initial/description"),
            **more,
        }

    def initialise(self, seed: int = 0) -> None:
        network = {"name": "mlp_tab", "options": NETWORK}
        output = self.files("initial", "weights", "description")
        write_initial(self.path("split.json"), output, network, "torch_default", seed)

    def supernet(self, to: str = "supernet", checkpoint_s: float = 0, **changes: Any) -> Path:
        settings = SUPERNET | changes
        train_supernet(
            self.inputs(),
            self.files(to, "weights", "histograms", "report"),
            SupernetSettings(**settings),
            AUGMENT,
            job(f"toy/{to}", settings, checkpoint_s),
        )
        return self.folder / to

    def prune(self, ratio: float | None, supernet: str = "supernet") -> None:
        trained = self.files(supernet, "weights", "report")
        inputs = {"supernet": trained["weights"], "supernet_report": trained["report"]}
        prune_supernet(
            self.inputs(**inputs), self.files("mask", "mask", "report"), "toy", Cut(ratio)
        )

    def finetune(
        self, to: str = "finetune", dense: bool = False, checkpoint_s: float = 0, **changes: Any
    ) -> Path:
        settings = FINETUNE | changes
        finetune(
            self.inputs(**({} if dense else self.mask_files())),
            self.files(to, "weights", "predictions", "report"),
            FinetuneSettings(**settings),
            job(f"toy/{to}", settings, checkpoint_s),
        )
        return self.folder / to

    def evaluate(self, of: str = "finetune") -> dict[str, Any]:
        """Of a fine-tuned subnetwork; of the supernet; of a dense network."""
        output, device = self.path(f"evaluation-{of}"), torch.device("cpu")
        weights = {"weights": self.path(f"{of}/weights")}
        if of == "supernet":
            inputs = {"supernet": weights["weights"], "supernet_report": self.path(f"{of}/report")}
            evaluate_supernet(self.inputs(**inputs), output, "toy", AUGMENT, device)
        elif of == "dense":
            evaluate_dense(self.inputs(**weights), output, "toy", AUGMENT, device)
        else:
            inputs = self.inputs(**weights, **self.mask_files())
            evaluate_subnetwork(inputs, output, "toy", AUGMENT, device)
        return read_json(output)

    def files(self, folder: str, *names: str) -> dict[str, str]:
        return {name: self.path(f"{folder}/{name}") for name in names}

    def mask_files(self) -> dict[str, str]:
        return {"mask": self.path("mask/mask"), "mask_report": self.path("mask/report")}


def job(run: str, settings: dict[str, Any], checkpoint_s: float) -> Job:
    return Job(run, torch.device("cpu"), {"settings": settings}, checkpoint_s)


def result(folder: Path) -> dict[str, Any]:
    """What must not depend on interruptions: the weights' bytes, and the report but for times."""
    report = read_json(folder / "report")
    report.pop("times")
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "report"}
    return {"files": files, "report": report | {"run": ""}}


# ---- a stage in a process of its own, long enough to be cut off

LONG = {"supernet": {"epochs": 80}, "finetune": {"first_cycle_epochs": 12}}


class Lines(logging.Handler):
    """Sends what is logged to another process."""

    def __init__(self, connection: Connection):
        super().__init__(logging.INFO)
        self.connection = connection

    def emit(self, record: logging.LogRecord) -> None:
        self.connection.send(record.getMessage())


def run_stage(folder: Path, stage: str, connection: Connection) -> None:
    """`started`, then the log, and what went wrong."""
    logging.basicConfig(level=logging.INFO, handlers=[Lines(connection)], force=True)
    set_up_torch("cpu", 1, 1)
    connection.send("started")
    try:
        getattr(Toy(folder), stage)(**LONG[stage])
    except UserError as error:
        connection.send(str(error))
        sys.exit(1)


class StageProcess:
    """A stage that can be killed. Torch is imported once for all of them (forkserver)."""

    def __init__(self, toy: Toy, stage: str):
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["toy_run"])
        here = str(Path(__file__).parent)  # where the server finds this module
        if here not in os.environ.get("PYTHONPATH", ""):
            os.environ["PYTHONPATH"] = f"{here}:{os.environ.get('PYTHONPATH', '')}"
        self.lines, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=run_stage, args=(toy.folder, stage, theirs))
        self.process.start()
        theirs.close()

    def line(self) -> str | None:
        """The next line; None if there will be none."""
        try:
            return self.lines.recv()
        except (EOFError, OSError):
            return None

    def wait_for(self, beginning: str) -> StageProcess:
        while (line := self.line()) is not None and not line.startswith(beginning):
            pass
        return self

    def running(self) -> bool:
        return self.process.is_alive()

    def send(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def finish(self) -> tuple[int, str]:
        """The exit code, and the last line."""
        last = ""
        while (line := self.line()) is not None:
            last = line
        self.process.join()
        return self.process.exitcode, last
