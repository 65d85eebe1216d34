"""The measure stage: bytes on disk and latency of one pruned network, for the efficiency table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iunet.artifacts import read_json, write_json
from iunet.evaluation.latency import measure_latency
from iunet.method.masks import read_masks
from iunet.networks.network import NetworkSpec, build_network
from iunet.training.members import read_members
from iunet.training.support.environment import describe_environment, set_up_torch


def measure_chosen(
    choice: str,
    candidates: list[dict[str, str]],
    dense: str,
    description: str,
    run: dict[str, Any],
    output: str,
    repeats: int = 30,
) -> None:
    """Measure the fine-tuned subnetwork that was chosen, on the CPU; if none was, say so.

    A candidate has supernet and cut, by which it is chosen, and its files: weights, mask and
    mask_report. `dense` are the weights of the dense network of the same seed, `description` is its
    initial.json, and `run` says dataset, network, method and seed.
    """
    chosen = read_json(choice)["chosen"]
    if chosen is None:
        write_json(output, {**run, "missing": "every candidate failed"})
        return
    point = (chosen["supernet"], chosen["cut"])
    files = next(c for c in candidates if (c["supernet"], c["cut"]) == point)
    spec = NetworkSpec(**read_json(description)["network"])
    masks = read_masks(files["mask"], files["mask_report"])
    device = set_up_torch("cpu", 1, 1)
    network = build_network(spec)
    network.load_state_dict(read_members(files["weights"], masks, device)[0])
    latency = measure_latency(network, spec, masks, repeats=repeats)
    content = {
        **run,
        "bytes_dense": Path(dense).stat().st_size,
        "bytes_pruned": sum(Path(files[name]).stat().st_size for name in ("weights", "mask")),
        **latency_columns(latency),
        "latency": latency,
        "environment": describe_environment(device),
    }
    write_json(output, content)


def latency_columns(latency: dict[str, Any]) -> dict[str, Any]:
    """What was measured, under the column names of the efficiency table."""
    columns: dict[str, Any] = {}
    for batch, entry in latency["batches"].items():
        columns[f"latency_{batch}_dense_ms"] = entry["dense_ms"]
        columns[f"latency_{batch}_pruned_ms"] = entry["pruned_ms"]
    forms = [entry["form"] for entry in latency["batches"].values()]
    return columns | {"form": " / ".join(dict.fromkeys(forms))}
