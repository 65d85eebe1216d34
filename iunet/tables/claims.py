"""The ledger of the paper's claims: what each says, what the runs say of it, and a verdict.

The claims stand in iunet/paper/claims.csv, how runs are paired in iunet/tables/differences.py,
intervals and the rule in verdicts.py. No run is asked for that no other table or figure needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iunet.escape import csv_text
from iunet.paper import paper_claims
from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.runs.entries import Benchmark, Cell
from iunet.runs.scale import scaled_down
from iunet.tables.cells import plain_table
from iunet.tables.differences import (
    MEASURES,
    Compared,
    Finding,
    compared,
    metric_of_table7,
    runs_of_table,
)
from iunet.tables.document import TableDocument
from iunet.tables.verdicts import FEW, NOT_REPRODUCED, NOT_RUN, effect, verdict

TITLE = "The paper's claims"
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
    "interval": "95 % interval",
    "datasets": "Data sets",
    "seeds": "Seeds",
    "smallest": "Smallest effect",
    "verdict": "Verdict",
    "remarks": "Remarks",
}
CAPTION = (
    "What the paper claims, and what these runs say of it. Effects are mean differences over data "
    "sets, in favour of the claim where positive; the interval is over data sets and seeds."
)
NOTES = (
    "Reproduced: the interval lies above 0 and the effect reaches the smallest effect of interest; "
    "not reproduced: the interval's upper end lies below it; otherwise undecided. A claim that two "
    "are level is reproduced if the interval lies within ± the smallest effect, and not reproduced "
    "if it lies wholly outside. The smallest effects were fixed before any run.",
    "Intervals: data sets are drawn again and seeds within them (100,000 draws), paired by data "
    "set and seed, and widened by √(n/(n − 1))·t/z for n data sets (of one data set: seeds). Over "
    "several data sets the spread of seeds counts twice, so they are rather too wide where the "
    "differences are spread evenly; where one data set stands out, the end towards it is too near. "
    "They are not adjusted for the number of claims. Images count in accuracy, tables in balanced "
    "accuracy.",
)


# ---- the claims


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and how runs measure it: a line of iunet/paper/claims.csv.

    Two methods are compared in a column; without, it has a measure of its own (`MEASURES`).
    """

    key: str
    claim: str
    where: str  # in the paper
    measure: str
    table: str  # its runs count, and its numbers stand there
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
    return Request(every, supernets=cells["table5"], masks=cells["laziness"], times=cells["cost"])


def cells_of_claims(bench: Benchmark) -> dict[str, list[Cell]]:
    """The cells that claims compare, by the table where their numbers stand."""

    def cells(entry: str, *methods: str) -> list[Cell]:
        found = bench.cells_of(entry)
        return [cell for cell in found if not methods or cell.method.name in methods]

    table7 = cells("tables.table7")
    fixed = cells("tables.search_fixed_ratio", "iunet", "omp")
    return {
        **{table: cells(f"tables.{table}") for table in ("table1", "table4", "table6")},
        "table7": table7,
        "table5": list(dict.fromkeys([*cells("tables.table3"), *cells("tables.table5")])),
        "figure2": cells("figures.figure2", "omp", "scl"),
        "search_fixed_ratio": [cell for cell in fixed if cell.method.cuts],
        "laziness": cells("tables.laziness", "omp", "iunet"),
        "locality": cells("tables.locality", "omp", "iunet"),
        "cost": [c for c in table7 if c.method.tuned or c.method.name == "iunet"],
    }


def settings(bench: Benchmark) -> dict[str, Any]:
    """Which methods each claim compares, and what the config has less than the paper."""
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


def find(claim: Claim, frames: dict[str, Any]) -> Finding:
    """What the runs say of a claim; `frames` has the runs of each table."""
    if claim.table not in frames:  # not about runs, or about none that there are
        return metric_of_table7() if claim.key == "metric" else Finding(None, NOT_RUN, [NO_RUN])
    frame = frames[claim.table]
    if measure := MEASURES.get(claim.key):
        found = measure(frame)
    else:
        found = compared(frame, claim.ours, claim.theirs, claim.column, claim.on.split())
    if isinstance(found, Finding):
        return found
    whole = effect(found.differences)
    remarks = found.remarks or ([] if whole else ["its methods are not in this run"])
    if whole and 1 < len(whole.datasets) < FEW:
        remarks = [_one_by_one(found, whole.datasets), *remarks]
    return Finding(whole, verdict(whole, claim.smallest, claim.level), remarks)


def _one_by_one(found: Compared, datasets: list[str]) -> str:
    """Of few data sets an interval says little: each with that of its seeds."""
    texts = []
    for name in datasets:
        own = effect(found.differences.loc[[name]])
        interval = "" if own.low is None else f" [{own.low:+.2f}, {own.high:+.2f}]"
        texts.append(f"{name} {own.mean:+.2f}{interval}")
    return f"over seeds alone: {', '.join(texts)}"


# ---- the ledger


def ledger(found: dict[str, Finding], facts: dict[str, Any]) -> TableDocument:
    """The table; `found` has the finding of each claim, by its key."""
    lines = [_line(claim, found[claim.key], facts) for claim in CLAIMS]
    smaller = [f"{SCALED[kind]}: {', '.join(t)}" for kind, t in facts["scaled_down"].items()]
    return plain_table(
        CAPTION,
        ["Claim"],
        COLUMNS,
        {line["key"]: ([line["claim"]], _texts(line)) for line in lines},
        [*NOTES, *[f"Less than in the paper: {'; '.join(smaller)}."] * bool(smaller)],
        data={"claims": lines},
        own_csv=csv_text([line | {"remarks": "; ".join(line["remarks"])} for line in lines]),
    )


def _line(claim: Claim, found: Finding, facts: dict[str, Any]) -> dict[str, Any]:
    effect = found.effect
    return {
        **{key: getattr(claim, key) for key in ("key", "claim", "where", "measure", "unit")},
        "effect": effect.mean if effect else None,
        "low": effect.low if effect else None,
        "high": effect.high if effect else None,
        "datasets": len(effect.datasets) if effect else 0,
        "seeds": effect.seeds if effect else 0,
        "smallest": claim.smallest,
        "equality": claim.level,
        "verdict": found.verdict,
        "remarks": remarks(claim, found, facts),
        "table": claim.table or None,
    }


def remarks(claim: Claim, found: Finding, facts: dict[str, Any]) -> list[str]:
    """What a reader has to know to weigh the verdict."""
    texts = list(found.remarks)
    effect = found.effect
    if effect is None or not effect.datasets:
        return texts
    if len(effect.datasets) < FEW:
        over_seeds = len(effect.datasets) == 1 and effect.low is not None
        these = ", ".join(effect.datasets)
        texts.insert(0, f"about {these} only" + ", interval over seeds" * over_seeds)
    if effect.low is None and claim.smallest is not None:
        texts.append("one data set and one seed: no interval")
    if claim.level and found.verdict == NOT_REPRODUCED:
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
    own_verdict = line["smallest"] is None
    texts = {key: str(line[key]) for key in COLUMNS if key in line}
    texts |= {"effect": "–", "interval": "–", "smallest": "–"}
    if line["effect"] is not None:
        value = f"{line['effect']:.2f}" if own_verdict else f"{line['effect']:+.2f}"
        texts["effect"] = f"{_minus(value)} {line['unit']}".strip()
    if line["low"] is not None:
        texts["interval"] = _minus(f"{line['low']:.2f} to {line['high']:.2f}")
    if not own_verdict:
        unit = line["unit"].removesuffix("s") if line["smallest"] == 1 else line["unit"]
        sign = "± " if line["equality"] else ""
        texts["smallest"] = f"{sign}{line['smallest']:g} {unit}".strip()
    texts["remarks"] = "; ".join(line["remarks"]) or "–"
    return {key: texts[key] for key in COLUMNS}


def _minus(text: str) -> str:
    return text.replace("-", "−")
