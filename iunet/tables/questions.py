"""Questions that readers ask beside the paper's claims: one method against another.

The ledger (iunet/tables/claims.py) judges the paper's sentences. Both use the same effects,
intervals, smallest effects and verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from iunet.labels import method_label
from iunet.runs.names import base_network
from iunet.runs.settings import network_kind
from iunet.tables.effects import Effect, Sample, effect
from iunet.tables.verdicts import OPEN, answer

if TYPE_CHECKING:
    import pandas as pd

NAMES = {"tabular": "tables", "vision": "images"}
NETWORKS = {"tabular": "mlp_tab", "vision": "mlp_vis"}  # the main ones
SCORE = {"tabular": "test_balanced_accuracy", "vision": "test_accuracy"}
FIXED_RATIO = 8  # at which images are compared; tables have it anyway


@dataclass(frozen=True)
class Question:
    """Is `ours` better than `theirs`?"""

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


def answers(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Every question on every kind of data that was run, from the frame of runs."""
    found = []
    for question in QUESTIONS:
        pair = (question.ours, question.theirs)
        for kind in question.kinds:
            if difference := compare(runs, kind, *pair):
                verdict = answer(difference)
                found.append(
                    {
                        "question": question.text,
                        "kind": NAMES[kind],
                        "compared": " − ".join(map(method_label, pair)),
                        "effect": difference,
                        "cut_off": cut_off_sets(runs, kind, pair, difference.datasets),
                        "other_processors": other_processors(runs, kind, pair, difference.datasets),
                        "verdict": verdict,
                        "depends_on": [] if verdict == OPEN else depends_on(runs, kind, *pair),
                    }
                )
    return found


def compare(runs: pd.DataFrame, kind: str, ours: str, theirs: str) -> Effect | None:
    """The mean difference with its interval, on the data sets with the most seeds of both."""
    return effect(*_paired(runs, kind, ours, theirs))


def depends_on(runs: pd.DataFrame, kind: str, ours: str, theirs: str) -> list[str]:
    """The data sets without any one of which the answer would be another."""
    one, other = _paired(runs, kind, ours, theirs)
    whole = answer(effect(one, other))
    found = []
    for left_out in one if len(one) > 1 else ():
        less = [{d: v for d, v in side.items() if d != left_out} for side in (one, other)]
        if answer(effect(*less)) != whole:
            found.append(left_out)
    return found


def each_difference(runs: pd.DataFrame, kind: str, ours: str, theirs: str) -> dict[str, float]:
    """The difference of means by data set, on those of `compare`."""
    one, other = _paired(runs, kind, ours, theirs)
    return {d: fmean(one[d].values()) - fmean(other[d].values()) for d in one}


# ---- which runs stand for a method


def of_method(runs: pd.DataFrame, kind: str, method: str) -> pd.DataFrame:
    """The runs of a method, on the main network of the kind."""
    own = runs[runs["method"] == method]
    tuned = own["stage"] == "tuned"
    return own[tuned | (own["network"].map(base_network) == NETWORKS[kind])]


def shown(runs: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The runs that stand for their methods: whole, chosen (tables), or at one ratio (images)."""
    tuned = runs["stage"] == "tuned"
    networks = zip(tuned, runs["network"], strict=True)
    kinds = ["tabular" if of_learner else network_kind(name) for of_learner, name in networks]
    own = runs["stage"].isin(["dense", "tuned"])
    own |= runs["method"] == "iunet_no_prune"  # other supernets stand beside what is cut from them
    chosen = (
        runs["chosen"].fillna(False) if kind == "tabular" else runs["ratio"].isin([1, FIXED_RATIO])
    )
    stands = own | ((runs["stage"] == "subnetwork") & chosen)
    import numpy as np

    return runs[stands & np.array([found == kind for found in kinds], bool)]


def sample(runs: pd.DataFrame, kind: str, method: str, column: str | None = None) -> Sample:
    """A method's score by data set and seed."""
    part = shown(of_method(runs, kind, method), kind)
    values = part[column or SCORE[kind]].where(part["failed"].isna()).dropna()
    found: Sample = {}
    for label, value in values.items():
        found.setdefault(part.at[label, "dataset"], {})[int(part.at[label, "seed"])] = float(value)
    return found


def _paired(runs: pd.DataFrame, kind: str, ours: str, theirs: str) -> tuple[Sample, Sample]:
    """Both sides on the seeds that both have; data sets with fewer of them are not finished.

    A seed that failed is finished: its data set stays, with the others of its seeds.
    """
    one, other = (sample(runs, kind, method) for method in (ours, theirs))
    common = {d: [s for s in one[d] if s in other[d]] for d in one if d in other}
    failed: dict[str, set[int]] = {}
    for method in (ours, theirs):
        own = of_method(runs, kind, method)
        own = own[own["failed"].notna()]
        for dataset, seed in zip(own["dataset"], own["seed"], strict=True):
            failed.setdefault(dataset, set()).add(int(seed))
    ended = {d: len({*seeds, *failed.get(d, ())}) for d, seeds in common.items()}
    most = max(ended.values(), default=0)
    whole = {d: seeds for d, seeds in common.items() if seeds and ended[d] == most}
    one, other = ({d: {s: side[d][s] for s in whole[d]} for d in whole} for side in (one, other))
    return one, other


# ---- what a reader has to know of them


def cut_off_sets(
    runs: pd.DataFrame, kind: str, methods: tuple[str, ...], among: list[str]
) -> list[str]:
    """The data sets on which some network of these methods has a layer without any weight."""
    found = set()
    for method in methods:
        part = shown(of_method(runs, kind, method), kind)
        found |= set(part[part["disconnected"].fillna(False)]["dataset"])
    return [dataset for dataset in among if dataset in found]


def other_processors(
    runs: pd.DataFrame, kind: str, methods: tuple[str, str], among: list[str]
) -> list[str]:
    """The data sets on which some seed of the two methods ran on different processors.

    There it has the same initial weights and batches for both, but roundings of its own. The oldest
    reports do not name their processor, and are not counted.
    """
    one, other = (shown(of_method(runs, kind, method), kind) for method in methods)
    both = one.merge(other, on=["dataset", "seed"]).dropna(subset=["processor_x", "processor_y"])
    apart = set(both[both["processor_x"] != both["processor_y"]]["dataset"])
    return [dataset for dataset in among if dataset in apart]
