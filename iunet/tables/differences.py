"""Paired differences of methods, by data set and seed, from frames of runs.

`compared` pairs two methods in any frame of runs. Some of the paper's claims need more than a
difference of two scores: the measures below.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from iunet.baselines.catalog import LEARNERS
from iunet.labels import method_label
from iunet.results.collect import Results
from iunet.results.scale import PAPER_TRIALS
from iunet.results.selection import (
    consistency,
    costs,
    of_masks,
    of_methods,
    of_results,
    of_subnetworks,
    ranks,
)
from iunet.runs.names import base_network
from iunet.tables.cells import select
from iunet.tables.locality import first_layers
from iunet.tables.metric_problem import counts_of_cells
from iunet.tables.verdicts import NOT_REPRODUCED, REPRODUCED, Effect, Finding

if TYPE_CHECKING:
    import pandas as pd

FAMILY = ["iunet", "dense", "omp", "beta_lasso"]  # of MLP_TAB
NEAR = 1.1  # densities of first layers that differ by less count as equal


@dataclass
class Compared:
    """Paired differences, positive in favour of "ours", and remarks on their runs."""

    differences: pd.Series
    remarks: list[str] = field(default_factory=list)


SELECTIONS = {  # the runs that a table shows, if not one result per method
    "table4": partial(of_results, choice_of="iunet"),
    "table5": consistency,
    "figure2": of_subnetworks,  # compared at the same ratios, chosen or not
    "search_fixed_ratio": of_subnetworks,
    "laziness": of_masks,
    "locality": first_layers,
    "cost": costs,
}


def runs_of_table(results: Results, methods: list[list[str]], table: str) -> pd.DataFrame:
    """The runs that a table shows, each with a score, an overlap, a consistency, …

    `methods` are the (data set, network, method) of the table.
    """
    return SELECTIONS.get(table, of_results)(of_methods(results.runs, methods))


# ---- pairs


def compared(
    frame: pd.DataFrame, ours: str, theirs: str, column: str, on: tuple[str, ...] = ()
) -> Compared:
    """Two methods of a frame, ours − theirs."""
    sides = [select(frame, method=method) for method in (ours, theirs)]
    pairs = paired(*sides, column, on)
    return Compared(pairs["ours"] - pairs["theirs"], remarks_on(sides))


def paired(
    ours: pd.DataFrame, theirs: pd.DataFrame, column: str, on: tuple[str, ...] = ()
) -> pd.DataFrame:
    """The values of both sides by data set and seed, as means over what `on` names.

    A network, cut or transform counts only if both sides have it, and with as many seeds as the
    others: one with fewer is not finished. The same holds for data sets. A seed that failed is
    finished, so its data set counts, with the other seeds.
    """
    import pandas as pd

    key = ["dataset", "seed", *on]
    sides = {"ours": ours, "theirs": theirs}
    values = [
        s[[*key, column]].dropna().set_axis([*key, name], axis=1) for name, s in sides.items()
    ]
    both = pd.merge(*values, on=key)
    for group in (["dataset", *on], ["dataset", "seed"]):
        size = both.groupby(group)["seed"].transform("size")
        both = both[size == size.groupby(both["dataset"]).transform("max")]
    ordered = both.sort_values(list(on)).groupby(["dataset", "seed"], sort=False)
    pairs = ordered[["ours", "theirs"]].agg(lambda values: sum(values) / len(values))
    failed = pd.concat(side[side["failed"].notna()] for side in sides.values())
    ended = pd.concat([pairs.reset_index(), failed[failed["dataset"].isin(both["dataset"])]])
    seeds = ended.groupby("dataset")["seed"].nunique()
    return pairs.loc[[name for name in both["dataset"].unique() if seeds[name] == seeds.max()]]


def remarks_on(parts: list[pd.DataFrame]) -> list[str]:
    """Remarks on the runs of both sides that are missing, failed or cut off."""
    texts: dict[str, None] = {}
    for part in parts:
        for column in ("missing", "failed"):
            for reason, rows in part.groupby(column) if len(part) else ():
                texts[f"{', '.join(rows['dataset'].unique())}: {reason}"] = None
        if "disconnected" in part and (cut_off := int(part["disconnected"].eq(True).sum())):
            name = method_label(part["method"].iloc[0])
            texts[f"{cut_off} of {len(part)} masks of {name} are disconnected"] = None
    return list(texts)


# ---- measures that are more than a difference of scores


def one_setting(frame: pd.DataFrame) -> Compared:
    """IUNET − OMP at one ratio for all image sets; a single set would show nothing."""
    found = compared(frame, "iunet", "omp", "test_accuracy", ("network", "cut"))
    sets = found.differences.index.unique("dataset")
    if len(sets) != 1:
        return found
    return Compared(
        found.differences.iloc[:0], [f"needs several sets, and only {sets[0]} ran", *found.remarks]
    )


def near_the_cnn(frame: pd.DataFrame) -> Compared:
    """The share of the gap from the dense MLP to the CNN that IUNET's MLP closes, in percent.

    A data set on which the CNN is not above the dense MLP does not count.
    """
    base = frame["network"].map(base_network)
    iunet, dense = (select(frame[base == "mlp_vis"], method=name) for name in ("iunet", "dense"))
    cnn = select(frame[base == "cnn"], method="dense")
    pairs = paired(iunet, dense, "test_accuracy")
    remarks = remarks_on([iunet, dense, cnn])
    references = paired(cnn, dense, "test_accuracy").groupby("dataset", sort=False).mean()
    for dataset, (above, below) in references.iterrows():
        if above <= below:
            remarks.append(
                f"no reference on {dataset}: the CNN is not above the dense MLP "
                f"({above:.1f} and {below:.1f} %)"
            )
    gaps = references["ours"] - references["theirs"]
    gaps = pairs.index.get_level_values("dataset").map(gaps[gaps > 0])
    shares = 100 * (pairs["ours"] - pairs["theirs"]) / gaps
    return Compared(shares.dropna(), remarks)


def best_of_family(frame: pd.DataFrame) -> Compared:
    """The rank of IUNET's best rival less its own, among the methods of one family."""
    scores = frame.pivot_table(
        index=["dataset", "seed"], columns="method", values="test_balanced_accuracy"
    ).reindex(columns=FAMILY)
    family = [method for method in FAMILY if scores[method].notna().any()]
    own_ranks = ranks(scores[family].dropna())
    if "iunet" not in family or len(family) < 2:
        return Compared(own_ranks.sum(axis=1).iloc[:0])
    if own_ranks.empty:
        return Compared(own_ranks["iunet"], ["no data set has every method"])
    rival = own_ranks.groupby("dataset").mean().mean().drop("iunet").idxmin()
    remarks = [f"best rival: {method_label(rival)}"]
    if absent := [method_label(method) for method in FAMILY if method not in family]:
        remarks.append(f"without {', '.join(absent)}")
    parts = [select(frame, method=method) for method in family]
    return Compared(own_ranks[rival] - own_ranks["iunet"], [*remarks, *remarks_on(parts)])


def more_consistent(frame: pd.DataFrame) -> Compared:
    found = compared(frame, "iunet", "supernet", "same", ("network", "transform"))
    labels = select(frame, method="iunet")["distinct_labels"].dropna()
    if constant := int((labels == 1).sum()):
        part = f"{constant} of {len(labels)}"
        found.remarks.append(f"in {part} cases the subnetwork predicts one label for all rows")
    return found


def first_layer_below_omp(frame: pd.DataFrame, measure: str) -> Compared:
    """By how many percent IUNET's ratio to the shuffled mask is below OMP's at the same density.

    A dense mask is near chance whatever it is, so OMP's is taken at the density of IUNET's.
    """
    own = select(frame, first_layer_measure=measure)
    narrow = [*select(own, first_layer_wide_features=0)["dataset"].unique()]
    own = own[~own["dataset"].isin(narrow)]
    omp, iunet = (select(own, method=method) for method in ("omp", "iunet"))
    at_density = iunet.assign(first_layer_ratio=_at_density_of(iunet, omp))
    pairs = paired(at_density, iunet, "first_layer_ratio", ("network", "cut"))
    remarks = [f"without {', '.join(narrow)}: no feature of several columns"] * bool(narrow)
    return Compared(
        100 * (1 - pairs["theirs"] / pairs["ours"]), [*remarks, *remarks_on([omp, iunet])]
    )


def _at_density_of(masks: pd.DataFrame, others: pd.DataFrame) -> list[float]:
    """The ratios that first layers of `others` have, or would have, at the densities of `masks`.

    Between two cuts of a seed it is interpolated in the logarithm of the density. Beyond them a
    density within a tenth counts as equal; else there is none.
    """
    import numpy as np

    known = others.dropna(subset=["first_layer_ratio", "layer_density"])
    known = known.assign(density=[layers[0] for layers in known["layer_density"]])
    curves = dict(iter(known.sort_values("density").groupby(["dataset", "network", "seed"])))
    found = []
    for mask in masks.itertuples():
        curve = curves.get((mask.dataset, mask.network, mask.seed), known[:0])
        density = mask.layer_density[0] if mask.layer_density else np.nan
        within = curve["density"].min() / NEAR <= density <= curve["density"].max() * NEAR
        ends = np.log(curve["density"]), curve["first_layer_ratio"]
        found.append(np.interp(np.log(density), *ends) if within else np.nan)
    return found


def cheaper(frame: pd.DataFrame) -> Compared:
    """log₂ of MLP+C's seconds over IUNET's, tuning included and shared by the seeds."""
    import numpy as np

    per_run = frame[frame["seed"].notna() & frame["missing"].isna()]
    own = per_run.set_index(["dataset", "seed", "method"])["seconds"].unstack()
    own = own.reindex(columns=["iunet", *LEARNERS])
    studies = frame[frame["seed"].isna()].groupby(["dataset", "method"])["seconds"].sum(min_count=1)
    shared = studies.unstack().reindex(columns=list(LEARNERS))
    shared = shared.div(own.groupby("dataset")["iunet"].count(), axis=0)
    seconds = own[[*LEARNERS]].add(shared, level="dataset")
    ratios = np.log2(seconds.div(own["iunet"], axis=0)).reindex(frame["dataset"].unique(), level=0)
    found = ratios["mlp_c"].dropna()
    if found.empty:
        return Compared(found)
    remarks = [f"{2 ** found.groupby('dataset').mean().mean():.2g} times at the budgets run"]
    trials = select(frame, method="mlp_c").groupby("dataset")["trials"].sum()
    trials = trials[found.index.unique("dataset")]
    if (trials < (papers := PAPER_TRIALS["mlp_c"])).any():
        longer = shared["mlp_c"] * (papers / trials - 1)
        whole = np.log2(seconds["mlp_c"].add(longer, level="dataset") / own["iunet"]).dropna()
        remarks.append(
            f"with {trials.min():.0f} to {trials.max():.0f} trials; extrapolated to the paper's "
            f"{papers}: {2 ** whole.groupby('dataset').mean().mean():.0f} times"
        )
    for other in ("xgb", "tabnet"):
        if len(logs := ratios[other].dropna()):
            times = 2 ** logs.groupby("dataset").mean().mean()
            remarks.append(f"{method_label(other)}: {times:.2g} times")
    if without := sorted({*frame["dataset"]} - {*found.index.unique("dataset")}):
        remarks.append(f"without {', '.join(without)}: not all times are there")
    return Compared(found, remarks)


def metric_of_table7() -> Finding:
    """From the paper's own numbers: can they be balanced accuracies?"""
    counts = counts_of_cells()["mlp_tab"]
    share = 100 * counts["attainable_as_mean"] / counts["equal_class_cells"]
    possible = counts["majority"] == 0 and share == 100
    remarks = [
        f"{counts['majority']} of {counts['cells']} cells equal the test split's majority rate",
        "from the paper's own numbers: no run, no interval",
    ]
    judged = REPRODUCED if possible else NOT_REPRODUCED
    return Finding(Effect({"table 7": share}, 0), judged, remarks=remarks)


MEASURES = {  # by claim
    "near_cnn": near_the_cnn,
    "best_family": best_of_family,
    "consistent": more_consistent,
    "local": partial(first_layer_below_omp, measure="distance of pixels"),
    "selective": partial(first_layer_below_omp, measure="raw features"),
    "one_setting": one_setting,
    "cheaper": cheaper,
}
