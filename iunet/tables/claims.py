"""The ledger of the paper's claims: what each says, what the runs say of it, and a verdict.

The claims stand in iunet/tables/claim_list.py, how runs are compared in comparisons.py, intervals
in effects.py, the rule in verdicts.py. No run is asked for that no other table or figure needs.
"""

from __future__ import annotations

from typing import Any

from iunet.escape import csv_text
from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.runs.entries import Benchmark, Cell
from iunet.runs.settings import study_budget
from iunet.tables.cells import text_cell
from iunet.tables.claim_list import CLAIMS, Claim, findings
from iunet.tables.comparisons import PAPER_TRIALS, Finding
from iunet.tables.context import Context
from iunet.tables.document import Cell as TableCell
from iunet.tables.document import Column, Row, TableDocument
from iunet.tables.effects import FEW, Effect
from iunet.tables.verdicts import NOT_REPRODUCED, NOT_RUN

TITLE = "The paper's claims"
PAPER_SCALE = {  # below any of these, image runs are a CPU-scale study
    "vision": {
        "networks.mlp_vis.alpha": 8,
        "networks.cnn.alpha": 8,
        "networks.resnet18.width": 1.0,
        "train.supernet.epochs": 100,
        "train.finetune_vision.epochs": 100,
    },
    "tabular": {
        "networks.mlp_tab.width": 512,
        "networks.mlp_tab.depth": 9,
        "train.supernet.epochs": 100,
        "train.finetune_tabular.first_cycle_epochs": 15,
        "train.finetune_tabular.cycles": 3,
    },
}
SCALED = {  # what a remark calls it
    "vision": "networks or training on images",
    "tabular": "networks or training on tables",
    "tuning": "trials",
}
CPU_SCALE = "CPU-scale study"
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


# ---- what it asks for


def request(bench: Benchmark) -> Request:
    """The runs of the tables that the claims are about, and of no other."""
    cells = cells_of_claims(bench)
    every = list(dict.fromkeys(cell for part in cells.values() for cell in part))
    return Request(
        every, supernets=cells["consistency"], masks=cells["laziness"], times=cells["cost"]
    )


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
        "consistency": list(dict.fromkeys([*cells("tables.table3"), *cells("tables.table5")])),
        "figure2": cells("figures.figure2", "omp", "scl"),
        "fixed_ratio": [cell for cell in fixed if cell.method.cuts],
        "laziness": cells("tables.laziness", "omp", "iunet"),
        "locality": cells("tables.locality", "omp", "iunet"),
        "cost": [c for c in table7 if c.method.tuned or c.method.name == "iunet"],
    }


def settings(bench: Benchmark) -> dict[str, Any]:
    """Which methods each claim compares, and what the config has less than the paper."""
    cells = cells_of_claims(bench)
    methods = {
        table: [[c.dataset, c.method.network, c.method.name] for c in part]
        for table, part in cells.items()
    }
    return {
        "methods": methods,
        "scaled_down": scaled_down(bench.config),
        "unequal": unequal_terms(bench.config),
    }


def scaled_down(config: dict[str, Any]) -> dict[str, list[str]]:
    """By kind of data, and of the tuning: what is smaller in this config than in the paper."""
    found: dict[str, list[str]] = {}
    for kind, scale in PAPER_SCALE.items():
        for key, full in scale.items():
            value: Any = config
            for part in key.split("."):
                value = value[part]
            if value < full:
                found.setdefault(kind, []).append(f"{key} {value} for {full}")
    for learner, full in PAPER_TRIALS.items():
        budget = study_budget(config, learner)
        less = [f"{budget['trials']} trials for {full}"] if budget["trials"] < full else []
        less += [f"at most {budget['minutes']} minutes"] if budget["minutes"] else []
        if less:
            found.setdefault("tuning", []).append(f"{learner} {', '.join(less)}")
    return found


def unequal_terms(config: dict[str, Any]) -> str | None:
    """What MLP+C has and IUNET has not, as this config runs them."""
    weighted = config["tuning"]["mlp_c"].get("class_weights") == "balanced"
    terms = ["is refitted on train and valid"] * (config["tuning"]["refit_on"] == "train_valid")
    terms += ["weights its classes"] * (weighted and config["train"]["class_weights"] == "none")
    return f"MLP+C {' and '.join(terms)}, IUNET not" if terms else None


# ---- the ledger


def build(results: Results, context: Context) -> TableDocument:
    kinds = dict(zip(results.datasets["dataset"], results.datasets["kind"], strict=True))
    facts = context.settings | {"kinds": kinds}
    return ledger(findings(results, facts["methods"]), facts, context)


def ledger(
    found: dict[str, Finding], facts: dict[str, Any], context: Context | None = None
) -> TableDocument:
    """The table; `found` has the finding of each claim, by its key."""
    context = context or Context()
    lines = [_line(claim, found[claim.key], facts, context) for claim in CLAIMS]
    return TableDocument(
        caption="What the paper claims, and what these runs say of it. Effects are mean "
        "differences over data sets, in favour of the claim where positive; the interval is over "
        "data sets and seeds.",
        row_header=["Claim"],
        rows=[Row(claim.key, [claim.text]) for claim in CLAIMS],
        columns=[Column(key, label) for key, label in COLUMNS.items()],
        cells={line["key"]: _cells(line) for line in lines},
        notes=[*NOTES, *_scale_notes(facts["scaled_down"])],
        best_along="none",
        data={"claims": lines},
        own_csv=csv_text([line | {"remarks": "; ".join(line["remarks"])} for line in lines]),
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


def _scale_notes(scaled_down: dict[str, list[str]]) -> list[str]:
    parts = [f"{SCALED[kind]}: {', '.join(texts)}" for kind, texts in scaled_down.items()]
    return [f"Less than in the paper: {'; '.join(parts)}."] * bool(parts)


def _line(claim: Claim, found: Finding, facts: dict[str, Any], context: Context) -> dict[str, Any]:
    effect = found.effect
    return {
        "key": claim.key,
        "claim": claim.text,
        "where": claim.where,
        "measure": claim.measure,
        "unit": claim.unit,
        "effect": effect.mean if effect else None,
        "low": effect.low if effect else None,
        "high": effect.high if effect else None,
        "datasets": len(effect.datasets) if effect else 0,
        "seeds": effect.seeds if effect else 0,
        "smallest": claim.smallest,
        "equality": claim.equality,
        "verdict": found.verdict,
        "remarks": remarks(claim, found, facts, context),
        "table": claim.table,
    }


def remarks(claim: Claim, found: Finding, facts: dict[str, Any], context: Context) -> list[str]:
    """What a reader has to know to weigh the verdict."""
    texts = list(found.remarks)
    effect = found.effect
    if effect is None or not effect.datasets:
        return texts
    if len(effect.datasets) < FEW:
        over_seeds = len(effect.datasets) == 1 and effect.low is not None
        texts.insert(0, f"about {_these(effect)} only" + ", interval over seeds" * over_seeds)
    if effect.low is None and claim.smallest is not None and found.verdict != NOT_RUN:
        texts.append("one data set and one seed: no interval")
    if claim.equality and found.verdict == NOT_REPRODUCED:
        texts.append(f"{'more' if effect.mean > 0 else 'less'}, by more than the smallest effect")
    if claim.key == "level_mlp_c" and facts.get("unequal"):
        texts.append(facts["unequal"])
    kinds = {facts["kinds"][name] for name in effect.datasets}
    if len(kinds) > 1:
        texts.append("tables and images together")
    stand_ins = [n for n in effect.datasets if n in context.stand_ins.values()]
    subsets = [n for n in effect.datasets if n in context.subsets]
    kinds |= {"tuning"} if claim.tuned else set()
    smaller = [kind for kind in SCALED if kind in kinds & facts["scaled_down"].keys()]
    if "vision" in kinds and ("vision" in smaller or stand_ins or subsets):
        texts.insert(0, CPU_SCALE)
    if stand_ins:
        texts.append(f"stand-ins: {', '.join(stand_ins)}")
    if subsets:
        texts.append(f"subsets: {', '.join(subsets)}")
    if smaller:
        texts.append(f"less than in the paper: {', '.join(SCALED[kind] for kind in smaller)}")
    return texts


def _these(effect: Effect) -> str:
    return ", ".join(effect.datasets)


def number(value: float | None, unit: str, sign: bool = True) -> str:
    """+1.23 points, 4.5 times; a dash if there is none."""
    if value is None:
        return "–"
    text = f"{value:{'+' if sign else ''}.2f}".replace("-", "−")
    return f"{text} {unit}".strip()


def effect_text(line: dict[str, Any]) -> str:
    return number(line["effect"], line["unit"], sign=line["smallest"] is not None)


def interval_text(line: dict[str, Any]) -> str:
    if line["low"] is None:
        return "–"
    low, high = (f"{line[key]:.2f}".replace("-", "−") for key in ("low", "high"))
    return f"{low} to {high}"


def smallest_text(line: dict[str, Any]) -> str:
    if line["smallest"] is None:
        return "–"
    unit = line["unit"].removesuffix("s") if line["smallest"] == 1 else line["unit"]
    return f"{'± ' if line['equality'] else ''}{line['smallest']:g} {unit}".strip()


def _cells(line: dict[str, Any]) -> dict[str, TableCell]:
    texts = {key: line[key] for key in ("where", "measure", "verdict")}
    texts |= {"effect": effect_text(line), "interval": interval_text(line)}
    texts |= {"datasets": str(line["datasets"]), "seeds": str(line["seeds"])}
    texts |= {"smallest": smallest_text(line), "remarks": "; ".join(line["remarks"]) or "–"}
    return {key: text_cell(texts[key]) for key in COLUMNS}
