"""The ledger of the paper's claims: what each says, what the runs say of it, and a verdict.

The claims stand in iunet/tables/claimed.py, how each is measured in measures.py, and how intervals
and verdicts are made in effects.py. No run is asked for that another table or figure does not need.
"""

from __future__ import annotations

from typing import Any

from iunet.runs.entries import Benchmark, Cell
from iunet.runs.requests import (
    Requests,
    cost_requests,
    files_of,
    requests_at_each_cut,
    run_requests,
)
from iunet.runs.settings import study_budget
from iunet.tables.ask import CLAIMS as GROUP_OF_CLAIMS
from iunet.tables.ask import Ask
from iunet.tables.claimed import CLAIMS, Claim, findings
from iunet.tables.document import VALUE, Column, Row, TableDocument, Value
from iunet.tables.document import Cell as TableCell
from iunet.tables.effects import FEW, NOT_REPRODUCED, NOT_RUN, Effect
from iunet.tables.locality import locality_requests
from iunet.tables.masks import mask_files, masks_at_each_cut
from iunet.tables.measures import PAPER_TRIALS, Finding
from iunet.tables.scores import About

TITLE = "The paper's claims"
GROUP = GROUP_OF_CLAIMS
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


def asks(bench: Benchmark) -> Ask:
    """The runs of the tables that the claims are about, by the name of the table."""

    def cells(table: str, *methods: str) -> list[Cell]:
        found = bench.cells_of(table)
        return [cell for cell in found if not methods or cell.method.name in methods]

    table7 = cells("tables.table7")
    consistent = dict.fromkeys([*cells("tables.table3"), *cells("tables.table5")])
    fixed = [c for c in cells("tables.search_fixed_ratio", "iunet", "omp") if c.method.cuts]
    runs = {
        "table1": run_requests(bench, cells("tables.table1")),
        "table4": run_requests(bench, cells("tables.table4"), choice_of="iunet"),
        "table6": run_requests(bench, cells("tables.table6")),
        "table7": run_requests(bench, table7),
        "consistency": run_requests(bench, list(consistent), supernets=True),
        "figure2": requests_at_each_cut(bench, cells("figures.figure2", "omp", "scl")),
        "fixed_ratio": requests_at_each_cut(bench, fixed),
        "cost": _costs(bench, table7),
    }
    laziness = masks_at_each_cut(bench, cells("tables.laziness", "omp", "iunet"))
    runs["locality"] = locality_requests(bench, cells("tables.locality", "omp", "iunet"))
    files = [path for requests in runs.values() for path in files_of(requests)]
    files += mask_files(laziness)
    used = [
        c for table in ("table1", "table4", "table6", "table7") for c in cells(f"tables.{table}")
    ]
    used += [*consistent, *cells("figures.figure2", "omp", "scl"), *fixed]
    used += [*cells("tables.laziness"), *cells("tables.locality")]
    more = {
        "runs": runs | {"laziness": laziness},
        "kinds": {name: bench.registry[name].kind for name in {c.dataset for c in used}},
        "scaled_down": scaled_down(bench.config),
        "unequal": unequal_terms(bench.config),
    }
    return Ask(list(dict.fromkeys(used)), files=list(dict.fromkeys(files)), more=more)


def _costs(bench: Benchmark, cells: list[Cell]) -> Requests:
    """The times of IUNET's runs on tables, and of those of the tuned methods."""
    counted = {(c.dataset, c.method.name) for c in cells if c.method.tuned}
    counted |= {(c.dataset, c.method.name) for c in cells if c.method.name == "iunet"}
    return [r for r in cost_requests(bench) if (r["dataset"], r["method"]) in counted]


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


def build(ask: Ask, about: About) -> TableDocument:
    return ledger(findings(ask.more["runs"]), ask.more, about)


def ledger(
    found: dict[str, Finding], facts: dict[str, Any], about: About | None = None
) -> TableDocument:
    """The table; `found` has the finding of each claim, by its key."""
    about = about or About()
    lines = [_line(claim, found[claim.key], facts, about) for claim in CLAIMS]
    document = TableDocument(
        id="claims",
        title=TITLE,
        caption="What the paper claims, and what these runs say of it. Effects are mean "
        "differences over data sets, in favour of the claim where positive; the interval is over "
        "data sets and seeds.",
        row_header=["Claim"],
        rows=[Row(claim.key, [claim.text]) for claim in CLAIMS],
        columns=[Column(key, label) for key, label in COLUMNS.items()],
        metrics=[VALUE],
        default_metric=VALUE,
        cells={line["key"]: _cells(line) for line in lines},
        notes=[*NOTES, *_scale_notes(facts["scaled_down"]), *(about.notes or [])],
        best_along="none",
        data={"claims": lines},
    )
    document.own_forms["csv"] = _csv(lines)
    return document


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


def _line(claim: Claim, found: Finding, facts: dict[str, Any], about: About) -> dict[str, Any]:
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
        "remarks": remarks(claim, found, facts, about),
        "table": claim.table,
    }


def remarks(claim: Claim, found: Finding, facts: dict[str, Any], about: About) -> list[str]:
    """What a reader has to know to weigh the verdict."""
    said = list(found.remarks)
    effect = found.effect
    if effect is None or not effect.datasets:
        return said
    if len(effect.datasets) < FEW:
        over_seeds = len(effect.datasets) == 1 and effect.low is not None
        said.insert(0, f"about {_these(effect)} only" + ", interval over seeds" * over_seeds)
    if effect.low is None and claim.smallest is not None and found.verdict != NOT_RUN:
        said.append("one data set and one seed: no interval")
    if claim.equality and found.verdict == NOT_REPRODUCED:
        said.append(f"{'more' if effect.mean > 0 else 'less'}, by more than the smallest effect")
    if claim.key == "level_mlp_c" and facts.get("unequal"):
        said.append(facts["unequal"])
    kinds = {facts["kinds"][name] for name in effect.datasets}
    if len(kinds) > 1:
        said.append("tables and images together")
    stand_ins = [n for n in effect.datasets if n in (about.stand_ins or {}).values()]
    subsets = [n for n in effect.datasets if any(t.startswith("subset") for t in about.of(n))]
    kinds |= {"tuning"} if claim.tuned else set()
    smaller = [kind for kind in SCALED if kind in kinds & facts["scaled_down"].keys()]
    if "vision" in kinds and ("vision" in smaller or stand_ins or subsets):
        said.insert(0, CPU_SCALE)
    if stand_ins:
        said.append(f"stand-ins: {', '.join(stand_ins)}")
    if subsets:
        said.append(f"subsets: {', '.join(subsets)}")
    if smaller:
        said.append(f"less than in the paper: {', '.join(SCALED[kind] for kind in smaller)}")
    return said


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
    return {key: TableCell(values={VALUE: Value(text=texts[key])}) for key in COLUMNS}


def _csv(lines: list[dict[str, Any]]) -> str:
    from iunet.tables.render.forms import csv_text

    return csv_text([line | {"remarks": "; ".join(line["remarks"])} for line in lines])
