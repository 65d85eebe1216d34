"""What the rows of runs.csv answer: methods against each other, over data sets and seeds.

The ledger of claims (iunet/tables/claims.py) judges the paper's sentences; these are the questions
that its readers ask beside them. Both use the same effects, intervals and smallest effects.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from iunet.labels import SCORES, method_label
from iunet.paper import paper_table
from iunet.runs.names import base_network
from iunet.runs.settings import network_kind
from iunet.study.rows import YES
from iunet.tables.effects import Effect, Sample, effect, verdict_of_difference
from iunet.tables.measures import PAPER_TRIALS

Row = dict[str, Any]
SMALLEST = 1.0  # point of accuracy or balanced accuracy
NAMES = {"tabular": "tables", "vision": "images"}
SCORE = {"tabular": "test_balanced_accuracy", "vision": "test_accuracy"}
OPEN, NOT_RUN, NOT_ASKED = "open", "not run", "–"
FIXED_RATIO = 8  # at which images are compared; tables have it anyway
PAPER_COLUMNS = {"dense": "mlp_tab", "omp": "omp", "beta_lasso": "beta_lasso", "iunet": "iunet"}


@dataclass(frozen=True)
class Question:
    text: str
    ours: str
    theirs: str
    kinds: tuple[str, ...] = ("tabular", "vision")


QUESTIONS = (
    Question("Does IUNET beat OMP?", "iunet", "omp"),
    Question("Does IUNET beat the dense network?", "iunet", "dense"),
    Question("Does OMP beat the dense network?", "omp", "dense"),
    Question(
        "Does IUNET beat the tuned MLP+C? (which sees valid, too, and weights its classes)",
        *("iunet", "mlp_c"),
        kinds=("tabular",),
    ),
    Question("Is PIS needed?", "iunet", "iunet_no_pis"),
    Question("Is PIS more than 16 times the learning rate at κ = 1?", "iunet", "ilo_lr16"),
    Question("Does IUNET beat OMP with 16 times the learning rate?", "iunet", "omp_lr16"),
    Question("Is ILO needed?", "iunet", "iunet_no_ilo"),
    Question("Is pruning needed? (the supernet as it was trained)", "iunet", "iunet_no_prune"),
    Question("Is pruning needed? (the supernet, fine-tuned alike)", "iunet", "supernet_finetuned"),
    Question("Is the mask more than the densities of its layers?", "iunet", "iunet_shuffled"),
    Question("Is the mask better than as many random weights?", "iunet", "iunet_random"),
    Question("Is the mask better than that of the initial weights?", "iunet", "iunet_initial"),
    Question("Is the mask better than OMP's by the relative score?", "iunet", "omp_relative"),
    Question("Is θ† better than fresh weights under the same mask?", "iunet", "iunet_fresh"),
    Question("Do the trained weights beat θ†?", "iunet_no_reinit", "iunet"),
    Question("Is it better than a small dense network?", "iunet", "dense_small"),
    Question("Does IUNET beat OMP, both from he_normal?", "iunet_he_normal", "omp_he_normal"),
    Question("Is PIS needed from he_normal?", "iunet_he_normal", "iunet_no_pis_he_normal"),
    Question("Is IUNET better from torch_default than from he_normal?", "iunet", "iunet_he_normal"),
)


def shown(rows: list[Row], kind: str, at_chosen: bool = False) -> list[Row]:
    """The rows that stand for their methods: whole, chosen (tables), or at one ratio (images).

    With `at_chosen` images, too, stand at the ratio that each method chose on validation.
    """
    at_chosen = at_chosen or kind == "tabular"
    return [row for row in rows if _kind(row) == kind and _stands_for_its_method(row, at_chosen)]


def _kind(row: Row) -> str:
    return "tabular" if row["stage"] == "tuned" else network_kind(row["network"])


def _stands_for_its_method(row: Row, at_chosen: bool) -> bool:
    if row["stage"] == "supernet":  # others are shown beside what is cut from them
        return row["method"] == "iunet_no_prune"
    if row["stage"] != "subnetwork":
        return True
    return row["chosen"] == YES if at_chosen else row["ratio"] in (1, FIXED_RATIO)


def sample(
    rows: list[Row], kind: str, method: str, column: str | None = None, at_chosen: bool = False
) -> Sample:
    """A method's score by data set and seed; on the main network of the kind."""
    found: Sample = {}
    for row in shown(_of_method(rows, kind, method), kind, at_chosen):
        value = row[column or SCORE[kind]]
        if row["failed"] is None and value is not None:
            found.setdefault(row["dataset"], {})[row["seed"]] = value
    return found


def _of_method(rows: list[Row], kind: str, method: str) -> list[Row]:
    network = {"tabular": "mlp_tab", "vision": "mlp_vis"}[kind]
    return [
        row
        for row in rows
        if row["method"] == method
        and (row["stage"] == "tuned" or base_network(row["network"]) == network)
    ]


def compare(
    rows: list[Row], kind: str, ours: str, theirs: str, at_chosen: bool = False
) -> Effect | None:
    """The mean difference with its interval, on the data sets with the most seeds of both."""
    return effect(*_paired(rows, kind, ours, theirs, at_chosen))


def depends_on(rows: list[Row], kind: str, ours: str, theirs: str) -> list[str]:
    """The data sets without any one of which the answer would be another."""
    one, other = _paired(rows, kind, ours, theirs)
    answer = word(effect(one, other))
    found = []
    for left_out in one if len(one) > 1 else ():
        less = [{d: v for d, v in side.items() if d != left_out} for side in (one, other)]
        if word(effect(*less)) != answer:
            found.append(left_out)
    return found


def each_difference(rows: list[Row], kind: str, ours: str, theirs: str) -> dict[str, float]:
    """The difference of means by data set, on those of `compare`."""
    one, other = _paired(rows, kind, ours, theirs)
    return {d: fmean(one[d].values()) - fmean(other[d].values()) for d in one}


def _paired(
    rows: list[Row], kind: str, ours: str, theirs: str, at_chosen: bool = False
) -> tuple[Sample, Sample]:
    """Both sides on the seeds that both have; data sets with fewer of them are not finished.

    A seed that failed is finished: its data set stays, with the others of its seeds.
    """
    one, other = (sample(rows, kind, method, at_chosen=at_chosen) for method in (ours, theirs))
    common = {d: [s for s in one[d] if s in other[d]] for d in one if d in other}
    failed: dict[str, set[int]] = {}
    for row in (row for method in (ours, theirs) for row in _of_method(rows, kind, method)):
        if row["failed"]:
            failed.setdefault(row["dataset"], set()).add(row["seed"])
    ended = {d: len({*seeds, *failed.get(d, ())}) for d, seeds in common.items()}
    most = max(ended.values(), default=0)
    whole = {d: seeds for d, seeds in common.items() if seeds and ended[d] == most}
    one, other = ({d: {s: side[d][s] for s in whole[d]} for d in whole} for side in (one, other))
    return one, other


def cut_off_sets(
    rows: list[Row], kind: str, methods: tuple[str, str], among: list[str]
) -> list[str]:
    """The data sets on which some network of these methods has a layer without any weight."""
    found = {
        row["dataset"]
        for method in methods
        for row in shown(_of_method(rows, kind, method), kind)
        if row["disconnected"] == YES
    }
    return [dataset for dataset in among if dataset in found]


def other_processors(
    rows: list[Row], kind: str, methods: tuple[str, str], among: list[str]
) -> list[str]:
    """The data sets on which some seed of the two methods ran on different processors.

    There it has the same initial weights and batches for both, but roundings of its own. The oldest
    reports do not name their processor, and are not counted.
    """
    one, other = (
        {
            (row["dataset"], row["seed"]): row["processor"]
            for row in shown(_of_method(rows, kind, method), kind)
            if row["processor"]
        }
        for method in methods
    )
    apart = {run[0] for run in one if run in other and one[run] != other[run]}
    return [dataset for dataset in among if dataset in apart]


def answers(rows: list[Row]) -> list[dict[str, Any]]:
    """Every question on every kind of data that was run."""
    found = []
    for question in QUESTIONS:
        for kind in question.kinds:
            if difference := compare(rows, kind, question.ours, question.theirs):
                found.append(
                    {
                        "question": question.text,
                        "kind": NAMES[kind],
                        "compared": f"{method_label(question.ours)} − "
                        f"{method_label(question.theirs)}",
                        "effect": difference,
                        "cut_off": cut_off_sets(
                            rows, kind, (question.ours, question.theirs), difference.datasets
                        ),
                        "other_processors": other_processors(
                            rows, kind, (question.ours, question.theirs), difference.datasets
                        ),
                        "verdict": word(difference),
                        "depends_on": depends_on(rows, kind, question.ours, question.theirs)
                        if word(difference) != OPEN
                        else [],
                    }
                )
    return found


def word(found: Effect) -> str:
    """yes, no (any gain is below the smallest effect), worse (wholly below 0), or open."""
    if found.high is not None and found.high < 0:
        return "no, worse"
    return {"reproduced": "yes", "not reproduced": "no"}.get(
        verdict_of_difference(found, SMALLEST), OPEN
    )


# ---- beside the paper's table 7


def nearer_metric(rows: list[Row]) -> list[dict[str, Any]]:
    """Set by set: is the paper's MLP column nearer to our balanced accuracy, or to the swapped?

    If the paper's value lies beyond both of ours, the larger (or smaller) of them is the nearer
    one whatever the metric was: `between` says whether it does not, and `nearest` takes accuracy
    into account.
    """
    found = []
    for paper in paper_table(7):
        for method, column in PAPER_COLUMNS.items():
            theirs = paper[column]
            ours = {
                metric: sample(rows, "tabular", method, f"test_{metric}").get(paper["dataset"])
                for metric in SCORES
            }
            if theirs and all(ours.values()):
                means = {metric: fmean(values.values()) for metric, values in ours.items()}
                gaps = {metric: abs(mean - float(theirs)) for metric, mean in means.items()}
                two = {metric: gap for metric, gap in gaps.items() if metric != "accuracy"}
                low, high = sorted(means[metric] for metric in two)
                found.append(
                    {
                        "dataset": paper["dataset"],
                        "method": method,
                        "paper": float(theirs),
                        **means,
                        "nearer": _smallest(two),
                        "nearest": _smallest(gaps),
                        "between": low <= float(theirs) <= high,
                    }
                )
    return found


def _smallest(gaps: dict[str, float]) -> str | None:
    """The metric with the smallest gap; None if several have it."""
    best = [metric for metric, gap in gaps.items() if gap == min(gaps.values())]
    return best[0] if len(best) == 1 else None


def tuned_beside_paper(rows: list[Row]) -> list[dict[str, Any]]:
    """Of XGB, TabNet and MLP+C, set by set: our mean, the paper's, trials, and the best of them.

    `valid` is what that trial had on validation: if its refits have far less on test, a part of it
    was luck of the search.
    """
    found = []
    for paper in paper_table(7):
        for method in PAPER_TRIALS:
            ours = sample(rows, "tabular", method).get(paper["dataset"])
            if ours and paper[method]:
                largest = max(
                    (
                        row
                        for row in rows
                        if (row["dataset"], row["method"]) == (paper["dataset"], method)
                        and row["trials_complete"] is not None
                    ),
                    key=lambda row: (row["trials_complete"], row["best_trial"]),
                    default=None,
                )
                if largest is None:  # the report of its study is gone
                    continue
                found.append(
                    {
                        "dataset": paper["dataset"],
                        "method": method,
                        "paper": float(paper[method]),
                        "ours": fmean(ours.values()),
                        "trials": largest["trials_complete"],
                        "best_trial": largest["best_trial"],
                        "valid": largest["valid_balanced_accuracy"],
                    }
                )
    return found
