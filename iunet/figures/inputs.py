"""Reading the artifacts behind a figure, and refusing those that are not what was asked for."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from iunet.artifacts import read_arrays, read_json
from iunet.errors import UserError

AGAIN = "Delete it and run the same command again to make it anew."


def refuse(path: str | Path, problem: str) -> UserError:
    return UserError(f"{path} {problem}. {AGAIN}")


def missing_reason(request: dict[str, Any], path_key: str) -> str | None:
    """Why a request has no file; None if it has one. One of the two must be there."""
    path, reason = request.get(path_key), request.get("missing")
    if path is None and not reason:
        raise UserError(
            f"A figure was asked for {_request_name(request)} without a file, and without the "
            f"reason why there is none ('{path_key}' and 'missing' are both empty)."
        )
    return None if path is not None else str(reason)


def check_requests(requests: list[dict[str, Any]], keys: tuple[str, ...]) -> None:
    """At least one request, and none twice."""
    if not requests:
        raise UserError("A figure was asked for without a single run: its list of runs is empty.")
    seen = set()
    for request in requests:
        point = tuple(request[key] for key in keys)
        if point in seen:
            raise UserError(f"A figure was asked for {_request_name(request)} twice.")
        seen.add(point)


def _request_name(request: dict[str, Any]) -> str:
    keys = ("dataset", "supernet", "method", "seed")
    return ", ".join(f"{key} {request[key]}" for key in keys if key in request) or "a run"


def read_report(path: str | Path, **expected: Any) -> dict[str, Any]:
    """A JSON report that is of the run it is taken for: `expected` are keys with their values."""
    report = read_json(path)
    if not isinstance(report, dict):
        raise refuse(path, "is not a report: it holds no JSON object")
    for key, value in expected.items():
        if key not in report:
            raise refuse(path, f"has no '{key}'")
        if report[key] != value:
            raise refuse(path, f"is of the {key} {report[key]!r}, not {value!r}")
    return report


def check_run(path: str | Path, request: dict[str, Any]) -> dict[str, Any]:
    """The report of the very run that is asked for: its data set, seed and supernet."""
    report = read_report(path, dataset=request["dataset"])
    run = str(report.get("run", "")).split("/")
    for part in (request["supernet"], f"seed{request['seed']}"):
        if part not in run:
            raise refuse(path, f"is of the run {report.get('run')!r}, not of {part}")
    return report


def finite(path: str | Path, name: str, value: Any) -> float:
    """A number of a report, refused if it is none or not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise refuse(path, f"has {value!r} as {name}, which is not a finite number")
    return float(value)


def read_array(path: str | Path, name: str) -> np.ndarray:
    """A named array of a safetensors file, without NaN."""
    array = read_arrays(path, name)[name]
    if array.size == 0 or not np.isfinite(array).all():
        raise refuse(path, f"has no values, or values that are not finite, in '{name}'")
    return array
