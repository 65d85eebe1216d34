"""Reading run reports for tables: what is missing, truncated or contradictory is refused by name.

A report is an `evaluation.json`, a choice a `choice-<method>.json`. A request says which reports a
table needs (iunet/runs/requests.py):

    {"dataset", "network", "method", "seed", "stage": "supernet" | "dense" | "tuned" | "subnetwork",
     "evaluations": {name of the network: path}, "supernets": {name of supernet: path},
     "choice": path or None, "own_choice": bool, "supernet": name or None, "cut": name or None,
     "missing": reason or None}

A subnetwork's name is `kappa0.25-ilo/ratio8`. With `own_choice` the choice is of supernet and cut,
without it another method's, of the ratio alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.labels import SCORES
from iunet.runs.names import CutName, base_network

STAGES = ("supernet", "dense", "tuned", "subnetwork")
SCORED = [f"{part}_{score}" for part in ("valid", "test") for score in SCORES]  # of a report
REDO = "It is an artifact of the workflow: delete it and run the same command again."


@dataclass
class Choice:
    """The network that a request comes to, or why there is none."""

    supernet: str | None
    cut: str | None
    path: str | None  # of its evaluation
    failed: str | None = None


def describe(request: dict[str, Any]) -> str:
    return "{dataset}, {network}, {method}, seed {seed}".format(**request)


def refuse_repeated(requests: list[dict[str, Any]]) -> None:
    """A seed counted twice would make a spread look smaller than it is."""
    seen: dict[tuple, dict[str, Any]] = {}
    for request in requests:
        keys = ("dataset", "network", "method", "seed", "supernet", "cut")
        key = tuple(request.get(k) for k in keys)
        other = seen.setdefault(key, request)
        if other is not request:
            files = [*other["evaluations"].values(), *request["evaluations"].values()]
            raise UserError(
                f"A table is asked for the same run twice ({describe(request)}): "
                f"{' and '.join(dict.fromkeys(map(str, files))) or 'both are marked missing'}. "
                "Each seed counts once."
            )


# ---- evaluations


def read_evaluation(path: str, request: dict[str, Any], stage: str | None = None) -> dict[str, Any]:
    """The report at `path`, once it is found to be that of the request (and of the stage)."""
    report = read_json(path)
    asked = {key: request[key] for key in ("dataset", "seed")}
    for key, value in {**asked, "stage": stage or request["stage"]}.items():
        if report.get(key) != value:
            raise UserError(
                f"{path} is the report of {key} {report.get(key)!r}, but {value!r} was asked for "
                f"({describe(request)}). {REDO}"
            )
    name = _network_name(report)
    known = (base_network(request["network"]), request["method"])
    if name not in known and not (name is None and request["stage"] == "tuned"):
        raise UserError(
            f"{path} is the report of network '{name}', but '{request['network']}' was asked for "
            f"({describe(request)}). {REDO}"
        )
    return report


def _network_name(report: dict[str, Any]) -> str | None:
    network = report.get("network")
    return network.get("name") if isinstance(network, dict) else network


def read_metrics(result: dict[str, Any], path: str) -> dict[str, float]:
    """The metrics of a result that did not fail: percentages, every one.

    A tuned baseline is fitted again on train and valid, so of valid it has its trial's score only.
    """
    metrics = result.get("metrics")
    values = {}
    for key in SCORED:
        unseen = result.get("stage") == "tuned" and key.startswith("valid_")
        if unseen and isinstance(metrics, dict) and key not in metrics:
            continue
        if not isinstance(metrics, dict) or key not in metrics:
            raise UserError(f"{path} lacks the metric '{key}'. {REDO}")
        values[key] = percentage(metrics[key], key, path)
    return values


def percentage(value: Any, key: str, path: str) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value <= 100:
        raise UserError(f"{path}: '{key}' is {value!r}, which is no percentage. {REDO}")
    return float(value)


# ---- choices


def choose(request: dict[str, Any]) -> Choice:
    """Which network a request means."""
    stage, files = request["stage"], request["evaluations"]
    if stage not in STAGES:
        raise UserError(f"A table asks for the stage '{stage}'; known are {', '.join(STAGES)}.")
    if stage != "subnetwork":
        name = _single(request, list(files))
        return Choice(name, None, files[name])
    supernets = list(dict.fromkeys(name.partition("/")[0] for name in files))
    if request.get("cut"):
        return _found(request, _single(request, supernets), request["cut"])
    if not request.get("choice"):
        raise UserError(f"A table asks for a cut without saying which ({describe(request)}).")
    choice = read_choice(request["choice"], request)
    chosen = choice["chosen"]
    if chosen is None:
        return Choice(None, None, None, failure_of(choice))
    if request.get("own_choice"):
        return _found(request, chosen["supernet"], chosen["cut"])
    return _found(request, _single(request, supernets), _at_ratio_of(chosen["cut"], files))


def _at_ratio_of(cut: str, names: Iterable[str]) -> str:
    """The cut among those of a request that has the ratio of another method's, `cut`."""
    ratio = CutName.parse(cut).ratio
    own = dict.fromkeys(name.partition("/")[2] for name in names)
    return next((c for c in own if CutName.parse(c).ratio == ratio), cut)


def _found(request: dict[str, Any], supernet: str, cut: str) -> Choice:
    files, name = request["evaluations"], f"{supernet}/{cut}"
    if name not in files:
        raise UserError(
            f"{request.get('choice') or 'A table'} chooses '{name}', which is not among the runs "
            f"of the table: {', '.join(files)}. {REDO}"
        )
    return Choice(supernet, cut, files[name])


def _single(request: dict[str, Any], names: list[str]) -> str:
    if len(names) != 1:
        raise UserError(
            f"A table asks for one run, but is given {len(names)} ({describe(request)})."
        )
    return names[0]


def read_choice(path: str, request: dict[str, Any]) -> dict[str, Any]:
    choice = read_json(path)
    for key in ("dataset", "network", "method", "chosen", "candidates"):
        if key not in choice:
            raise UserError(f"{path} is not a choice: it lacks '{key}'. {REDO}")
    keys = ["dataset", "network"] + ["method"] * bool(request.get("own_choice"))
    for key in keys:
        if choice[key] != request[key]:
            raise UserError(
                f"{path} is the choice for {key} '{choice[key]}', but '{request[key]}' was asked "
                f"for ({describe(request)}). {REDO}"
            )
    chosen = choice["chosen"]
    pairs = [(c.get("supernet"), c.get("cut")) for c in choice["candidates"]]
    if chosen is not None and (chosen.get("supernet"), chosen.get("cut")) not in pairs:
        raise UserError(f"{path} chooses {chosen!r}, which is none of its candidates. {REDO}")
    return choice


def failure_of(choice: dict[str, Any]) -> str:
    """Why nothing was chosen: the reason, if all candidates share one."""
    reasons = dict.fromkeys(c["failed"] for c in choice["candidates"] if c.get("failed"))
    if len(reasons) == 1:
        return next(iter(reasons))
    return f"every candidate failed ({'; '.join(reasons)})" if reasons else "nothing to choose from"
