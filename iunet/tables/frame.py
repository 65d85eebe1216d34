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
MEASURED = ["same", "distinct_labels", "kappa"]  # of a network under a transform
CONSISTENCY_COLUMNS = [*ASKED, "transform", *MEASURED, "disconnected", "failed", "missing"]
TRAINED = "_trained"  # ends the `method` of rows on trained networks
TEXTS = ["supernet", "cut", "stage", "failed", "missing", "transform"]


def read_runs(requests: list[dict[str, Any]]) -> pd.DataFrame:
    """One row per request: the metrics and sizes of its result, or why there are none."""
    refuse_repeated(requests)
    return make_frame([_read_run(request) for request in requests])


def make_frame(rows: list[dict[str, Any]], columns: list[str] | None = None) -> pd.DataFrame:
    """A frame with all columns; numbers that a row lacks are NaN, texts None."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=columns or COLUMNS)
    for column in frame.columns.intersection([*SCORED, *SIZES, "ratio", "same", "kappa"]):
        frame[column] = pd.to_numeric(frame[column])
    for column in frame.columns.intersection(TEXTS):
        texts = frame[column].astype(object)
        frame[column] = texts.where(texts.notna(), None)
    return frame


def _read_run(request: dict[str, Any]) -> dict[str, Any]:
    row = {key: request[key] for key in ASKED}
    row |= {key: request.get(key) for key in ("supernet", "cut")}
    row["ratio"] = ratio_of(row["cut"])
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
    """Of requests for IUNET and dense networks: every network under every transform, a row each.

    `method` is `supernet` (θ†), `iunet` (mask ⊙ θ†), or of trained networks `supernet_trained`,
    `dense_trained`, `iunet_trained`. What is missing has one row per network, without a transform.
    """
    refuse_repeated(requests)
    rows = [row for request in requests for row in _read_consistency(request)]
    return make_frame(rows, CONSISTENCY_COLUMNS)


def _read_consistency(request: dict[str, Any]) -> list[dict[str, Any]]:
    key = {name: request[name] for name in ASKED}
    name = request["method"]
    of_dense = request["stage"] == "dense"
    networks = [] if of_dense else ["supernet", name, f"supernet{TRAINED}"]
    networks.append(name + TRAINED)
    if request.get("missing"):
        return [key | {"method": n, "missing": request["missing"]} for n in networks]
    choice = choose(request)
    rows = []
    if not of_dense:
        # θ† is the same for every supernet of a seed: without a choice, any of them shows it.
        supernets = request["supernets"]
        path = supernets[choice.supernet] if choice.supernet else next(iter(supernets.values()))
        rows += _networks(read_evaluation(path, request, "supernet"), path, key, "supernet")
    own = read_evaluation(choice.path, request) if choice.path else {"failed": choice.failed}
    if own.get("failed"):
        failed = {"failed": own["failed"]}
        return rows + [key | {"method": n} | failed for n in (name, name + TRAINED)]
    rows += _networks(own, choice.path, key, name)
    _refuse_other_transforms(rows, choice.path)
    return rows


def _networks(
    result: dict[str, Any], path: str, key: dict[str, Any], name: str
) -> list[dict[str, Any]]:
    """Of a report: the untrained network, if it has it, and the trained one."""
    sections = {} if result["stage"] == "dense" else {"consistency": name}
    rows = []
    for section, method in (sections | {"trained_consistency": name + TRAINED}).items():
        if section == "trained_consistency" and result.get("failed"):
            rows.append(key | {"method": method, "failed": result["failed"]})
            continue
        facts = {"method": method, "disconnected": bool(result.get("disconnected"))}
        values = _transforms(result, section, path)
        rows += [key | facts | {"transform": t, **v} for t, v in values.items()]
    return rows


def _refuse_other_transforms(rows: list[dict[str, Any]], path: str) -> None:
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.get("transform"):
            found.setdefault(row["method"], []).append(row["transform"])
    first, *others = found.items()
    for method, transforms in others:
        if transforms != first[1]:
            raise UserError(
                f"{path} and the report of its supernet have different transforms: "
                f"{', '.join(first[1])} ({first[0]}), but {', '.join(transforms)} ({method}). "
                f"{REDO}"
            )


def _transforms(result: dict[str, Any], section: str, path: str) -> dict[str, dict[str, Any]]:
    values = {}
    for transform, entry in (result.get(section) or {}).items():
        place = f"{section}.{transform}"
        same = percentage(entry.get("same"), f"{place}.same", path)
        distinct, kappa = entry.get("distinct_labels"), entry.get("kappa")
        if not isinstance(distinct, int) or distinct < 1:
            raise UserError(
                f"{path}: '{place}.distinct_labels' is {distinct!r}, which is no number of labels. "
                f"{REDO}"
            )
        if kappa is not None and not (isinstance(kappa, int | float) and -1 <= kappa <= 1):
            raise UserError(f"{path}: '{place}.kappa' is {kappa!r}, which is no kappa. {REDO}")
        values[transform] = {"same": same, "distinct_labels": distinct, "kappa": kappa}
    if not values:
        raise UserError(f"{path} has no {section} of its {result.get('stage')}. {REDO}")
    return values
