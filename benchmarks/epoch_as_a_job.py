"""The steps of a supernet alone against its epochs as a job runs them, in CPU seconds.

What lies between the two is waste: validation, histograms, logging, bookkeeping. Measured in turns.

    python benchmarks/epoch_as_a_job.py [--epochs 20] [--repetitions 5]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from iunet.data.load import Part, TabularInputs, TrainingData
from iunet.data.preprocess import Numeric, Preprocessing
from iunet.method.catalog import OBJECTIVES, load
from iunet.method.objectives import Batch
from iunet.networks.network import NetworkSpec, build_network, state_tensors
from iunet.training.loop import batches, stream
from iunet.training.supernet import SupernetSettings, fit_supernet, make_optimiser
from iunet.training.support.environment import set_up_torch

CASES = {"vehicle, sup": (508, 169, 18, 4, "sup"), "2,000 columns, ilo": (512, 170, 2000, 4, "ilo")}


def table(rows: int, columns: int, classes: int) -> Part:
    return Part(torch.randn(rows, columns), torch.randint(classes, (rows,)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    set_up_torch("cpu", 1, 1)
    for name, case in CASES.items():
        steps, job = measure(case, arguments.epochs, arguments.repetitions)
        share = f"{steps / job:.3f}"
        print(f"{name:22} steps {1e3 * steps:7.1f} ms, epoch {1e3 * job:7.1f} ms: {share}")


def measure(case: tuple, epochs: int, repetitions: int) -> tuple[float, float]:
    """Seconds of an epoch's steps alone, and of an epoch of a job."""
    n_train, n_valid, columns, classes, objective = case
    device = torch.device("cpu")
    train, valid = (table(n, columns, classes) for n in (n_train, n_valid))
    fitted = Preprocessing([Numeric(f"x{i}", 0.0, 0.0, 1.0) for i in range(columns)], [], [])
    inputs = TabularInputs(fitted.to_json(), device, {"corruption": 0.6}, train)
    options = {"width": 512, "depth": 9}
    network = build_network(NetworkSpec("mlp_tab", classes, n_inputs=columns, options=options))
    initial = {key: tensor.clone() for key, tensor in state_tensors(network).items()}
    settings = SupernetSettings(
        0.25, objective, epochs, 128, 0.001, 0, 1.0, 0.9, True, histograms=False
    )
    data = TrainingData(train, inputs, valid, validate_every=10)

    def steps_alone() -> None:
        network.load_state_dict(initial)
        network.train()
        optimiser, order, g = make_optimiser(network, settings), *streams(device)
        for _ in range(epochs):
            for rows in batches(n_train, 128, order):
                raw = train.raw[rows]
                batch = Batch(
                    inputs.prepare(raw),
                    train.labels[rows],
                    lambda raw=raw: inputs.transformed(raw, g),
                )
                loss, _ = load(OBJECTIVES[objective].loss)(network, batch)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()

    ways = {"steps": steps_alone, "job": lambda: fit_supernet(network, initial, data, settings)}
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(repetitions + 1):
        for way, function in ways.items():
            began = time.process_time()
            function()
            times[way].append(time.process_time() - began)
    steps, job = (statistics.median(times[way][1:]) / epochs for way in ways)
    return steps, job


def streams(device: torch.device) -> list[torch.Generator]:
    return [stream(0, f"supernet/{name}", device) for name in ("order", "g")]


if __name__ == "__main__":
    main()
