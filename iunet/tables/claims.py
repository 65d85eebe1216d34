"""The table of the paper's claims: what each says, what the runs show, and a verdict.

iunet/paper/claims.csv has the claims, differences.py pairs the runs, and verdicts.py has the
intervals and the rule. The table needs no runs of its own.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iunet.escape import csv_text
from iunet.labels import method_label
from iunet.paper import paper_claims
from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.results.scale import scaled_down
from iunet.runs.entries import Benchmark, Cell
from iunet.tables.cells import NONE, plain_table
from iunet.tables.differences import (
    MEASURES,
    Compared,
    compared,
    metric_of_table7,
    runs_of_table,
)
from iunet.tables.document import TableDocument
from iunet.tables.paper_values import paper_frames
from iunet.tables.verdicts import (
    FEW,
    NOT_REPRODUCED,
    UNDECIDED,
    Finding,
    all_hold,
    finding,
    holm,
    undecided_word,
)

if TYPE_CHECKING:
    import pandas as pd

SCALED = {  # what a remark calls it
    "vision": "networks or training on images",
    "tabular": "networks or training on tables",
    "tuning": "trials",
}
CPU_SCALE = "CPU-scale study"
NO_RUN = "the paper gives no number, and no such run is part of the benchmark"
COLUMNS = {
    "where": "In the paper",
    "measure": "Measure",
    "effect": "Effect",
    "interval": "95 % interval on these sets",
    "verdict": "On these sets",
    "beyond_interval": "95 % interval beyond these sets",
    "beyond": "Beyond these sets",
    "datasets": "Data sets",
    "seeds": "Seeds",
    "sets": "Set by set",
    "chances": "Better / within / worse",
    "paper": "By the paper's numbers",
    "smallest": "Smallest effect",
    "remarks": "Remarks",
}
CAPTION = (
    "What the paper claims, and what these runs say of it. Effects are mean differences over data "
    "sets, in favour of the claim where positive."
)
NOTES = (
    "Reproduced: the interval lies above 0 and the effect reaches the smallest effect of interest; "
    "not reproduced: the interval's upper end lies below it; otherwise undecided. A claim that two "
    "are level is reproduced if the interval lies within ± the smallest effect, and not reproduced "
    "if it lies wholly outside. The smallest effects were fixed before any run.",
    "On these sets: the data sets are fixed, and seeds are drawn again within each. Beyond these "
    "sets, from five on: data sets are drawn again, and seeds within them. 100,000 draws, paired "
    "by data set and seed, widened as Student's t is from a normal distribution. A data set with "
    "one seed counts in neither. Images count in accuracy, tables in balanced accuracy.",
    "Set by set, from five on: p is Wilcoxon's, adjusted by Holm for all rows. Better, within and "
    "worse are the probabilities, by the Bayesian signed-rank test, that the next data set shows a "
    "gain of at least the smallest effect, none of that size, or such a loss. Undecided is "
    "“probably within it” from 0.9 on, else “unknown”.",
    "By the paper's numbers: the same rule on the paper's own tables, with three seeds where it "
    "gives a standard deviation, else on its data sets alone.",
)
NOT_IN_PAPER = ("invariant", "mask_alone")  # by a measure that the paper does not give


# ---- the claims


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and how runs measure it: a line of iunet/paper/claims.csv.

    It compares two methods in a column, or has a measure of its own (`MEASURES`).
    """

    key: str
    claim: str
    where: str  # in the paper
    measure: str
    table: str  # the table with its runs and numbers
    ours: str  # methods
    theirs: str
    column: str
    on: str  # what both sides must have: networks, cuts
    smallest: float | None  # effect of interest; None: the measure has its own verdict
    unit: str
    level: bool  # the claim is that both are level
    tuned: bool  # depends on the budgets of tuning


def _claim(row: dict[str, str]) -> Claim:
    smallest = float(row["smallest"]) if row["smallest"] else None
    yes = {key: row[key] == "yes" for key in ("level", "tuned")}
    return Claim(**row | {"smallest": smallest} | yes)


CLAIMS = tuple(map(_claim, paper_claims()))


# ---- what it asks for


def request(bench: Benchmark) -> Request:
    """The runs of the tables that the claims are about, and of no other."""
    cells = cells_of_claims(bench)
    every = list(dict.fromkeys(cell for part in cells.values() for cell in part))
    masks = [*cells["laziness"], *cells["locality"]]
    return Request(every, supernets=cells["table5"], masks=masks, times=cells["cost"])


def cells_of_claims(bench: Benchmark) -> dict[str, list[Cell]]:
    """The cells that claims compare, by the table that shows them."""

    def cells(entry: str, *methods: str) -> list[Cell]:
        found = bench.cells_of(entry)
        return [cell for cell in found if not methods or cell.method.name in methods]

    table7 = cells("tables.table7")
    fixed = cells("tables.search_fixed_ratio", "iunet", "omp")
    untrained = [*cells("tables.table3"), *cells("tables.table5")]
    return {
        **{table: cells(f"tables.{table}") for table in ("table1", "table4", "table6")},
        "table7": table7,
        "table5": list(dict.fromkeys([*untrained, *_with_supernets(cells("tables.table4"))])),
        "figure2": cells("figures.figure2", "omp", "scl"),
        "search_fixed_ratio": [cell for cell in fixed if cell.method.cuts],
        "laziness": cells("tables.laziness", "omp", "iunet"),
        "locality": cells("tables.locality", "omp", "iunet"),
        "cost": [c for c in table7 if c.method.tuned or c.method.name == "iunet"],
    }


def _with_supernets(cells: list[Cell]) -> list[Cell]:
    """IUNET where its supernet is evaluated too, as IUNET without pruning."""
    unpruned = {(c.dataset, c.method.network) for c in cells if c.method.name == "iunet_no_prune"}
    iunet = (cell for cell in cells if cell.method.name == "iunet")
    return [cell for cell in iunet if (cell.dataset, cell.method.network) in unpruned]


def settings(bench: Benchmark) -> dict[str, Any]:
    """The methods that each claim compares, and what is smaller than in the paper."""
    methods = {
        table: [[c.dataset, c.method.network, c.method.name] for c in cells]
        for table, cells in cells_of_claims(bench).items()
    }
    smaller = scaled_down(bench.config)
    return {
        "methods": methods,
        "scaled_down": {kind: smaller[kind] for kind in SCALED if kind in smaller},
        "unequal": unequal_terms(bench.config),
        "stand_ins": list(bench.config["stand_ins"].values()),
    }


def unequal_terms(config: dict[str, Any]) -> str | None:
    """What MLP+C has and IUNET has not, as this config runs them."""
    weighted = config["tuning"]["mlp_c"].get("class_weights") == "balanced"
    terms = ["is refitted on train and valid"] * (config["tuning"]["refit_on"] == "train_valid")
    terms += ["weights its classes"] * (weighted and config["train"]["class_weights"] == "none")
    return f"MLP+C {' and '.join(terms)}, IUNET not" if terms else None


# ---- what the runs say


def build(results: Results) -> TableDocument:
    kinds = dict(zip(results.datasets["dataset"], results.datasets["kind"], strict=True))
    facts = results.settings | {"kinds": kinds, "subsets": results.subsets}
    frames = {
        table: runs_of_table(results, methods, table) for table, methods in facts["methods"].items()
    }
    return ledger({claim.key: find(claim, frames) for claim in CLAIMS}, facts)


def find(claim: Claim, frames: dict[str, pd.DataFrame]) -> Finding:
    """What the runs say of a claim; `frames` has the runs of each table."""
    if claim.table not in frames:  # not about runs, or about none that there are
        return metric_of_table7() if claim.key == "metric" else Finding(remarks=[NO_RUN])
    found = {
        title: finding(both.differences, claim.smallest, claim.level, both.remarks)
        for title, both in _comparisons(claim, frames[claim.table]).items()
    }
    result = all_hold(found)
    if result.effect is None and not result.remarks:
        result.remarks.append("its methods are not in this run")
    return result


def _comparisons(claim: Claim, frame: pd.DataFrame) -> dict[str, Compared]:
    """What a claim compares, by what a remark calls it."""
    if measure := MEASURES.get(claim.key):
        return {claim.key: measure(frame)}
    pairs = zip(claim.ours.split(), claim.theirs.split(), strict=True)
    return {
        f"{method_label(ours)} − {method_label(theirs)}": compared(
            frame, ours, theirs, claim.column, claim.on.split()
        )
        for ours, theirs in pairs
    }


@functools.cache
def find_in_paper(claim: Claim) -> Finding:
    """What the paper's own numbers say of a claim by the same rule, as far as they can."""
    frames = paper_frames()
    if claim.table not in frames or claim.key in NOT_IN_PAPER:
        return Finding()
    frame = frames[claim.table]
    used = {*claim.ours.split(), *claim.theirs.split()} or {*frame["method"]}
    # Without a spread over seeds, only the data sets count.
    alone = not frame[frame["method"].isin(used)]["spread"].all()
    found = {}
    for title, both in _comparisons(claim, frame).items():
        differences = both.differences
        if alone:
            means = differences.groupby("dataset", sort=False).mean()
            differences = means.to_frame().assign(seed=0).set_index("seed", append=True).iloc[:, 0]
        found[title] = finding(differences, claim.smallest, claim.level, without_seeds=alone)
    return all_hold(found)


# ---- the ledger


def ledger(found: dict[str, Finding], facts: dict[str, Any]) -> TableDocument:
    """The table; `found` has the finding of each claim, by its key."""
    lines = [_line(claim, found[claim.key], facts) for claim in CLAIMS]
    tested = [line for line in lines if line["p"] is not None]
    for line, adjusted in zip(tested, holm([line["p"] for line in tested]), strict=True):
        line["p_holm"] = adjusted
    smaller = [f"{SCALED[kind]}: {', '.join(t)}" for kind, t in facts["scaled_down"].items()]
    return plain_table(
        CAPTION,
        ["Claim"],
        COLUMNS,
        {line["key"]: ([line["claim"]], _texts(line)) for line in lines},
        [*NOTES, *[f"Less than in the paper: {'; '.join(smaller)}."] * bool(smaller)],
        data={"claims": lines},
        own_csv=csv_text(
            [line | {k: "; ".join(line[k]) for k in ("decided_by", "remarks")} for line in lines]
        ),
    )


def _line(claim: Claim, found: Finding, facts: dict[str, Any]) -> dict[str, Any]:
    return {
        **{key: getattr(claim, key) for key in ("key", "claim", "where", "measure", "unit")},
        **_numbers(found),
        "datasets": len(found.effect.datasets) if found.effect else 0,
        "seeds": found.effect.seeds if found.effect else 0,
        "decided_by": list(found.decided_by),
        **dict.fromkeys(("median", "ahead", "p", "p_holm", "better", "within", "worse")),
        **(vars(found.standing) if found.standing else {}),
        **{f"paper_{key}": value for key, value in _numbers(find_in_paper(claim)).items()},
        "smallest": claim.smallest,
        "equality": claim.level,
        "remarks": remarks(claim, found, facts),
        "table": claim.table or None,
    }


def _numbers(found: Finding) -> dict[str, Any]:
    """The effect with its intervals and verdicts."""
    effect = found.effect
    low, high = (effect and effect.interval) or (None, None)
    beyond_low, beyond_high = (effect and effect.interval_beyond) or (None, None)
    return {
        "effect": effect.mean if effect else None,
        "low": low,
        "high": high,
        "verdict": found.on_sets,
        "beyond_low": beyond_low,
        "beyond_high": beyond_high,
        "beyond": found.beyond,
    }


def remarks(claim: Claim, found: Finding, facts: dict[str, Any]) -> list[str]:
    """What a reader needs to know to judge the verdict."""
    texts = list(found.remarks)
    effect = found.effect
    if effect is None or not effect.seeds:
        return texts
    texts = [*found.remark_on_deciding, *texts]
    if len(effect.datasets) < FEW:
        texts.insert(0, f"about {', '.join(effect.datasets)} only")
    if effect.interval is None:
        texts.append("one seed: no interval")
    if claim.level and found.on_sets == NOT_REPRODUCED:
        texts.append(f"{'more' if effect.mean > 0 else 'less'}, by more than the smallest effect")
    if claim.key == "level_mlp_c" and facts.get("unequal"):
        texts.append(facts["unequal"])
    kinds = {facts["kinds"][name] for name in effect.datasets}
    if len(kinds) > 1:
        texts.append("tables and images together")
    stand_ins = [n for n in effect.datasets if n in facts["stand_ins"]]
    subsets = [n for n in effect.datasets if n in facts["subsets"]]
    kinds |= {"tuning"} if claim.tuned else set()
    smaller = [kind for kind in SCALED if kind in kinds & facts["scaled_down"].keys()]
    if "vision" in kinds and ("vision" in smaller or stand_ins or subsets):
        texts.insert(0, CPU_SCALE)
    for name, values in (("stand-ins", stand_ins), ("subsets", subsets)):
        texts += [f"{name}: {', '.join(values)}"] * bool(values)
    if smaller:
        texts.append(f"less than in the paper: {', '.join(SCALED[kind] for kind in smaller)}")
    return texts


def _texts(line: dict[str, Any]) -> dict[str, str]:
    """The line in words: +1.23 points, 0.45 to 2.01, ± 1 point."""
    texts = {key: str(line[key]) for key in COLUMNS if key in line}
    texts |= dict.fromkeys(("effect", "sets", "chances", "paper", "smallest"), NONE)
    words = {None: NONE}
    if line["within"] is not None:
        words[UNDECIDED] = f"{UNDECIDED}: {undecided_word(line['within'])}"
    texts |= {key: words.get(line[key], line[key]) for key in ("verdict", "beyond")}
    texts["interval"] = _interval(line["low"], line["high"])
    texts["beyond_interval"] = _interval(line["beyond_low"], line["beyond_high"])
    if line["effect"] is not None:
        sign = "+" if line["seeds"] else ""
        texts["effect"] = f"{line['effect']:{sign}.2f} {line['unit']}".strip()
    if line["median"] is not None:
        texts["sets"] = (
            f"ahead on {line['ahead']} of {line['datasets']}, median {line['median']:+.2f}, "
            f"p = {line['p_holm']:.2g}"
        )
        texts["chances"] = " / ".join(f"{line[k]:.2f}" for k in ("better", "within", "worse"))
    if line["paper_effect"] is not None:
        start, key = ("beyond_", "beyond") if line["paper_beyond"] else ("", "verdict")
        interval = _interval(line[f"paper_{start}low"], line[f"paper_{start}high"])
        shown = "" if interval == NONE else f" ({interval})"
        texts["paper"] = f"{line['paper_effect']:+.2f}{shown}, {line[f'paper_{key}']}"
    if line["smallest"] is not None:
        unit = line["unit"].removesuffix("s") if line["smallest"] == 1 else line["unit"]
        sign = "± " if line["equality"] else ""
        texts["smallest"] = f"{sign}{line['smallest']:g} {unit}".strip()
    for key in ("effect", "interval", "beyond_interval", "sets", "paper"):
        texts[key] = texts[key].replace("-", "−")
    texts["remarks"] = "; ".join(line["remarks"]) or NONE
    return {key: texts[key] for key in COLUMNS}


def _interval(low: float | None, high: float | None) -> str:
    return NONE if low is None else f"{low:.2f} to {high:.2f}"
