"""Comparisons of methods, by which runs measure the paper's claims (iunet/tables/claim_list.py)."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, log
from statistics import fmean
from typing import TYPE_CHECKING

from iunet.baselines.catalog import LEARNERS
from iunet.labels import method_label
from iunet.results.collect import Results
from iunet.results.selection import (
    consistency,
    costs,
    of_masks,
    of_methods,
    of_results,
    of_subnetworks,
    with_masks,
)
from iunet.runs.names import base_network
from iunet.tables.cells import in_order, select
from iunet.tables.effects import Effect, Sample, effect
from iunet.tables.locality import first_layers
from iunet.tables.names import with_primary
from iunet.tables.verdicts import (
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    UNDECIDED,
    verdict_of_difference,
)

if TYPE_CHECKING:
    import pandas as pd

PAPER_TRIALS = {"xgb": 600, "tabnet": 440, "mlp_c": 840}
EVERY_CUT = ("figure2", "fixed_ratio")  # compared at the same ratios, chosen or not
FAMILY = ("iunet", "dense", "omp", "beta_lasso")  # of MLP_TAB


@dataclass
class Finding:
    """What the runs say of a claim."""

    effect: Effect | None
    verdict: str
    remarks: list[str] = field(default_factory=list)


@dataclass
class Compared:
    """Both sides of a claim, and remarks on their runs."""

    ours: Sample
    theirs: Sample
    remarks: list[str] = field(default_factory=list)


class Runs:
    """The frames that claims compare, each made when a claim asks for it.

    `methods` has, by the name of a table, the (data set, network, method) that it shows.
    """

    def __init__(self, results: Results, methods: dict[str, list[list[str]]]):
        self.results, self.methods = results, methods

    def _of(self, table: str) -> pd.DataFrame:
        return of_methods(self.results.runs, self.methods[table])

    @functools.cache  # noqa: B019  (one object per ledger)
    def scores(self, table: str) -> pd.DataFrame:
        """One row per seed: what was chosen, or every cut of tables that compare ratios."""
        if table in EVERY_CUT:
            return with_primary(of_subnetworks(self._of(table)))
        return with_primary(of_results(self._of(table), "iunet" if table == "table4" else None))

    @cached_property
    def consistency(self) -> pd.DataFrame:
        return consistency(self._of("consistency"))

    @cached_property
    def laziness(self) -> pd.DataFrame:
        masks = with_masks(of_masks(self._of("laziness")))
        return masks.assign(overlap=masks["mask_overlap"])

    @cached_property
    def locality(self) -> pd.DataFrame:
        names = {f"first_layer_{key}": key for key in ("measure", "wide_features")}
        layers = first_layers(self._of("locality")).rename(columns=names)
        return layers.assign(ratio=layers["first_layer_ratio"])

    @cached_property
    def costs(self) -> pd.DataFrame:
        return costs(self._of("cost"))


# ---- both sides of a comparison


def sides(
    frame: pd.DataFrame,
    ours: dict[str, str],
    theirs: dict[str, str],
    column: str,
    on: tuple[str, ...] = ("network",),
) -> Compared:
    """The values of two methods by data set and seed, as means over what `on` names.

    Only what both sides have counts: a network, cut or transform of one side alone does not, nor
    one that has fewer seeds than others: it is not finished.
    """
    parts = [select(frame, **where) for where in (ours, theirs)]
    samples: tuple[Sample, Sample] = ({}, {})
    for dataset in in_order(parts[0]["dataset"]):
        found = [_by_seed(select(part, dataset=dataset), column, on) for part in parts]
        common = _common_keys(*found)
        for sample, side in zip(samples, found, strict=True):
            sample[dataset] = {
                seed: sum(values[key] for key in common) / len(common)
                for seed, values in side.items()
                if common and values.keys() >= set(common)
            }
    return Compared(*samples, _remarks(parts))


def _common_keys(
    ours: dict[int, dict[tuple, float]], theirs: dict[int, dict[tuple, float]]
) -> list[tuple]:
    """In order, since with a set's the last bit of a mean would vary."""
    counts = [Counter(key for values in side.values() for key in values) for side in (ours, theirs)]
    seeds = {key: min(count[key] for count in counts) for key in counts[0] & counts[1]}
    return sorted(key for key, n in seeds.items() if n == max(seeds.values()))


def _by_seed(part: pd.DataFrame, column: str, on: tuple[str, ...]) -> dict[int, dict[tuple, float]]:
    values: dict[int, dict[tuple, float]] = {}
    for _, row in part[part[column].notna()].iterrows():
        key = tuple(row[name] for name in on)
        values.setdefault(int(row["seed"]), {})[key] = float(row[column])
    return values


def _remarks(parts: list[pd.DataFrame]) -> list[str]:
    """Runs that are missing, failed or cut off, of either side."""
    texts: dict[str, None] = {}
    for part in parts:
        for column in ("missing", "failed"):
            for reason, rows in part.groupby(column) if len(part) else ():
                texts[f"{', '.join(in_order(rows['dataset']))}: {reason}"] = None
        if "disconnected" in part and (cut_off := int(part["disconnected"].eq(True).sum())):
            name = method_label(part["method"].iloc[0])
            texts[f"{cut_off} of {len(part)} masks of {name} are disconnected"] = None
    return list(texts)


def scores(
    table: str,
    ours: str,
    theirs: str,
    column: str = "test_primary",
    on: tuple[str, ...] = ("network",),
) -> Callable[[Runs], Compared]:
    """A comparison of two methods in the scores of a table."""
    return lambda runs: sides(runs.scores(table), {"method": ours}, {"method": theirs}, column, on)


# ---- the measures that are no plain difference of scores


def one_setting(runs: Runs) -> Compared | Finding:
    """At one ratio for all image sets; of a single set it would say nothing."""
    frame = runs.scores("fixed_ratio")
    ours, theirs = {"method": "iunet"}, {"method": "omp"}
    compared = sides(frame, ours, theirs, "test_accuracy", ("network", "cut"))
    both = [d for d, values in compared.ours.items() if values and compared.theirs[d]]
    if len(both) == 1:
        alone = f"needs several sets, and only {both[0]} ran"
        return Finding(None, NOT_RUN, [alone, *compared.remarks])
    return compared


def near_the_cnn(runs: Runs) -> Compared:
    frame = runs.scores("table6")
    frame = frame.assign(base=frame["network"].map(base_network))
    ours, theirs = {"base": "mlp_vis", "method": "iunet"}, {"base": "cnn", "method": "dense"}
    compared = sides(frame, ours, theirs, "test_accuracy", on=())
    dense = runs.scores("table1").assign(base=lambda t: t["network"].map(base_network))
    dense = select(dense, base="mlp_vis", method="dense")
    for dataset, cnn in compared.theirs.items():
        scores = select(dense, dataset=dataset)["test_accuracy"].dropna()
        if cnn and len(scores) and fmean(cnn.values()) < scores.mean():
            compared.remarks.append(
                f"no reference on {dataset}: the CNN is below the dense MLP "
                f"({fmean(cnn.values()):.1f} and {scores.mean():.1f} %)"
            )
    return compared


def best_of_family(runs: Runs) -> Compared | Finding:
    """The rank of IUNET's best rival less its own, among the methods of one family."""
    frame = runs.scores("table7")
    table = frame.pivot_table(
        index=["dataset", "seed"], columns="method", values="test_balanced_accuracy"
    )
    family = [method for method in FAMILY if method in table]
    if "iunet" not in family or len(family) < 2:
        return Finding(None, NOT_RUN, ["its methods are not in this run"])
    complete = table[family].dropna()
    ranks = complete.round(3).rank(axis=1, ascending=False)
    if ranks.empty:
        return Finding(None, NOT_RUN, ["no data set has every method"])
    means = ranks.groupby("dataset").mean().mean().drop("iunet")
    rival = str(means.idxmin())
    samples: tuple[Sample, Sample] = ({}, {})
    for (dataset, seed), row in ranks.iterrows():
        for sample, method in zip(samples, (rival, "iunet"), strict=True):
            sample.setdefault(dataset, {})[int(seed)] = float(row[method])
    remarks = [f"best rival: {method_label(rival)}"]
    if absent := [method_label(m) for m in FAMILY if m not in family]:
        remarks.append(f"without {', '.join(absent)}")
    parts = [select(frame, method=method) for method in family]
    return Compared(*samples, [*remarks, *_remarks(parts)])


def less_lazy(runs: Runs) -> Compared:
    """At the same ratios, since the overlap by chance depends on them."""
    return sides(
        runs.laziness, {"method": "omp"}, {"method": "iunet"}, "overlap", ("network", "cut")
    )


def more_consistent(runs: Runs) -> Compared:
    frame = runs.consistency
    ours, theirs = {"method": "iunet"}, {"method": "supernet"}
    compared = sides(frame, ours, theirs, "same", ("network", "transform"))
    labels = select(frame, **ours)["distinct_labels"].dropna()
    if len(labels) and labels.min() == 1:
        part = f"{int((labels == 1).sum())} of {len(labels)}"
        compared.remarks.append(f"in {part} cases the subnetwork predicts one label for all rows")
    return compared


def more_local(measure: str) -> Callable[[Runs], Compared]:
    """By how many percent IUNET's ratio to the shuffled mask is below OMP's, at the same ratios.

    A dense mask is near chance whatever it is, so masks of different ratios do not compare.
    """

    def compare(runs: Runs) -> Compared:
        frame = runs.locality
        own = frame[frame["measure"] == measure]
        moves = own.get("wide_features")
        narrow = [] if moves is None else in_order(own[moves == 0]["dataset"])
        own = own[~own["dataset"].isin(narrow)]
        compared = sides(own, {"method": "omp"}, {"method": "iunet"}, "ratio", ("network", "cut"))
        below: Sample = {}
        for dataset, omp in compared.ours.items():
            iunet = compared.theirs[dataset]
            below[dataset] = {s: 100 * (1 - iunet[s] / v) for s, v in omp.items() if s in iunet}
        remarks = [f"without {', '.join(narrow)}: no feature of several columns"] * bool(narrow)
        return Compared(below, _zeros(below), [*remarks, *compared.remarks])

    return compare


def cheaper(runs: Runs) -> Finding:
    """Seconds of the cheapest tuned method, tuning included, over IUNET's, set by set."""
    frame = runs.costs
    rivals = {m: _ratios_of_seconds(frame, m) for m in LEARNERS if m in set(frame["method"])}
    means = {m: effect(ratios, _zeros(ratios)) for m, ratios in rivals.items() if ratios}
    if not means:
        return Finding(None, NOT_RUN, ["its methods are not in this run"])
    cheapest = min(means, key=lambda m: means[m].mean)
    found = means[cheapest]
    each = ", ".join(f"{method_label(m)} {exp(e.mean):.2g}" for m, e in means.items())
    remarks = [f"seconds over IUNET's, geometric mean of data sets: {each}"]
    if without := sorted({*frame["dataset"]} - {*found.datasets}):
        remarks.append(f"without {', '.join(without)}: not all times are there")
    if found.low is None:
        remarks.append("one data set: no interval")
    low, high = (None if end is None else exp(end) for end in (found.low, found.high))
    verdict = verdict_of_difference(found, 0.0)
    papers = PAPER_TRIALS.get(cheapest, 0)
    if verdict == NOT_REPRODUCED and (trials := _fewest_trials(frame, cheapest)) < papers:
        verdict = UNDECIDED
        remarks.append(
            f"{method_label(cheapest)} would cost more with the paper's {papers} trials; it had "
            f"as few as {trials}"
        )
    seeds = int(select(frame, method="iunet")["seed"].nunique())
    return Finding(Effect(exp(found.mean), low, high, found.datasets, seeds), verdict, remarks)


def _fewest_trials(frame: pd.DataFrame, method: str) -> int:
    """Of all its studies."""
    return int(select(frame, method=method).groupby("dataset")["trials"].sum().min())


def _ratios_of_seconds(frame: pd.DataFrame, rival: str) -> Sample:
    """log(seconds of the rival / seconds of IUNET), where all times of both are there."""
    found: Sample = {}
    for dataset in in_order(frame["dataset"]):
        parts = [select(frame, dataset=dataset, method=m) for m in (rival, "iunet")]
        if all(len(part) and part["missing"].isna().all() for part in parts):
            theirs, ours = (float(part["seconds"].sum()) for part in parts)
            found[dataset] = {0: log(theirs / ours)}
    return found


def _zeros(sample: Sample) -> Sample:
    return {dataset: dict.fromkeys(values, 0.0) for dataset, values in sample.items()}


def metric_of_table7(runs: Runs) -> Finding:
    """From the paper's own numbers: can they be balanced accuracies?"""
    from iunet.tables.metric_problem import metric_problem

    counts = metric_problem()["counts"]["mlp_tab"]
    share = 100 * counts["attainable_as_mean"] / counts["equal_class_cells"]
    possible = counts["majority"] == 0 and share == 100
    remarks = [
        f"{counts['majority']} of {counts['cells']} cells equal the test split's majority rate",
        "from the paper's own numbers: no run, no interval",
    ]
    verdict = REPRODUCED if possible else NOT_REPRODUCED
    return Finding(Effect(share, None, None, [], 0), verdict, remarks)


def not_run(reason: str) -> Callable[[Runs], Finding]:
    return lambda runs: Finding(None, NOT_RUN, [reason])
