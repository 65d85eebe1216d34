"""Trained first layers, as figure 4 shows them: magnitudes, and how structured they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iunet.errors import UserError
from iunet.evaluation.locality import locality, selectivity
from iunet.figures.inputs import (
    check_requests,
    check_run,
    missing_reason,
    read_array,
    read_report,
    refuse,
)

N_UNITS = 6
KEPT = 8  # one weight of the layer in so many is kept by the mask that is measured


@dataclass(frozen=True)
class FirstLayer:
    """The magnitudes of a trained first layer, or why there are none."""

    part: str  # image or tabular
    dataset: str
    method: str
    seed: int
    units: np.ndarray | None = None  # numbers of the units shown
    magnitudes: np.ndarray | None = None  # image: [units, side, side, 3]; tabular: [units, inputs]
    groups: tuple[dict[str, Any], ...] = ()  # tabular: which inputs belong to which raw feature
    # By what it is of: "shown" and "layer" (locality), "layer" (selectivity).
    measures: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: str | None = None


def figure4_layers(image: list[dict[str, Any]], tabular: list[dict[str, Any]]) -> list[FirstLayer]:
    check_requests([*image, *tabular], ("dataset", "method"))
    layers = []
    for part, requests, read in (("image", image, _read_image), ("tabular", tabular, _read_table)):
        if len({request["dataset"] for request in requests}) > 1:
            raise UserError(f"Figure 4 shows one {part} data set, and was asked for several.")
        for request in requests:
            name = (part, request["dataset"], request["method"], request["seed"])
            if reason := missing_reason(request, "weights"):
                layers.append(FirstLayer(*name, missing=reason))
            else:
                layers.append(FirstLayer(*name, **read(request)))
    return layers


def _first_weight(request: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
    """|θ| of the first layer, and the network's specification."""
    path = request["report"]
    report = check_run(path, request)
    name, network = report.get("first_layer"), report.get("network")
    if not name or not isinstance(network, dict):
        raise refuse(path, "does not describe a network and its first layer")
    return np.abs(read_array(request["weights"], name)), network


def _read_image(request: dict[str, Any]) -> dict[str, Any]:
    weight, network = _first_weight(request)
    side, channels = network.get("side"), network.get("channels")
    if channels != 3:
        raise refuse(request["report"], f"is of images with {channels} channels, not 3")
    if weight.ndim != 2 or weight.shape[1] != channels * side**2:
        raise refuse(
            request["weights"],
            f"has a first layer of shape {weight.shape}, not one weight for each of the "
            f"{channels} × {side} × {side} inputs",
        )
    norms = np.linalg.norm(weight.astype(np.float64), axis=1)
    units = np.argsort(-norms, kind="stable")[:N_UNITS]
    pictures = weight[units].reshape(-1, channels, side, side).transpose(0, 2, 3, 1)
    mask = largest(weight, KEPT)
    measures = {
        "shown": locality(mask[units], side, channels),
        "layer": locality(mask, side, channels),
    }
    return {"units": units, "magnitudes": pictures, "measures": measures}


def _read_table(request: dict[str, Any]) -> dict[str, Any]:
    weight, _ = _first_weight(request)
    path = request["preprocessing"]
    groups = read_report(path).get("groups")
    if not groups or [g["start"] for g in groups] != [0, *(g["stop"] for g in groups[:-1])]:
        raise refuse(path, "does not say which inputs belong to which raw feature")
    if weight.ndim != 2 or weight.shape[1] != groups[-1]["stop"]:
        raise refuse(
            request["weights"],
            f"has a first layer of shape {weight.shape}, "
            f"but {path} has {groups[-1]['stop']} inputs",
        )
    columns = [list(range(group["start"], group["stop"])) for group in groups]
    return {
        "units": np.arange(len(weight)),
        "magnitudes": weight,
        "groups": tuple(groups),
        "measures": {"layer": selectivity(largest(weight, KEPT), columns)},
    }


def largest(magnitudes: np.ndarray, ratio: int) -> np.ndarray:
    """The mask of the largest n/ratio of n magnitudes; of equal ones the first are kept."""
    flat = magnitudes.ravel()
    n_kept = round(flat.size / ratio)
    if n_kept == 0:
        return np.zeros(magnitudes.shape, dtype=bool)
    threshold = np.partition(flat, flat.size - n_kept)[flat.size - n_kept]
    mask = flat > threshold
    ties = np.flatnonzero(flat == threshold)
    mask[ties[: n_kept - int(mask.sum())]] = True
    return mask.reshape(magnitudes.shape)
