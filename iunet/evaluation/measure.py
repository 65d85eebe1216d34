"""The measure stage: bytes on disk and latency of one pruned network, for the efficiency table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from iunet.artifacts import read_json, write_json
from iunet.evaluation.latency import latency_columns, measure_latency
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
) -> None:
    """Measure the candidate that was chosen; if none was, say so."""
    chosen = read_json(choice)["chosen"]
    if chosen is None:
        write_json(output, {**run, "missing": "every candidate failed"})
        return
    point = (chosen["supernet"], chosen["cut"])
    files = next(c for c in candidates if (c["supernet"], c["cut"]) == point)
    paths = {key: files[key] for key in ("weights", "mask", "mask_report")}
    measure_run({**paths, "dense": dense, "description": description}, output, run)


def measure_run(
    inputs: dict[str, str], output: str, run: dict[str, Any], repeats: int = 30
) -> None:
    """Measure a fine-tuned subnetwork on the CPU; `run` says its dataset, network, method and seed.

    `inputs`: description (initial.json), weights and mask and mask_report of the subnetwork, and
    dense (the weights of the dense network of the same seed).
    """
    spec = NetworkSpec(**read_json(inputs["description"])["network"])
    masks = read_masks(inputs["mask"], inputs["mask_report"])
    set_up_torch("cpu", 1, 1)
    device = torch.device("cpu")
    network = build_network(spec)
    network.load_state_dict(read_members(inputs["weights"], masks, device)[0])
    latency = measure_latency(network, spec, masks, repeats=repeats)
    sizes = {name: Path(inputs[name]).stat().st_size for name in ("dense", "weights", "mask")}
    content = {
        **run,
        "bytes_dense": sizes["dense"],
        "bytes_pruned": sizes["weights"] + sizes["mask"],
        **latency_columns(latency),
        "latency": latency,
        "environment": describe_environment(device),
    }
    write_json(output, content)
