"""What a global threshold does to the initial weights of every network, without any training."""

from __future__ import annotations

from typing import Any

from iunet.data.sizes import Data, data_size
from iunet.labels import dataset_label, network_label
from iunet.networks.catalog import network_entry
from iunet.networks.expected import (
    OWN,
    encoder_layers,
    expected_densities,
    global_threshold,
    init_of,
)
from iunet.runs import paths
from iunet.runs.entries import Benchmark
from iunet.runs.names import INITS
from iunet.tables.ask import BEYOND, Ask
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value
from iunet.tables.names import stand_in_text
from iunet.tables.scores import About

TITLE = "Expected densities of the initial weights"
GROUP = BEYOND
MOST_NAMED = 3  # data sets of one row
GUESSED = "inputs estimated from the paper's table 9, since the data are not available"


def asks(bench: Benchmark) -> Ask:
    """The splits, which know the number of inputs; where there are none, the paper's sizes."""
    names = bench.datasets_of_table("expected_densities")
    splits = {n: bench.path(paths.SPLIT_REPORT, dataset=n) for n in names}
    known = {
        name: path
        for name, path in splits.items()
        if name not in bench.unavailable and bench.exists(path)
    }
    cases = [
        {
            "dataset": name,
            "network": network,
            "options": bench.config["networks"][network],
            "ratios": bench.config["prune"][bench.registry[name].kind]["ratios"],
            "split": known.get(name),
            # Of a set without a split; tables then have a number of inputs that is an estimate.
            "size": None if name in known else vars(data_size(bench.registry[name], "")),
        }
        for name in names
        for network in bench.config["networks"]
        if network_entry(network).kind == bench.registry[name].kind
    ]
    more = {"cases": cases, "init": bench.config["init"]}
    return Ask(files=list(known.values()), more=more)


def build(ask: Ask, about: About) -> TableDocument:
    from iunet.artifacts import read_json

    for case in ask.more["cases"]:
        if case["split"]:
            case["size"] = split_size(read_json(case["split"]))
    return expected_table(ask.more["cases"], ask.more["init"], about)


def split_size(split: dict[str, Any]) -> dict[str, Any]:
    """The fields of `Data` that a network's layers depend on."""
    side = split.get("side", 0)
    n_inputs = split.get("n_inputs") or split.get("channels", 3) * side**2
    rows = {f"n_{part}": split[f"n_{part}"] for part in ("train", "valid", "test")}
    return rows | {"n_inputs": n_inputs, "n_classes": split["n_classes"], "side": side}


def expected_table(
    cases: list[dict[str, Any]], init: str, about: About | None = None
) -> TableDocument:
    """One row per network, number of inputs and ratio; data sets of one shape share a row."""
    about = about or About()
    inits = [init, *(name for name in INITS if name != init)]
    shared: dict[tuple, list[dict[str, Any]]] = {}
    for case in cases:
        for ratio in case["ratios"]:
            key = (case["network"], case["size"]["n_inputs"], case["size"]["side"], ratio)
            shared.setdefault(key, []).append(case)
    rows, cells = [], {}
    for (network, n_inputs, side, ratio), part in shared.items():
        data = Data(**part[0]["size"])
        layers = encoder_layers(network, part[0]["options"], data)
        key = f"{network}/{n_inputs}/{side}/ratio{ratio:g}"
        names = [dataset_label(case["dataset"]) for case in part]
        guessed = any(case["split"] is None and not case["size"]["side"] for case in part)
        rows.append(
            Row(key, [network_label(network), _named(names), f"{ratio:g}"], [GUESSED] * guessed)
        )
        cells[key] = _cells(network, layers, n_inputs, inits, ratio)
    columns = {
        "inputs": "Inputs",
        "threshold": "Threshold",
        "first": "Density, first layer",
        "second": "second",
        "last": "last",
    }
    columns |= {f"smallest_{name}": f"Smallest (layer), {name}" for name in inits}
    return TableDocument(
        id="expected_densities",
        title=TITLE,
        caption=f"The magnitude above which 1/r of the initial weights θ† ({init}) of all layers "
        "together are expected, and the part of a layer's weights that lies above it. A layer at "
        "0 would be cut off if training left the order of the magnitudes as it was; no run enters "
        "here." + stand_in_text(about.stand_ins),
        row_header=["Network", "Dataset", "Ratio"],
        rows=rows,
        columns=[Column(key, label) for key, label in columns.items()],
        metrics=[VALUE],
        default_metric=VALUE,
        cells=cells,
        decimals=4,
        notes=[
            "torch_default is uniform within ±1/√fan_in, glorot within ±√(6/(fan_in + fan_out)), "
            "he_normal is normal with a standard deviation of √(2/fan_in). RESNET keeps "
            "torchvision's, normal with √(2/fan_out). PIS scales all layers alike and changes no "
            "number here.",
            *(about.notes or []),
        ],
        best_along="none",
    )


def _named(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _cells(network: str, layers, n_inputs: int, inits: list[str], ratio: float) -> dict[str, Cell]:
    columns = ["inputs", "threshold", "first", "second", "last"]
    columns += [f"smallest_{name}" for name in inits]
    if layers is None:
        reason = "its layers are not known to iunet/networks/expected.py"
        return {column: Cell(missing=reason) for column in columns}
    init = init_of(network, inits[0])
    densities = expected_densities(layers, init, ratio)
    numbers = {
        "threshold": global_threshold(layers, init, ratio),
        "first": densities[0],
        "second": densities[1] if len(densities) > 1 else None,
        "last": densities[-1],
    }
    cells = {"inputs": Cell(values={VALUE: Value(float(n_inputs), text=f"{n_inputs:,}")})}
    for column, number in numbers.items():
        value = Value(text="–") if number is None else Value(number)
        cells[column] = Cell(values={VALUE: value})
    for i, name in enumerate(inits):
        own = init_of(network, name)
        if own == OWN and i > 0:
            value = Value(text="its own")
        else:
            found = expected_densities(layers, own, ratio)
            lowest = min(range(len(found)), key=found.__getitem__)
            value = Value(found[lowest], text=f"{found[lowest]:.4f} ({lowest + 1})")
        cells[f"smallest_{name}"] = Cell(values={VALUE: value})
    return cells
