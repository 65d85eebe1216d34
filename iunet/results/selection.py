"""What tables take from the frame of runs: a row per method and seed, cuts, consistency, costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iunet.errors import UserError
from iunet.results.collect import runs_frame
from iunet.results.reports import MEASURED, REDO, TRANSFORMS
from iunet.runs.entries import NOT_FINISHED, Cell
from iunet.runs.names import CutName
from iunet.runs.settings import trains_decoder

if TYPE_CHECKING:
    import pandas as pd

METHOD = ["dataset", "network", "method"]
RUN = [*METHOD, "seed"]
TRAINED = "_trained"  # ends the `method` of rows on trained networks


def of_cells(frame: pd.DataFrame, cells: list[Cell]) -> pd.DataFrame:
    """The rows of some cells, in the order of the cells."""
    places = {(c.dataset, c.method.network, c.method.name): i for i, c in enumerate(cells)}
    place = frame[METHOD].apply(tuple, axis=1).map(places) if len(frame) else frame["seed"]
    return frame[place.notna()].loc[place.dropna().sort_values(kind="stable").index]


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
    parts = dict(iter(runs.groupby(METHOD, sort=False)))
    ratios = {key: _ratios(part) for key, part in parts.items()}
    rows, gone = [], []
    for key, part in parts.items():
        candidates = part[part["cut"].notna()]
        if candidates.empty:
            rows += list(part.index)
            continue
        leader = (*key[:2], choice_of)
        leader = leader if ratios.get(leader) == ratios[key] else key
        for _, seed_part in candidates.groupby("seed", sort=False):
            found, reason = _picked(seed_part, parts[leader], own=leader == key)
            # Of what has no network, the first candidate's row lends its place.
            rows.append(seed_part.index[0] if found is None else found)
            if reason:
                gone.append({**seed_part.iloc[0][RUN], "stage": "subnetwork", **_nowhere(reason)})
                rows[-1] = -len(gone)
    return _with_blank_rows(runs, rows, gone)


def _nowhere(reason: dict[str, str]) -> dict[str, Any]:
    return {"supernet": None, "cut": None, "failed": None, "missing": None} | reason


def _with_blank_rows(
    runs: pd.DataFrame, rows: list[Any], gone: list[dict[str, Any]]
) -> pd.DataFrame:
    """The rows of these labels; −1, −2, … are the first, second, … of the blank ones."""
    import pandas as pd

    if not gone:
        return runs.loc[rows]
    blank = runs_frame(gone).reindex(columns=runs.columns)
    blank.index = [-1 - i for i in range(len(gone))]
    return pd.concat([runs, blank]).loc[rows].reset_index(drop=True)


def _ratios(part: pd.DataFrame) -> frozenset:
    return frozenset(CutName.parse(cut).ratio for cut in part["cut"].dropna().unique())


def _picked(
    candidates: pd.DataFrame, chooser: pd.DataFrame, own: bool
) -> tuple[Any, dict[str, str] | None]:
    """The label of the row that a choice means for one seed, or why there is none."""
    if candidates["missing"].notna().any():
        return None, {"missing": candidates["missing"].dropna().iloc[0]}
    among = chooser[chooser["cut"].notna()]
    chosen = among[among["chosen"].fillna(False)]
    if chosen.empty:
        if among["chosen"].isna().any():
            return None, {"missing": NOT_FINISHED}
        return None, {"failed": _failure(among)}
    if own:
        pair = chosen.iloc[0][["supernet", "cut"]]
        found = candidates[(candidates[["supernet", "cut"]] == pair).all(axis=1)]
    else:
        ratio = CutName.parse(chosen.iloc[0]["cut"]).ratio
        found = candidates[[CutName.parse(cut).ratio == ratio for cut in candidates["cut"]]]
    if len(found) != 1:
        run = ", ".join(map(str, candidates.iloc[0][RUN]))
        raise UserError(f"The choice means {len(found)} networks of one seed ({run}). {REDO}")
    return found.index[0], None


def _failure(candidates: pd.DataFrame) -> str:
    """Why nothing was chosen: the reason, if all candidates share one."""
    reasons: dict[str, None] = {}
    for _, part in candidates.groupby(["supernet", "cut"], sort=False):
        failed = part[part["failed"].notna()]
        texts = [f"{f} (seed {s})" for f, s in zip(failed["failed"], failed["seed"], strict=True)]
        if texts:
            reasons["; ".join(texts)] = None
    if len(reasons) == 1:
        return next(iter(reasons))
    return f"every candidate failed ({'; '.join(reasons)})" if reasons else "nothing to choose from"


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
        for row, of in ((supernet, "supernet"), (result, name)):
            sections = {"consistency": of, "trained_consistency": of + TRAINED}
            rows += _networks(row, key, sections)
    columns = [*RUN, "transform", *MEASURED, "disconnected", "failed", "missing"]
    frame = pd.DataFrame(rows, columns=columns)
    for column in ("transform", "failed", "missing"):
        texts = frame[column].astype(object)
        frame[column] = texts.where(texts.notna(), None)
    return frame.assign(same=pd.to_numeric(frame["same"]), kappa=pd.to_numeric(frame["kappa"]))


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
