"""What a global threshold does to the initial weights of every network, without any training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iunet.data.sizes import Data, data_size
from iunet.labels import dataset_label, network_label
from iunet.networks.catalog import network_entry
from iunet.networks.expected import (
    OWN,
    expected_densities,
    global_threshold,
    init_of,
)
from iunet.results.collect import Results
from iunet.runs.entries import Benchmark
from iunet.runs.names import INITS
from iunet.tables.cells import plain_table
from iunet.tables.document import TableDocument, Value

if TYPE_CHECKING:
    from iunet.networks.layers import Layer

COLUMNS = {
    "inputs": "Inputs",
    "threshold": "Threshold",
    "first": "Density, first layer",
    "second": "second",
    "last": "last",
}
MOST_NAMED = 3  # data sets of one row
GUESSED = "inputs estimated from the paper's table 9, since the data are not available"


def settings(bench: Benchmark) -> dict[str, Any]:
    """The networks of each data set with their ratios; and the paper's sizes of every set.

    The splits know the number of inputs; of a table without one it is then an estimate.
    """
    cases = []
    for name in bench.datasets_of_table("expected_densities"):
        dataset = bench.registry[name]
        for network, options in bench.config["networks"].items():
            if network_entry(network).kind == dataset.kind:
                ratios = bench.config["prune"][dataset.kind]["ratios"]
                case = {"dataset": name, "network": network, "options": options}
                cases.append(case | {"ratios": ratios, "size": vars(data_size(dataset, ""))})
    return {"cases": cases, "init": bench.config["init"]}


def build(results: Results) -> TableDocument:
    """One row per network, number of inputs and ratio; data sets of one shape share a row."""
    init = results.settings["init"]
    inits = [init, *(name for name in INITS if name != init)]
    splits = {row["dataset"]: row for row in results.datasets.to_dict("records")}
    shared: dict[tuple, list[dict[str, Any]]] = {}
    for case in results.settings["cases"]:
        case = _with_known_size(case, splits[case["dataset"]])
        for ratio in case["ratios"]:
            key = (case["network"], case["size"]["n_inputs"], case["size"]["side"], ratio)
            shared.setdefault(key, []).append(case)
    lines, guessed = {}, set()
    for (network, n_inputs, side, ratio), part in shared.items():
        layers = network_entry(network).layers(part[0]["options"], Data(**part[0]["size"]))
        key = f"{network}/{n_inputs}/{side}/ratio{ratio:g}"
        names = [dataset_label(case["dataset"]) for case in part]
        labels = [network_label(network), _named(names), f"{ratio:g}"]
        lines[key] = (labels, _cells(network, layers, n_inputs, inits, ratio))
        guessed |= {key} if any(case["guessed"] for case in part) else set()
    table = plain_table(
        f"The magnitude above which 1/r of the initial weights θ† ({init}) of all layers "
        "together are expected, and the part of a layer's weights that lies above it. A layer at "
        "0 would be cut off if training left the order of the magnitudes as it was; no run enters "
        "here.",
        ["Network", "Dataset", "Ratio"],
        COLUMNS | {f"smallest_{name}": f"Smallest (layer), {name}" for name in inits},
        lines,
        [
            "torch_default is uniform within ±1/√fan_in, glorot within ±√(6/(fan_in + fan_out)), "
            "he_normal is normal with a standard deviation of √(2/fan_in). RESNET keeps "
            "torchvision's, normal with √(2/fan_out). PIS scales all layers alike and changes no "
            "number here."
        ],
        decimals=4,
    )
    for row in table.rows:
        row.notes += [GUESSED] * (row.key in guessed)
    return table


def _with_known_size(case: dict[str, Any], split: dict[str, Any]) -> dict[str, Any]:
    """A case with the size of its split, where there is one."""
    if split["missing"] is not None:
        return case | {"guessed": not case["size"]["side"]}
    known = ("n_train", "n_valid", "n_test", "n_inputs", "n_classes", "side")
    return case | {"size": {key: int(split[key]) for key in known}, "guessed": False}


def _named(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _cells(
    network: str, layers: list[Layer] | None, n_inputs: int, inits: list[str], ratio: float
) -> dict[str, Any] | str:
    if layers is None:
        return "its layers are not known to iunet/networks/expected.py"
    init = init_of(network, inits[0])
    densities = expected_densities(layers, init, ratio)
    cells: dict[str, Any] = {
        "inputs": Value(float(n_inputs), text=f"{n_inputs:,}"),
        "threshold": global_threshold(layers, init, ratio),
        "first": densities[0],
        "second": densities[1] if len(densities) > 1 else None,
        "last": densities[-1],
    }
    for i, name in enumerate(inits):
        own = init_of(network, name)
        if own == OWN and i > 0:
            cells[f"smallest_{name}"] = "its own"
            continue
        found = expected_densities(layers, own, ratio)
        lowest = min(range(len(found)), key=found.__getitem__)
        text = f"{found[lowest]:.4f} ({lowest + 1})"
        cells[f"smallest_{name}"] = Value(found[lowest], text=text)
    return cells
