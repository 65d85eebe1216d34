"""From run reports to tidy frames, which the tables are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iunet.errors import UserError
from iunet.runs.names import CutName
from iunet.tables.reports import (
    REDO,
    SCORED,
    choose,
    percentage,
    read_evaluation,
    read_metrics,
    refuse_repeated,
)

if TYPE_CHECKING:
    import pandas as pd

SIZES = [
    "encoder_weights",
    "kept_encoder_weights",
    "encoder_compression",
    "parameters",
    "kept_parameters",
    "model_compression",
    "flops_dense",
    "flops_sparse",
    "members",
    "ensemble_kept_parameters",
    "ensemble_flops_sparse",
]
ASKED = ["dataset", "network", "method", "seed"]
COLUMNS = [
    *ASKED,
    "supernet",
    "cut",
    "ratio",
    "stage",
    "failed",
    "missing",
    "disconnected",
    *SCORED,
    *SIZES,
    "overlap_with_initial_mask",
]
CONSISTENCY_COLUMNS = [*ASKED, "transform", "same", "distinct_labels", "failed", "missing"]
TEXTS = ["supernet", "cut", "stage", "failed", "missing", "transform"]


def read_runs(requests: list[dict[str, Any]]) -> pd.DataFrame:
    """One row per request: the metrics and sizes of its result, or why there are none."""
    refuse_repeated(requests)
    return make_frame([_read_run(request) for request in requests])


def make_frame(rows: list[dict[str, Any]], columns: list[str] | None = None) -> pd.DataFrame:
    """A frame with all columns; numbers that a row lacks are NaN, texts None."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=columns or COLUMNS)
    for column in frame.columns.intersection([*SCORED, *SIZES, "ratio", "same"]):
        frame[column] = pd.to_numeric(frame[column])
    for column in frame.columns.intersection(TEXTS):
        texts = frame[column].astype(object)
        frame[column] = texts.where(texts.notna(), None)
    return frame


def _read_run(request: dict[str, Any]) -> dict[str, Any]:
    row = {key: request[key] for key in ASKED}
    row |= {"cut": request.get("cut"), "ratio": ratio_of(request.get("cut"))}
    if request.get("missing"):
        return row | {"missing": request["missing"]}
    choice = choose(request)
    row |= {"supernet": choice.supernet, "cut": choice.cut, "failed": choice.failed}
    if choice.failed:
        return row
    result = read_evaluation(choice.path, request)
    row |= {"ratio": result.get("ratio"), "stage": result["stage"]}
    row |= {"disconnected": bool(result.get("disconnected"))}
    sizes = result.get("sizes") or {}
    row |= {key: sizes.get(key) for key in SIZES}
    row["overlap_with_initial_mask"] = result.get("overlap_with_initial_mask")
    if result.get("failed"):
        return row | {"failed": result["failed"]}
    return row | read_metrics(result, choice.path)


def ratio_of(cut: str | None) -> float | None:
    """The ratio of a cut (`ratio8`), so that a missing run has its place in a grid."""
    return None if cut is None else CutName.parse(cut).ratio


def read_consistency(requests: list[dict[str, Any]]) -> pd.DataFrame:
    """Of IUNET's requests: both networks under every transform, one row each.

    `method` is `supernet` (θ†) or the request's own (mask ⊙ θ†). What is missing has one row per
    network, without a transform.
    """
    refuse_repeated(requests)
    rows = [row for request in requests for row in _read_consistency(request)]
    return make_frame(rows, CONSISTENCY_COLUMNS)


def _read_consistency(request: dict[str, Any]) -> list[dict[str, Any]]:
    key = {name: request[name] for name in ASKED}
    methods = ("supernet", request["method"])
    if request.get("missing"):
        return [key | {"method": m, "missing": request["missing"]} for m in methods]
    choice = choose(request)
    # θ† is the same for every supernet of a seed: without a choice, any of them shows it.
    supernets = request["supernets"]
    path = supernets[choice.supernet] if choice.supernet else next(iter(supernets.values()))
    supernet = _transforms(read_evaluation(path, request, "supernet"), path)
    rows = [key | {"method": "supernet", "transform": t, **v} for t, v in supernet.items()]
    own = read_evaluation(choice.path, request) if choice.path else {}
    failed = choice.failed or own.get("failed")
    if failed:
        return rows + [key | {"transform": t, "failed": failed} for t in supernet]
    ours = _transforms(own, choice.path)
    if list(ours) != list(supernet):
        raise UserError(
            f"{choice.path} has other transforms ({', '.join(ours)}) than {path}, the report of "
            f"its supernet ({', '.join(supernet)}). {REDO}"
        )
    return rows + [key | {"transform": t, **v} for t, v in ours.items()]


def _transforms(result: dict[str, Any], path: str) -> dict[str, dict[str, float]]:
    values = {}
    for transform, entry in (result.get("consistency") or {}).items():
        same = percentage(entry.get("same"), f"consistency.{transform}.same", path)
        distinct = entry.get("distinct_labels")
        if not isinstance(distinct, int) or distinct < 1:
            raise UserError(
                f"{path}: 'consistency.{transform}.distinct_labels' is {distinct!r}, which is no "
                f"number of labels. {REDO}"
            )
        values[transform] = {"same": same, "distinct_labels": distinct}
    if not values:
        raise UserError(f"{path} has no consistency of its {result.get('stage')}. {REDO}")
    return values
