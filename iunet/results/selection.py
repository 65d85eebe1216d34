"""What tables take from the frame of runs: a row per method and seed, cuts, consistency, costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from iunet.errors import UserError
from iunet.results.collect import runs_frame
from iunet.results.reports import MEASURED, REDO, TRANSFORMS
from iunet.results.runs_csv import KEY
from iunet.runs.entries import NOT_FINISHED
from iunet.runs.names import CutName
from iunet.runs.settings import trains_decoder

if TYPE_CHECKING:
    import pandas as pd

METHOD = ["dataset", "network", "method"]
RUN = [*METHOD, "seed"]
TRAINED = "_trained"  # ends the `method` of rows on trained networks


def of_methods(frame: pd.DataFrame, keys: Iterable[Iterable[str]]) -> pd.DataFrame:
    """The rows of some (data set, network, method), in the order of these."""
    places = {tuple(key): place for place, key in enumerate(keys)}
    own = zip(*(frame[column] for column in METHOD), strict=True)
    place = [places.get(key, -1) for key in own]
    ordered = frame.assign(_place=place).sort_values("_place", kind="stable")
    return ordered[ordered["_place"] >= 0].drop(columns="_place")


def of_subnetworks(runs: pd.DataFrame) -> pd.DataFrame:
    """The candidates of all methods at each cut, cut by cut, with no choice among them."""
    pruned = runs[runs["cut"].notna()]
    cuts = {cut: place for place, cut in enumerate(dict.fromkeys(pruned["cut"]))}
    return pruned.sort_values("cut", key=lambda names: names.map(cuts), kind="stable")


def of_results(runs: pd.DataFrame, choice_of: str | None = None) -> pd.DataFrame:
    """The network that stands for each method, data set and seed: one row each.

    Of a method with several candidates it is the chosen one. With `choice_of` all methods that have
    the ratios of that one use its choice: masks that differ in their score, structure or positions
    are compared at one ratio. Where nothing was chosen, the row says why.
    """
    import pandas as pd

    methods = _candidates(runs)
    ratios = {key: frozenset(row["ratio"] for row in part) for key, part in methods.items()}
    places, blank = [], []
    for key, part in methods.items():
        leader = (*key[:2], choice_of)
        leader = leader if ratios.get(leader) == ratios[key] else key
        seeds: dict[int, list[Row]] = {}
        for row in part:
            seeds.setdefault(row["seed"], []).append(row)
        for seed, rows in seeds.items():
            place, reason = _picked(rows, methods[leader], own=leader == key)
            if reason:  # a row without a network, behind all others
                place = len(runs) + len(blank)
                head = dict(zip(RUN, (*key, seed), strict=True))
                nowhere = {"supernet": None, "cut": None, "failed": None, "missing": None}
                blank.append(head | {"stage": rows[0]["stage"]} | nowhere | reason)
            places.append(place)
    if blank:
        runs = pd.concat([runs, runs_frame(blank).reindex(columns=runs.columns)])
    return runs.iloc[places].reset_index(drop=True)


Row = dict[str, Any]  # what decides of a run whether it is shown


def _candidates(runs: pd.DataFrame) -> dict[tuple, list[Row]]:
    """The runs of each method; of one with cuts, without the supernets beside them."""
    columns = [*METHOD, "seed", "stage", "supernet", "cut", "missing", "failed"]
    found: dict[tuple, list[Row]] = {}
    for place, values in enumerate(zip(*(runs[column] for column in columns), strict=True)):
        row = dict(zip(columns, values, strict=True)) | {"place": place}
        row["ratio"] = CutName.parse(row["cut"]).ratio if row["cut"] else None
        found.setdefault(values[:3], []).append(row)
    chosen = [*runs["chosen"].astype(object).where(runs["chosen"].notna(), None)]
    for key, part in found.items():
        for row in part:
            row["chosen"] = chosen[row["place"]]
        found[key] = [row for row in part if row["cut"]] or part
    return found


def _picked(rows: list[Row], chooser: list[Row], own: bool) -> tuple[int, dict[str, str] | None]:
    """The place of the row that a choice means for one seed, or why there is none."""
    if not rows[0]["cut"]:
        return rows[0]["place"], None
    if reasons := [row["missing"] for row in rows if row["missing"]]:
        return -1, {"missing": reasons[0]}
    chosen = next((row for row in chooser if row["chosen"]), None)
    if chosen is None:
        if any(row["chosen"] is None for row in chooser):
            return -1, {"missing": NOT_FINISHED}
        return -1, {"failed": _failure(chooser)}
    alike = ("supernet", "cut") if own else ("ratio",)
    found = [row for row in rows if all(row[key] == chosen[key] for key in alike)]
    if len(found) != 1:
        run = ", ".join(str(rows[0][key]) for key in RUN)
        raise UserError(f"The choice means {len(found)} networks of one seed ({run}). {REDO}")
    return found[0]["place"], None


def _failure(candidates: list[Row]) -> str:
    """Why nothing was chosen: the reason, if all candidates share one."""
    failures: dict[tuple, list[str]] = {}
    for row in candidates:
        if row["failed"]:
            texts = failures.setdefault((row["supernet"], row["cut"]), [])
            texts.append(f"{row['failed']} (seed {row['seed']})")
    reasons = dict.fromkeys("; ".join(texts) for texts in failures.values())
    if len(reasons) == 1:
        return next(iter(reasons))
    return f"every candidate failed ({'; '.join(reasons)})" if reasons else "nothing to choose from"


# ---- masks


def of_masks(runs: pd.DataFrame) -> pd.DataFrame:
    """The masks at every cut; of β-LASSO, with one cut of several supernets, the chosen one."""
    import pandas as pd

    pruned = runs[runs["cut"].notna()]
    parts = []
    for _, part in pruned.groupby(METHOD, sort=False):
        parts.append(of_results(part) if part["supernet"].nunique() > 1 else part)
    return pd.concat(parts, ignore_index=True) if parts else pruned


def with_layers(masks: pd.DataFrame, layers: pd.DataFrame) -> pd.DataFrame:
    """Runs with the frame of their mask's layers in the column `layers`."""
    import pandas as pd

    parts = dict(iter(layers.groupby(list(KEY), sort=False))) if len(layers) else {}
    keys = zip(*(masks[column] for column in KEY), strict=True)
    own = pd.Series([parts.get(key) for key in keys], index=masks.index, dtype=object)
    gone = own.isna() & masks["missing"].isna() & masks["failed"].isna()
    return masks.assign(layers=own, missing=masks["missing"].mask(gone, NOT_FINISHED))


# ---- consistency under transforms


def consistency(runs: pd.DataFrame) -> pd.DataFrame:
    """Every network under every transform, a row each, from IUNET, its supernet and the dense one.

    `method` is `supernet` (θ†), `iunet` (mask ⊙ θ†), or of trained networks `supernet_trained`,
    `dense_trained`, `iunet_trained`. What is missing has one row per network, without a transform.
    """
    import pandas as pd

    supernets = {
        (*(row[key] for key in RUN), row["supernet"]): row
        for row in runs[runs["stage"] == "supernet"].to_dict("records")
    }
    rows: list[dict[str, Any]] = []
    for result in of_results(runs).to_dict("records"):
        key = {name: result[name] for name in RUN}
        name = result["method"]
        if result["stage"] == "dense":
            rows += _networks(result, key, {"trained_consistency": name + TRAINED})
            continue
        # θ† is the same for every supernet of a seed: without a choice, any of them shows it.
        own = {k[-1]: row for k, row in supernets.items() if k[:-1] == tuple(key.values())}
        supernet = own.get(result["supernet"]) or next(iter(own.values()))
        if reason := result["missing"] or supernet["missing"]:
            methods = ("supernet", name, f"supernet{TRAINED}", name + TRAINED)
            rows += [key | {"method": method, "missing": reason} for method in methods]
            continue
        found = []
        for row, of in ((supernet, "supernet"), (result, name)):
            sections = {"consistency": of, "trained_consistency": of + TRAINED}
            found += _networks(row, key, sections)
        _refuse_other_transforms(found)
        rows += found
    columns = [*RUN, "transform", *MEASURED, "disconnected", "failed", "missing"]
    frame = pd.DataFrame(rows, columns=columns)
    for column in ("transform", "failed", "missing"):
        texts = frame[column].astype(object)
        frame[column] = texts.where(texts.notna(), None)
    return frame.assign(same=pd.to_numeric(frame["same"]), kappa=pd.to_numeric(frame["kappa"]))


def _refuse_other_transforms(rows: list[dict[str, Any]]) -> None:
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.get("transform"):
            found.setdefault(row["method"], []).append(row["transform"])
    if len(set(map(tuple, found.values()))) > 1:
        run = ", ".join(str(rows[0][key]) for key in ("dataset", "network", "seed"))
        each = "; ".join(f"{method}: {', '.join(names)}" for method, names in found.items())
        raise UserError(f"A network and its supernet have different transforms ({run}): {each}.")


def _networks(
    row: dict[str, Any], key: dict[str, Any], sections: dict[str, str]
) -> list[dict[str, Any]]:
    """A network under every transform; an untrained supernet has its values also if it failed."""
    found = []
    for section, method in sections.items():
        head = key | {"method": method}
        if row["missing"]:
            found.append(head | {"missing": row["missing"]})
        elif row["failed"] and (section == "trained_consistency" or row["stage"] != "supernet"):
            found.append(head | {"failed": row["failed"]})
        else:
            found += _transforms(row, section, head)
    return found


def _transforms(row: dict[str, Any], section: str, head: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for transform in TRANSFORMS:
        values = {m: row[f"{section}_{transform}_{m}"] for m in MEASURED}
        if values["same"] == values["same"]:  # not NaN
            facts = {"transform": transform, "disconnected": row["disconnected"]}
            found.append(head | facts | values)
    if not found:
        run = ", ".join(str(head[key]) for key in RUN)
        raise UserError(f"The evaluation of the {row['stage']} has no {section} ({run}). {REDO}")
    return found


# ---- costs


def costs(runs: pd.DataFrame) -> pd.DataFrame:
    """Seconds and trials of every run, and of every study (whose seed is None), each job once.

    A method that tries several supernets or cuts has the time of them all.
    """
    import pandas as pd

    rows, counted = [], set()
    for key, part in runs.groupby(RUN, sort=False):
        part = part[part["cut"].notna()] if part["cut"].notna().any() else part
        head = dict(zip(RUN, key, strict=True))
        rows.append(head | {"trials": 0} | _total(part, _training_times(part)))
        study = (*key[:3], part["study"].iloc[0])
        if study[-1] and study not in counted:
            counted.add(study)
            trials = part[["trials_complete", "trials_failed"]].sum(axis=None)
            total = _total(part, [*part["study_seconds"]])
            rows.append(head | {"seed": None, "trials": trials} | total)
    columns = [*RUN, "seconds", "trials", "missing"]
    frame = pd.DataFrame(rows, columns=columns).astype({"missing": object})
    return frame.assign(missing=frame["missing"].where(frame["missing"].notna(), None))


def _training_times(part: pd.DataFrame) -> list[float]:
    """Of all that was trained for a run: supernets, then what was made of each."""
    stage = part["stage"].iloc[0]
    if stage in ("dense", "tuned"):
        return [*part["finetune_seconds" if stage == "dense" else "refit_seconds"]]
    supernets = [*part.drop_duplicates("supernet")["supernet_seconds"]]
    if stage == "subnetwork":
        return [*supernets, *part["finetune_seconds"]]
    without_decoder = part[[not trains_decoder(name) for name in part["supernet"]]]
    return [*supernets, *without_decoder["decoder_seconds"]]


def _total(part: pd.DataFrame, times: list[float]) -> dict[str, Any]:
    """The sum of all times; missing, if one of them is, or a run."""
    reasons = [*part["missing"].dropna(), *[NOT_FINISHED] * any(t != t for t in times)]
    if reasons:
        return {"seconds": None, "trials": None, "missing": reasons[0]}
    return {"seconds": sum(times), "missing": None}
