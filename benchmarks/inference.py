"""Latency of pruned networks, with use of their sparsity, against dense ones: one CPU thread.

Takes folders of finished runs of the workflow, so that masks and activations are trained ones, and
rows of their validation data. The baseline is the faster of torch and onnxruntime on the same
members, dense, BatchNorm folded in. Forms are called in turns, and CPU time of the thread counts.

    python benchmarks/inference.py results/runs/vehicle/mlp_tab/kappa0.25-ilo/seed0/ratio8 …
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch

from iunet.data.load import load_part, make_inputs
from iunet.deploy.fast import FastModel
from iunet.deploy.model import PrunedModel, fold, write_model
from iunet.deploy.report import BATCHES, dense_bytes, dense_torch, in_onnxruntime
from iunet.deploy.run import read_run
from iunet.evaluation.latency import milliseconds
from iunet.networks.folded import Layer, without_dead_units

DENSE = ("torch, dense", "onnxruntime, dense")


def validation_inputs(folder: Path, model: PrunedModel) -> np.ndarray:
    """As many rows of validation data as the largest batch has, as the network takes them."""
    root = next(parent.parent for parent in folder.resolve().parents if parent.name == "runs")
    path = root / "splits" / model.origin["dataset"] / "valid.safetensors"
    raw = load_part(path, torch.device("cpu")).raw
    raw = raw[torch.arange(max(BATCHES)) % len(raw)]
    inputs = make_inputs(model.preprocessing, torch.device("cpu")).prepare(raw)
    return inputs.reshape(len(inputs), -1).numpy().copy()


def measured_forms(model: PrunedModel, layers: list[Layer]) -> dict:
    forms = {
        DENSE[0]: dense_torch(layers),
        DENSE[1]: in_onnxruntime(model, layers),
        "onnxruntime, no dead units": in_onnxruntime(model, without_dead_units(layers)),
    }
    for kernels in ("torch", "numba"):
        forms[f"fast, {kernels}"] = FastModel(layers, kernels).probabilities
    return forms


def measure(folder: Path, repeats: int) -> None:
    model = read_run(folder)
    layers = fold(model)
    inputs = validation_inputs(folder, model)
    expected = model.probabilities(inputs)
    forms = measured_forms(model, layers)
    times = {b: milliseconds(forms, inputs[:b], repeats) for b in BATCHES}
    with tempfile.TemporaryDirectory() as temporary:
        compact = Path(temporary, "model")
        write_model(compact, model)
        size = dense_bytes(layers) / compact.stat().st_size
    alive = without_dead_units(layers)
    densities = ", ".join(f"{layer.mask.mean():.2f}" for layer in alive[:-1])
    units = ", ".join(str(len(layer.mask)) for layer in alive[:-1])
    print(f"\n{folder}: {len(model.members)} members; model file 1/{size:.2f} of dense")
    print(f"  units left {units}; densities {densities}")
    header = "".join(f"{f'ms at {batch}':>12}{'ratio':>8}" for batch in BATCHES)
    print(f"  {'':28}{header}  largest difference")
    for form, predict in forms.items():
        cells = ""
        for batch in BATCHES:
            baseline = min(times[batch][dense] for dense in DENSE)
            cells += f"{times[batch][form]:12.3f}{baseline / times[batch][form]:8.2f}"
        print(f"  {form:28}{cells}  {np.abs(predict(inputs) - expected).max():.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, help="folders of finished runs")
    parser.add_argument("--repeats", type=int, default=200, help="calls of each form, at most")
    arguments = parser.parse_args()
    for folder in arguments.runs:
        measure(folder, arguments.repeats)


if __name__ == "__main__":
    main()
