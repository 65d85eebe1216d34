"""The paper's claims: where it makes them, how they are measured, and what effect would count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from iunet.results.collect import Results
from iunet.tables.comparisons import (
    Compared,
    Finding,
    Runs,
    best_of_family,
    cheaper,
    less_lazy,
    metric_of_table7,
    more_consistent,
    more_local,
    near_the_cnn,
    not_run,
    one_setting,
    scores,
)
from iunet.tables.effects import FEW, effect
from iunet.tables.verdicts import verdict_of_difference, verdict_of_equality

POINTS, SHARE, PERCENT, RANKS = "points", "", "%", "ranks"
AT_CUT = ("network", "cut")
ACCURACY, BALANCED = "test accuracy", "test balanced accuracy"


@dataclass(frozen=True)
class Claim:
    key: str
    text: str
    where: str  # in the paper
    measure: str
    compare: Callable[[Runs], Compared | Finding]
    smallest: float | None = None  # effect of interest; None: the finding has its own verdict
    unit: str = POINTS
    equality: bool = False
    table: str | None = None  # where its numbers stand
    tuned: bool = False  # depends on the budgets of tuning

    def find(self, runs: Runs) -> Finding:
        compared = self.compare(runs)
        if isinstance(compared, Finding):
            return compared
        found = effect(compared.ours, compared.theirs)
        judge = verdict_of_equality if self.equality else verdict_of_difference
        remarks = compared.remarks or ([] if found else ["its methods are not in this run"])
        if found and 1 < len(found.datasets) < FEW:
            remarks = [self._one_by_one(compared, found.datasets), *remarks]
        return Finding(found, judge(found, self.smallest), remarks)

    def _one_by_one(self, compared: Compared, datasets: list[str]) -> str:
        """Of few data sets an interval says little: each with that of its seeds."""
        texts = []
        for name in datasets:
            found = effect({name: compared.ours[name]}, {name: compared.theirs[name]})
            interval = "" if found.low is None else f" [{found.low:+.2f}, {found.high:+.2f}]"
            texts.append(f"{name} {found.mean:+.2f}{interval}")
        return f"over seeds alone: {', '.join(texts)}"


CLAIMS = (
    Claim(
        "omp_images",
        "IUNET beats OMP on images",
        "section 5.1, table 1",
        f"{ACCURACY}, IUNET − OMP",
        scores("table1", "iunet", "omp"),
        1.0,
        table="table1",
    ),
    Claim(
        "dense_images",
        "IUNET beats the dense network on images",
        "section 5.1, table 1",
        f"{ACCURACY}, IUNET − dense",
        scores("table1", "iunet", "dense"),
        1.0,
        table="table1",
    ),
    Claim(
        "near_cnn",
        "IUNET's MLP comes near the CNN that it contains",
        "section 5.1, appendix D.3, table 6",
        f"{ACCURACY}, IUNET (MLP_VIS) − CNN",
        near_the_cnn,
        1.0,
        equality=True,
        table="table6",
    ),
    Claim(
        "best_family",
        "IUNET is the best of the MLP family on tables",
        "section 5.1, tables 2 and 7",
        "average of ranks by balanced accuracy within each seed, best rival − IUNET",
        best_of_family,
        0.25,
        RANKS,
        table="table7",
    ),
    Claim(
        "level_mlp_c",
        "IUNET is level with the tuned MLP+C on tables",
        "section 5.1, tables 2 and 7",
        f"{BALANCED}, IUNET − MLP+C",
        scores("table7", "iunet", "mlp_c", on=()),  # a tuned method has its own network
        1.0,
        equality=True,
        table="table7",
        tuned=True,
    ),
    Claim(
        "pis",
        "PIS is needed",
        "section 5.2, table 4",
        "test score, IUNET − IUNET without PIS",
        scores("table4", "iunet", "iunet_no_pis"),
        1.0,
        table="table4",
    ),
    Claim(
        "ilo",
        "ILO is needed",
        "section 5.2, table 4",
        "test score, IUNET − IUNET without ILO",
        scores("table4", "iunet", "iunet_no_ilo"),
        1.0,
        table="table4",
    ),
    Claim(
        "pruning",
        "Pruning is needed",
        "section 5.2, table 4",
        "test score, IUNET − IUNET without pruning",
        scores("table4", "iunet", "iunet_no_prune"),
        1.0,
        table="table4",
    ),
    Claim(
        "lazy",
        "IUNET trains less lazily",
        "sections 3.2.2 and 5.4, figure 3",
        "overlap with the mask of θ† at the same ratio, OMP − IUNET",
        less_lazy,
        0.05,
        SHARE,
        table="laziness",
    ),
    Claim(
        "consistent",
        "IUNET's untrained subnetwork is more consistent under transforms",
        "section 5.5, tables 3 and 5",
        "labels that stay the same, subnetwork − supernetwork",
        more_consistent,
        5.0,
        POINTS,
        table="table5",
    ),
    Claim(
        "local",
        "IUNET's first layer is more local on images",
        "section 5.6, figure 4",
        "distance of kept pixels over that of a shuffled mask, below OMP's by",
        more_local("distance of pixels"),
        5.0,
        PERCENT,
        table="locality",
    ),
    Claim(
        "selective",
        "IUNET's first layer selects single features on tables",
        "section 5.6, figure 4",
        "raw features of a unit over those of a shuffled mask, below OMP's by",
        more_local("raw features"),
        5.0,
        PERCENT,
        table="locality",
    ),
    Claim(
        "omp_dense",
        "OMP hardly beats the dense network",
        "section 5.3, table 1, figure 2",
        f"{ACCURACY}, OMP − dense",
        scores("table1", "omp", "dense"),
        1.0,
        equality=True,
        table="table1",
    ),
    Claim(
        "scl",
        "Supernets trained with SCL prune badly",
        "section 5.3, figure 2",
        f"{ACCURACY} at the same ratio, OMP − SCL",
        scores("figure2", "omp", "scl", "test_accuracy", AT_CUT),
        1.0,
        table="figure2",
    ),
    Claim(
        "one_setting",
        "One setting for all data would do",
        "appendix E.2",
        f"{ACCURACY} at one ratio for all images, IUNET − OMP",
        one_setting,
        1.0,
        table="search_fixed_ratio",
    ),
    Claim(
        "cheaper",
        "IUNET is cheaper than tuned rivals on tables",
        "section 5.1, appendix E.2",
        "seconds of the cheapest tuned rival over IUNET's, all runs and trials, by data set",
        cheaper,
        unit="times",
        table="cost",
        tuned=True,
    ),
    Claim(
        "metric",
        "The scores of table 7 are balanced accuracies",
        "appendix E.1, tables 7 and 9",
        "cells of the MLP columns that balanced accuracy can have at all, where classes are equal",
        metric_of_table7,
        unit=PERCENT,
        table="metric_problem",
    ),
    Claim(
        "on_top",
        "IUNET also works on top of MLP+C's settings",
        "section 5.1, table 7",
        "–",
        not_run("the paper gives no number, and no such run is part of the benchmark"),
    ),
)


def findings(results: Results, methods: dict[str, list[list[str]]]) -> dict[str, Finding]:
    """What the runs say of every claim; `methods` by table, as `Runs` takes them."""
    runs = Runs(results, methods)
    return {claim.key: claim.find(runs) for claim in CLAIMS}
