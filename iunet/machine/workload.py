"""How large data and networks are, known before anything is downloaded or built.

Standard library only: Snakemake asks at every start, to tell a scheduler what a job will need
(iunet/machine/resources.py). A split that exists is read; before it does, the paper's tables 8 and 9 know
the paper's sets, and others get a typical size.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iunet.data.registry import Dataset
from iunet.paper import paper_table

# As in iunet/networks.py, which imports torch; tests/test_resources.py keeps the two equal.
CNN_CONVOLUTIONS = ((1, 1), (2, 2), (2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2))
CNN_HIDDEN = 64
RESNET_STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))  # channels, stride; two blocks each


@dataclass(frozen=True)
class Data:
    """A data set after its split."""

    n_train: int
    n_valid: int
    n_test: int
    n_inputs: int  # columns after one-hot expansion, or pixels × channels
    n_classes: int
    side: int = 0  # of images

    @property
    def n_rows(self) -> int:
        return self.n_train + self.n_valid + self.n_test

    @property
    def bytes_per_row(self) -> int:
        """On the device: images as uint8, tables as float32."""
        return self.n_inputs if self.side else 4 * self.n_inputs


TYPICAL = {  # sets of which nothing is known yet: (kind, whether they come with the package)
    ("tabular", True): Data(1_200, 400, 400, 64, 10),
    ("tabular", False): Data(60_000, 20_000, 20_000, 200, 10),
    ("vision", True): Data(3_000, 1_000, 1_000, 3 * 32**2, 10, 32),
    ("vision", False): Data(50_000, 10_000, 10_000, 3 * 32**2, 10, 32),
}
INPUTS_PER_FEATURE = 3  # one-hot expansion, over the paper's tables


@functools.cache
def data_size(dataset: Dataset, results: str) -> Data:
    """From the split if there is one, else from the paper, else a typical size."""
    split = Path(results) / "splits" / dataset.name / "split.json"
    if split.is_file():
        facts = json.loads(split.read_text(encoding="utf-8"))
        side = facts.get("side", 0)
        n_inputs = facts.get("n_inputs") or facts.get("channels", 3) * side**2
        parts = (facts[f"n_{part}"] for part in ("train", "valid", "test"))
        return Data(*parts, n_inputs, facts["n_classes"], side)
    typical = TYPICAL[dataset.kind, dataset.source == "embedded"]
    return _paper_sizes().get(dataset.name, typical)


@functools.cache
def _paper_sizes() -> dict[str, Data]:
    sizes = {}
    for row in paper_table(8):
        parts = (int(row[f"n_{part}"]) for part in ("train", "valid", "test"))
        sizes[row["dataset"]] = Data(*parts, 3 * 32**2, int(row["n_classes"]), 32)
    for row in paper_table(9):
        parts = (int(row[f"n_{part}"]) for part in ("train", "valid", "test"))
        n_inputs = INPUTS_PER_FEATURE * int(row["n_features"])
        n_classes = max(2, round(200 / (float(row["majority_pct"]) + float(row["minority_pct"]))))
        sizes[row["dataset"]] = Data(*parts, n_inputs, n_classes)
    return sizes


@dataclass(frozen=True)
class Size:
    """A network for a data set: floating-point operations are those of one sample, forward."""

    parameters: int
    linear_flops: int
    conv_flops: int
    units: int  # outputs of all hidden layers: what a step keeps per sample


def network_size(name: str, options: dict[str, Any], data: Data) -> Size:
    """Of mlp_tab, mlp_vis, cnn or resnet18 with the config's options."""
    if name == "mlp_tab":
        return _mlp(data.n_inputs, [int(options["width"])] * options["depth"], data.n_classes)
    if name == "mlp_vis":
        shapes = _cnn_shapes(options["alpha"], data.side)
        widths = [channels * side**2 for channels, _, side in shapes]
        return _mlp(data.n_inputs, [*widths, CNN_HIDDEN * options["alpha"]], data.n_classes)
    if name == "cnn":
        return _cnn(options["alpha"], data)
    return _resnet18(options["width"], data)


def _mlp(n_inputs: int, widths: list[int], n_classes: int) -> Size:
    pairs = zip([n_inputs, *widths], [*widths, n_classes], strict=True)
    weights = sum(a * b for a, b in pairs)
    parameters = weights + 2 * sum(widths) + n_classes  # BatchNorm, the decoder's bias
    return Size(parameters, 2 * weights, 0, sum(widths))


def _cnn_shapes(alpha: int, side: int) -> list[tuple[int, int, int]]:
    shapes = []
    for multiple, stride in CNN_CONVOLUTIONS:
        side = math.ceil(side / stride)
        shapes.append((multiple * alpha, stride, side))
    return shapes


def _cnn(alpha: int, data: Data) -> Size:
    channels_in = data.n_inputs // data.side**2
    weights = flops = units = 0
    for channels, _, side in _cnn_shapes(alpha, data.side):
        weights += 9 * channels_in * channels + 2 * channels
        flops += 2 * 9 * channels_in * channels * side**2
        units += channels * side**2
        channels_in = channels
    head = _mlp(channels_in * side**2, [CNN_HIDDEN * alpha], data.n_classes)
    return Size(weights + head.parameters, head.linear_flops, flops, units + head.units)


def _resnet18(width: float, data: Data) -> Size:
    """torchvision's: a 7×7 stem with stride 2, a pool with stride 2, eight blocks of two 3×3."""
    side = math.ceil(data.side / 2)
    channels_in = max(1, round(64 * width))
    weights = 49 * 3 * channels_in
    flops, units = 2 * weights * side**2, channels_in * side**2
    norms, side = 2 * channels_in, math.ceil(side / 2)
    for stage, (wide, stride) in enumerate(RESNET_STAGES):
        channels, side = max(1, round(wide * width)), math.ceil(side / stride)
        layers = [9 * channels_in * channels, *[9 * channels**2] * 3]
        layers += [channels_in * channels] if stage > 0 else []  # the shortcut's 1×1
        weights += sum(layers)
        flops += 2 * sum(layers) * side**2
        units += len(layers) * channels * side**2
        norms += 2 * channels * len(layers)
        channels_in = channels
    decoder = channels_in * data.n_classes
    return Size(weights + norms + decoder + data.n_classes, 2 * decoder, flops, units)
