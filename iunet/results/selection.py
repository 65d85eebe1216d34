"""What tables take from the frame of runs: a row per method and seed, cuts, consistency, costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from iunet.errors import UserError
from iunet.results.collect import frame_of, runs_frame
from iunet.results.reports import MEASURED, REDO, TRANSFORMS
from iunet.runs.entries import NOT_FINISHED
from iunet.runs.names import CutName, base_network
from iunet.runs.settings import trains_decoder

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
METHOD = ["dataset", "network", "method"]
RUN = [*METHOD, "seed"]
MAIN_NETWORKS = {"tabular": "mlp_tab", "vision": "mlp_vis"}  # by kind of data
CHOOSE = ("omp", "beta_lasso", "iunet")  # methods with their own ratio on images
# How the `method` of a row ends, by what of a network was measured: as it was drawn, trained, or
# with the weights of other draws.
ENDINGS = {"consistency": "", "trained_consistency": "_trained", "fresh_consistency": "_redrawn"}


def of_methods(runs: pd.DataFrame, keys: Iterable[Iterable[str]]) -> pd.DataFrame:
    """The rows of some (data set, network, method), in the order of these."""
    import pandas as pd

    return pd.DataFrame(keys, columns=METHOD, dtype=object).drop_duplicates().merge(runs, on=METHOD)


def of_subnetworks(runs: pd.DataFrame) -> pd.DataFrame:
    """The candidates of all methods, cut by cut, with no choice among them."""
    import pandas as pd

    pruned = runs[runs["cut"].notna()]
    return pruned.sort_values("cut", key=lambda cuts: pd.factorize(cuts)[0], kind="stable")


def of_results(runs: pd.DataFrame, choice_of: str | None = None) -> pd.DataFrame:
    """The network that represents each method, data set and seed: one row each.

    If a method has several candidates, it is the chosen one. With `choice_of`, all methods with the
    ratios of that one use its choice, so that masks with another score, structure or position are
    compared at one ratio. If nothing was chosen, the row has the reason.
    """
    import pandas as pd

    ratios = [CutName.parse(cut).ratio if cut else None for cut in runs["cut"]]
    methods = dict(iter(runs.assign(cut_ratio=ratios).groupby(METHOD, sort=False)))
    cuts = {key: part[part["cut"].notna()] for key, part in methods.items()}
    ratios = {key: set(part["cut_ratio"].dropna()) for key, part in cuts.items()}
    found = [runs[:0]]
    for key, part in methods.items():
        if cuts[key].empty:
            found.append(part.drop_duplicates(RUN))
            continue  # else the supernets are not results of their own
        leader = (*key[:2], choice_of)
        leader = leader if ratios.get(leader) == ratios[key] else key
        same = ["supernet", "cut"] if leader == key else ["cut_ratio"]
        found.append(_picked(cuts[key], cuts[leader], same))
    return pd.concat(found, ignore_index=True)[[*runs]]


def _picked(candidates: pd.DataFrame, chooser: pd.DataFrame, same: list[str]) -> pd.DataFrame:
    """For each seed the candidate that equals the chosen one, or a row with the reason alone."""
    import pandas as pd

    chosen = chooser[chooser["chosen"].fillna(False)]
    if len(chosen):
        picked = candidates[(candidates[same] == chosen.iloc[0][same]).all(axis=1)]
        if sorted(picked["seed"]) != sorted(candidates["seed"].unique()):
            run, n = ", ".join(candidates.iloc[0][METHOD]), len(picked)
            raise UserError(
                f"The choice of {run} names {n} networks over all seeds; there must be one for "
                f"each seed. {REDO}"
            )
    else:
        picked = candidates.drop_duplicates("seed")
    missing = picked["seed"].map(candidates.groupby("seed")["missing"].first())
    waits = chosen.empty and chooser["chosen"].isna().any()
    missing = missing.fillna(NOT_FINISHED) if waits else missing
    gone = missing.notna() | chosen.empty
    if not gone.any():
        return picked
    reasons = picked.loc[gone, [*RUN, "stage"]].assign(supernet=None, cut=None, missing=missing)
    reasons["failed"] = reasons["missing"].isna().map({True: _failure(chooser), False: None})
    empty = runs_frame(reasons.to_dict("records")).set_axis(reasons.index)
    return pd.concat([picked[~gone], empty]).sort_index()


def _failure(candidates: pd.DataFrame) -> str:
    """Why nothing was chosen."""
    failed = candidates[candidates["failed"].notna()]
    texts = failed["failed"] + " (seed " + failed["seed"].astype(str) + ")"
    reasons = texts.groupby([failed["supernet"], failed["cut"]], sort=False).agg("; ".join).unique()
    if len(reasons) == 1:
        return reasons[0]
    return (
        f"every candidate failed ({'; '.join(reasons)})"
        if len(reasons)
        else "nothing to choose from"
    )


def main_runs(runs: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The runs on the main network of a kind of data: one for each method, data set and seed.

    On images the ratio is a method's own choice on validation in the paper's table of pruning
    methods, and IUNET's for its ablations and controls. Failed runs are kept: their seeds are
    finished. The only supernets are those of IUNET without pruning.
    """
    network = runs["network"].map(base_network) == MAIN_NETWORKS[kind]
    whole = (runs["stage"] == "dense") | (runs["method"] == "iunet_no_prune")
    if kind == "tabular":
        network |= runs["stage"] == "tuned"
        whole |= runs["stage"] == "tuned"
    chosen = runs["chosen"].fillna(False)
    if kind == "vision":
        iunets = runs[chosen & (runs["method"] == "iunet") & network]
        ratio = runs["dataset"].map(iunets.drop_duplicates("dataset").set_index("dataset")["ratio"])
        chosen = chosen.where(runs["method"].isin(CHOOSE), runs["ratio"] == ratio)
    counts = chosen | runs["failed"].notna()
    return runs[network & (whole | ((runs["stage"] == "subnetwork") & counts))]


def mean_scores(runs: pd.DataFrame, column: str) -> pd.DataFrame:
    """The means over seeds: data sets by methods."""
    groups = runs.groupby(["dataset", "method"], sort=False)[column]
    # By pandas' mean of each group alone, which rounds as a cell of a table does.
    means = groups.agg(lambda values: values.mean()).unstack()
    return means.reindex(runs["dataset"].unique())


def ranks(scores: pd.DataFrame) -> pd.DataFrame:
    """The ranks of the methods (columns) in each row; 1 is best.

    Scores are equal if they are in the three decimals that tables show, and share their rank then.
    """
    return scores.round(3).rank(axis=1, ascending=False, method="average")


def of_masks(runs: pd.DataFrame) -> pd.DataFrame:
    """The masks at every cut; for β-LASSO, with one cut of several supernets, the chosen one.

    A run without a report of its mask is not finished.
    """
    import pandas as pd

    pruned = runs[runs["cut"].notna()].reset_index(drop=True)
    several = pruned.groupby(METHOD)["supernet"].transform("nunique") > 1
    masks = pd.concat([pruned[~several], of_results(pruned[several])])
    return with_reason(masks, "layer_density")


def with_reason(runs: pd.DataFrame, column: str, reason: str = NOT_FINISHED) -> pd.DataFrame:
    """The runs, with a reason for those that have no value and are neither missing nor failed."""
    gone = runs[column].isna() & runs["missing"].isna() & runs["failed"].isna()
    return runs.assign(missing=runs["missing"].mask(gone, reason))


# ---- consistency under transforms


def consistency(runs: pd.DataFrame) -> pd.DataFrame:
    """A row for every network and transform: of IUNET, its supernet, and the dense network.

    `method` is `supernet` (θ†), `iunet` (mask ⊙ θ†), `iunet_redrawn` (mask ⊙ other draws of θ), or
    trained: `supernet_trained`, `dense_trained`, `iunet_trained`. A missing network has one row
    without a transform.
    """
    supernets: dict[tuple, dict[str, Row]] = {}
    for row in runs[runs["stage"] == "supernet"].to_dict("records"):
        supernets.setdefault(tuple(row[key] for key in RUN), {})[row["supernet"]] = row
    rows = []
    for result in of_results(runs).to_dict("records"):
        if result["stage"] == "dense":
            rows += _under_transforms(result, "trained_consistency")
            continue
        # θ† is the same for every supernet of a seed: without a choice, any of them shows it.
        own = supernets[tuple(result[key] for key in RUN)]
        supernet = own.get(result["supernet"]) or next(iter(own.values()))
        missing = {"missing": result["missing"] or supernet["missing"]}
        for network in (supernet | missing | {"method": "supernet"}, result | missing):
            for section in ("consistency", "trained_consistency"):
                rows += _under_transforms(network, section)
        rows += _under_transforms(result | missing, "fresh_consistency")
    return frame_of(rows, [*RUN, "transform", *MEASURED, "disconnected", "failed", "missing"])


def _under_transforms(row: Row, section: str) -> list[Row]:
    """A row per transform; an untrained supernet has values even if its training failed."""
    trained = section == "trained_consistency"
    head = {key: row[key] for key in RUN} | {"method": row["method"] + ENDINGS[section]}
    failed = row["failed"] if trained or row["stage"] != "supernet" else None
    if row["missing"] or failed:
        return [head | ({"missing": row["missing"]} if row["missing"] else {"failed": failed})]
    found = []
    for transform in TRANSFORMS:
        values = {m: row[f"{section}_{transform}_{m}"] for m in MEASURED}
        if values["same"] == values["same"]:  # not NaN
            facts = {"transform": transform, "disconnected": row["disconnected"]}
            found.append(head | facts | values)
    if not found and section != "fresh_consistency":  # which older reports lack
        run = ", ".join(str(head[key]) for key in RUN)
        raise UserError(f"The evaluation of the {row['stage']} has no {section} ({run}). {REDO}")
    return found


# ---- costs


def costs(runs: pd.DataFrame) -> pd.DataFrame:
    """Seconds and trials of every run and every study (with the seed None), each job once.

    A method that tries several supernets or cuts has the time of all of them.
    """
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
    return frame_of(rows, [*RUN, "seconds", "trials", "missing"])


def _training_times(part: pd.DataFrame) -> list[float]:
    """The times of all trainings for a run: of supernets, and of what was made from each."""
    stage = part["stage"].iloc[0]
    if stage in ("dense", "tuned"):
        return [*part["finetune_seconds" if stage == "dense" else "refit_seconds"]]
    supernets = [*part.drop_duplicates("supernet")["supernet_seconds"]]
    if stage == "subnetwork":
        return [*supernets, *part["finetune_seconds"]]
    without_decoder = part[[not trains_decoder(name) for name in part["supernet"]]]
    return [*supernets, *without_decoder["decoder_seconds"]]


def _total(part: pd.DataFrame, times: list[float]) -> Row:
    """The sum of all times; missing, if one of them is, or a run."""
    reasons = [*part["missing"].dropna(), *[NOT_FINISHED] * any(t != t for t in times)]
    if reasons:
        return {"seconds": None, "trials": None, "missing": reasons[0]}
    return {"seconds": sum(times), "missing": None}
