"""Reading run reports for tables: what is missing, truncated or contradictory is refused by name.

A report is an `evaluation.json`, a selection a `selection-<method>.json`. A request says which
result of which report a table needs:

    {"dataset", "network", "method", "seed", "kind": "supernet" | "dense" | "tuned" | "cut",
     "evaluations": {name of supernet: path}, "selection": path or None, "own_selection": bool,
     "cut": name or None, "missing": reason or None}

With `own_selection` the selection chooses the supernet and the cut, without it the cut alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.tables.names import base_network

KINDS = ("supernet", "dense", "tuned", "cut")
METRICS = [
    f"{part}_{metric}"
    for part in ("valid", "test")
    for metric in ("accuracy", "balanced_accuracy", "swapped_balanced_accuracy")
]
REDO = "It is an artifact of the workflow: delete it and run the same command again."


@dataclass
class Choice:
    """The supernet and cut that a request comes to, or why there is none."""

    supernet: str | None
    cut: str | None
    failed: str | None = None


def describe(request: dict[str, Any]) -> str:
    return "{dataset}, {network}, {method}, seed {seed}".format(**request)


def refuse_repeated(requests: list[dict[str, Any]]) -> None:
    """A seed counted twice would make a spread look smaller than it is."""
    seen: dict[tuple, dict[str, Any]] = {}
    for request in requests:
        key = tuple(request.get(k) for k in ("dataset", "network", "method", "seed", "cut"))
        other = seen.setdefault(key, request)
        if other is not request:
            files = [*other["evaluations"].values(), *request["evaluations"].values()]
            raise UserError(
                f"A table is asked for the same run twice ({describe(request)}): "
                f"{' and '.join(dict.fromkeys(map(str, files))) or 'both are marked missing'}. "
                "Each seed counts once."
            )


# ---- evaluations


def read_evaluation(path: str, request: dict[str, Any]) -> dict[str, Any]:
    """The report at `path`, once it is found to be that of the request."""
    report = read_json(path)
    if not isinstance(report, dict):
        raise UserError(f"{path} is not a run's report: it holds no JSON object. {REDO}")
    for key in ("dataset", "seed"):
        if report.get(key) != request[key]:
            raise UserError(
                f"{path} is the report of {key} {report.get(key)!r}, but {request[key]!r} was "
                f"asked for ({describe(request)}). {REDO}"
            )
    name = _network_name(report)
    known = (base_network(request["network"]), request["method"])
    if name not in known and not (name is None and request["kind"] == "tuned"):
        raise UserError(
            f"{path} is the report of network '{name}', but '{request['network']}' was asked for "
            f"({describe(request)}). {REDO}"
        )
    results = report.get("results")
    if not isinstance(results, list) or not results:
        raise UserError(f"{path} has no results ('results' is empty or absent). {REDO}")
    return report


def _network_name(report: dict[str, Any]) -> str | None:
    network = report.get("network")
    return network.get("name") if isinstance(network, dict) else network


def find_result(report: dict[str, Any], path: str, stage: str, cut: str | None) -> dict[str, Any]:
    """The one result of a stage (and cut)."""
    of_stage = [result for result in report["results"] if result.get("stage") == stage]
    found = [result for result in of_stage if cut is None or result.get("name") == cut]
    what = f"the cut '{cut}'" if cut else f"the stage '{stage}'"
    if not found:
        there = [str(r.get("name") or r.get("stage")) for r in report["results"]]
        raise UserError(f"{path} has no result of {what}; it has {', '.join(there)}. {REDO}")
    if len(found) > 1:
        raise UserError(f"{path} has {len(found)} results of {what}, not one. {REDO}")
    return found[0]


def read_metrics(result: dict[str, Any], path: str) -> dict[str, float]:
    """The metrics of a result that did not fail: percentages, every one.

    A tuned baseline is fitted again on train and valid, so of valid it has its trial's score only.
    """
    metrics = result.get("metrics")
    values = {}
    for key in METRICS:
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


# ---- selections


def choose(request: dict[str, Any]) -> Choice:
    """Which supernet and cut a request means."""
    kind, names = request["kind"], list(request["evaluations"])
    if kind not in KINDS:
        raise UserError(f"A table asks for the kind '{kind}' of run; known are {', '.join(KINDS)}.")
    only = names[0] if len(names) == 1 else None
    if kind != "cut":
        return Choice(_single(request, only), None)
    if request.get("cut"):
        return Choice(_single(request, only), request["cut"])
    if not request.get("selection"):
        raise UserError(f"A table asks for a cut without saying which ({describe(request)}).")
    selection = read_selection(request["selection"], request)
    chosen = selection["chosen"]
    if chosen is None:
        return Choice(None, None, failure_of(selection))
    supernet = chosen["supernet"] if request.get("own_selection") else _single(request, only)
    if supernet not in names:
        raise UserError(
            f"{request['selection']} chooses the supernet '{supernet}', which is not among the "
            f"runs of the table: {', '.join(names)}. {REDO}"
        )
    return Choice(supernet, chosen["cut"])


def _single(request: dict[str, Any], only: str | None) -> str:
    if only is None:
        raise UserError(
            f"A table asks for one run, but is given {len(request['evaluations'])} reports "
            f"({describe(request)})."
        )
    return only


def read_selection(path: str, request: dict[str, Any]) -> dict[str, Any]:
    selection = read_json(path)
    for key in ("dataset", "network", "method", "chosen", "candidates"):
        if not isinstance(selection, dict) or key not in selection:
            raise UserError(f"{path} is not a selection: it lacks '{key}'. {REDO}")
    keys = ["dataset", "network"] + ["method"] * bool(request.get("own_selection"))
    for key in keys:
        found, asked = base_name(key, selection[key]), base_name(key, request[key])
        if found != asked:
            raise UserError(
                f"{path} is the selection of {key} '{found}', but '{asked}' was asked for "
                f"({describe(request)}). {REDO}"
            )
    chosen = selection["chosen"]
    pairs = [(c.get("supernet"), c.get("cut")) for c in selection["candidates"]]
    if chosen is not None and (chosen.get("supernet"), chosen.get("cut")) not in pairs:
        raise UserError(f"{path} chooses {chosen!r}, which is none of its candidates. {REDO}")
    return selection


def base_name(key: str, value: str) -> str:
    return base_network(str(value)) if key == "network" else str(value)


def failure_of(selection: dict[str, Any]) -> str:
    """Why nothing was chosen: the reason, if all candidates share one."""
    reasons = dict.fromkeys(c["failed"] for c in selection["candidates"] if c.get("failed"))
    if len(reasons) == 1:
        return next(iter(reasons))
    return f"every candidate failed ({'; '.join(reasons)})" if reasons else "nothing to choose from"
