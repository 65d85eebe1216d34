"""Named comparisons of methods, as plain data: the paper's claims, readers' questions, sweeps.

`iunet/tables/differences.py` pairs their runs, `iunet/tables/verdicts.py` has the rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from iunet.paper import paper_claims

# ---- the paper's claims


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and how runs measure it: a line of iunet/paper/claims.csv.

    Two methods are compared in a column; without, it has a measure of its own (`MEASURES`).
    """

    key: str
    text: str
    where: str  # in the paper
    measure: str
    table: str  # its runs count, and its numbers stand there
    methods: tuple[str, str]  # ours, theirs
    column: str
    on: tuple[str, ...]  # what both sides must have: networks, cuts
    smallest: float | None  # effect of interest; None: the measure has its own verdict
    unit: str
    level: bool  # the claim is that both are level
    tuned: bool  # depends on the budgets of tuning


CLAIMS = tuple(
    Claim(
        **{key: row[key] for key in ("key", "where", "measure", "table", "column", "unit")},
        text=row["claim"],
        methods=(row["ours"], row["theirs"]),
        on=tuple(row["on"].split()),
        smallest=float(row["smallest"]) if row["smallest"] else None,
        level=row["level"] == "yes",
        tuned=row["tuned"] == "yes",
    )
    for row in paper_claims()
)


# ---- questions that readers ask beside them


@dataclass(frozen=True)
class Question:
    """Is `ours` better than `theirs`, on the main network of each kind of data?"""

    text: str
    ours: str
    theirs: str
    front: bool = False  # also on the front page
    kinds: tuple[str, ...] = ("tabular", "vision")


QUESTIONS = (
    Question("Does IUNET beat OMP?", "iunet", "omp", front=True),
    Question("Does IUNET beat the dense network?", "iunet", "dense", front=True),
    Question("Does OMP beat the dense network?", "omp", "dense"),
    Question(
        "Does IUNET beat the tuned MLP+C? (which sees valid, too, and weights its classes)",
        *("iunet", "mlp_c"),
        front=True,
        kinds=("tabular",),
    ),
    Question("Is PIS needed?", "iunet", "iunet_no_pis", front=True),
    Question(
        "Is PIS more than 16 times the learning rate at κ = 1?", "iunet", "ilo_lr16", front=True
    ),
    Question("Does IUNET beat OMP with 16 times the learning rate?", "iunet", "omp_lr16"),
    Question("Is ILO needed?", "iunet", "iunet_no_ilo", front=True),
    Question(
        "Is pruning needed? (the supernet as it was trained)",
        *("iunet", "iunet_no_prune"),
        front=True,
    ),
    Question("Is pruning needed? (the supernet, fine-tuned alike)", "iunet", "supernet_finetuned"),
    Question(
        "Is the mask more than the densities of its layers?", "iunet", "iunet_shuffled", front=True
    ),
    Question("Is the mask better than as many random weights?", "iunet", "iunet_random"),
    Question("Is the mask better than that of the initial weights?", "iunet", "iunet_initial"),
    Question(
        "Is the mask better than OMP's by the relative score?", "iunet", "omp_relative", front=True
    ),
    Question("Is θ† better than fresh weights under the same mask?", "iunet", "iunet_fresh"),
    Question("Do the trained weights beat θ†?", "iunet_no_reinit", "iunet"),
    Question("Is it better than a small dense network?", "iunet", "dense_small"),
    Question("Does IUNET beat OMP, both from he_normal?", "iunet_he_normal", "omp_he_normal"),
    Question("Is PIS needed from he_normal?", "iunet_he_normal", "iunet_no_pis_he_normal"),
    Question("Is IUNET better from torch_default than from he_normal?", "iunet", "iunet_he_normal"),
)


# ---- IUNET with one setting changed


# What the setting is, on which data, its value by method.
SWEEPS = (
    (
        "κ, the factor on initial weights",
        ("tabular", "vision"),
        {
            "iunet_no_pis": "1",
            "iunet": "1/4",
            "iunet_kappa0.0625": "1/16",
            "iunet_kappa0.015625": "1/64",
            "iunet_kappa0.00390625": "1/256",
        },
    ),
    (
        "λ, the weight of ILO's contrastive part",
        ("tabular",),
        {"iunet_lambda0.25": "0.25", "iunet_lambda0.5": "0.5", "iunet": "1"},
    ),
    (
        "κ, with r chosen on validation among 2, 4 and 8",
        ("tabular",),
        {
            "iunet": "1/4, r = 8",
            "search_kappa0.25": "1/4",
            "search_kappa0.125": "1/8",
            "search_kappa0.0625": "1/16",
        },
    ),
    (
        "corruption, the share of features that a view replaces",
        ("tabular",),
        {
            "iunet_no_ilo": "no views",
            "iunet_corruption0.3": "0.3",
            "iunet": "0.6",
            "iunet_corruption0.9": "0.9",
        },
    ),
    (
        "transforms that make the views",
        ("vision",),
        {
            "iunet_no_ilo": "no views",
            "iunet_only_resize": "resize",
            "iunet_only_horiz": "horiz",
            "iunet_only_color": "color",
            "iunet_only_graysc": "graysc",
            "iunet": "all four",
        },
    ),
)
SWEPT = {method for _, _, methods in SWEEPS for method in methods} - {
    *("iunet", "iunet_no_pis", "iunet_no_ilo")
}
