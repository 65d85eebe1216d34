"""Measure how fast this machine is, in about a minute, for `make cost` and for what jobs ask for.

    python -m iunet.calibrate [--file config/speeds.json]
    make calibrate

Steps of real networks, by the code that trains them, give the constants of iunet/machine/speeds.py:
a tiny network the cost of a kernel's launch, a wide one that of its products, and so on. Of a CPU
one thread is measured; of a machine with a GPU that torch can use, both.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn

from iunet.artifacts import write_json
from iunet.baselines.catalog import XGB_ROWS
from iunet.data.sizes import Data
from iunet.machine.device import resolve_device
from iunet.machine.resources import kernels
from iunet.machine.speeds import FILE, KNOWN, Speed
from iunet.method.augment import compose, vision_transforms
from iunet.method.objectives import Batch, supervised
from iunet.networks.catalog import Size, network_entry
from iunet.networks.network import NetworkSpec, build_network
from iunet.training.optimiser import fused_sgd
from iunet.training.support.environment import set_up_torch

BATCH, SIDE = 128, 32
SECONDS = 3.0  # of each measurement
IMAGES = Data(40_000, 10_000, 10_000, 3 * SIDE**2, 10, SIDE)
TABLE = Data(10_000, 2_000, 2_000, 100, 10)
AUGMENT = {
    "resize": {"scale": [0.08, 1.0], "ratio": [0.75, 4 / 3]},
    "horiz": {"p": 0.5},
    "color": {"p": 0.8, "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1},
    "graysc": {"p": 0.2},
}
START = "import iunet.training.supernet, iunet.training.finetune"


def measure(device: torch.device) -> Speed:
    """The speeds of a device; memory is not measured."""
    base = KNOWN[device.type]
    tiny, tiny_size = step("mlp_tab", {"width": 8, "depth": 9}, TABLE, device)
    launch_s = seconds(tiny, device) / kernels(tiny_size.layers, "sup")
    unit_s = seconds(norms(device), device) / (BATCH * UNITS)
    wide, wide_size = step("mlp_tab", {"width": 1024, "depth": 9}, TABLE, device)
    convolutions, conv_size = step("cnn", {"alpha": 4}, IMAGES, device)

    def rate(measured: float, size: Size, flops: float, others: float = 0.0) -> float:
        """FLOP per second of a step, of whose time launches, units and others are taken off."""
        known = kernels(size.layers, "sup") * launch_s + 3 * BATCH * (size.units * unit_s + others)
        # On a GPU they hide behind each other: then the whole step is what can be said.
        left = measured - known if measured > 2 * known else measured
        return 3 * BATCH * flops / left

    linear = rate(seconds(wide, device), wide_size, wide_size.linear_flops)
    head = conv_size.linear_flops / linear
    conv = rate(seconds(convolutions, device), conv_size, conv_size.conv_flops, head)
    return Speed(
        start_s=start_seconds() + (base.start_s if device.type == "cuda" else 2.0),
        launch_s=launch_s,
        linear=linear,
        conv=conv,
        unit_s=unit_s,
        augment_s=seconds(transforms(device), device) / BATCH,
        tree_s=tree_seconds() if device.type == "cpu" else base.tree_s,
        base_mb=base.base_mb,
    )


def step(
    name: str, options: dict[str, Any], data: Data, device: torch.device
) -> tuple[Callable[[], Any], Size]:
    """A training step of a network with `sup`, and the network's size."""
    inputs = {"side": data.side} if data.side else {"n_inputs": data.n_inputs}
    spec = NetworkSpec(name, data.n_classes, options=options, **inputs)
    network = build_network(spec).to(device).train()
    optimiser = fused_sgd(network.parameters(), 1e-3, 0.9, True)
    shape = (3, data.side, data.side) if data.side else (data.n_inputs,)
    x = torch.randn(BATCH, *shape, device=device)
    labels = torch.arange(BATCH, device=device) % data.n_classes

    def run() -> None:
        loss, _ = supervised(network, Batch(x, labels, lambda: x))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return run, network_entry(name).size(options, data)


UNITS = 8192


def norms(device: torch.device) -> Callable[[], Any]:
    layer = nn.Sequential(nn.BatchNorm1d(UNITS), nn.ReLU()).to(device).train()
    x = torch.randn(BATCH, UNITS, device=device)
    return lambda: layer(x)


def transforms(device: torch.device) -> Callable[[], Any]:
    composed = compose(vision_transforms(AUGMENT))
    images = torch.rand(BATCH, 3, SIDE, SIDE, device=device)
    generator = torch.Generator(device).manual_seed(0)
    return lambda: composed(images, generator)


def seconds(function: Callable[[], Any], device: torch.device) -> float:
    """Of one call, the median of several rounds; on a CPU its own time, without the neighbours."""
    clock = time.process_time if device.type == "cpu" else time.perf_counter

    def round_of(calls: int) -> float:
        began = clock()
        for _ in range(calls):
            function()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return (clock() - began) / calls

    round_of(2)
    calls = max(1, int(SECONDS / 5 / max(round_of(2), 1e-6)))
    return statistics.median(round_of(calls) for _ in range(5))


def start_seconds() -> float:
    """CPU seconds in which a training job imports what it needs."""
    code = f"{START}\nimport time; print(time.process_time())"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return float(answer.stdout)


def tree_seconds() -> float:
    """XGBoost: seconds of a tree, per input and row, on one thread."""
    import numpy as np
    import xgboost

    random = np.random.default_rng(0)
    n_rows, n_inputs, n_classes, rounds = 20_000, 50, 10, 3
    rows = random.normal(size=(n_rows, n_inputs)).astype(np.float32)
    labels = (rows[:, :3].sum(axis=1) * 2).astype(int) % n_classes
    settings = {
        "objective": "multi:softprob",
        "num_class": n_classes,
        "tree_method": "hist",
        "max_depth": 6,
        "nthread": 1,
    }
    matrix = xgboost.DMatrix(rows, labels)
    began = time.process_time()
    xgboost.train(settings, matrix, rounds)
    trees = rounds * n_classes
    return (time.process_time() - began) / (trees * n_inputs * (XGB_ROWS + n_rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", default=FILE, help="where the speeds are written")
    path = Path(parser.parse_args().file)
    speeds = {}
    for name in dict.fromkeys(("cpu", resolve_device("auto"))):
        device = set_up_torch(name, 1, 1)
        print(f"measuring {name} …", flush=True)
        speeds[name] = asdict(measure(device))
        for key, value in speeds[name].items():
            print(
                f"  {key:10} {value:10.3g}   (without calibration {getattr(KNOWN[name], key):.3g})"
            )
    write_json(path, {"machine": platform.node(), "torch": torch.__version__, "speeds": speeds})
    print(f"{path} is written; `make cost` and what jobs ask for use it. Delete it to undo.")


if __name__ == "__main__":
    main()
