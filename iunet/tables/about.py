"""What a table says of its runs beside their numbers."""

from __future__ import annotations

from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.runs.entries import Benchmark, Cell
from iunet.runs.settings import study_budget


def about_cells(bench: Benchmark, cells: list[Cell]) -> dict[str, Any]:
    """The fields of `iunet.tables.scores.About` that follow from the config."""
    config = bench.config
    datasets = {cell.dataset for cell in cells}
    study = "data set and seed" if config["tuning"]["study_per"] == "seed" else "data set"
    tuned = dict.fromkeys(cell.method.recipe for cell in cells if cell.method.tuned)
    budgets = "; ".join(_budget_text(config, learner) for learner in tuned)
    notes = [f"Tuning budget per {study}: {budgets}."] if tuned else []
    return {
        "stand_ins": {p: ours for p, ours in config["stand_ins"].items() if ours in datasets},
        "notes": notes + _what_methods_saw(config, cells),
    }


def _what_methods_saw(config: dict[str, Any], cells: list[Cell]) -> list[str]:
    """Rows and class weights, where they differ between methods of one table."""
    if not any(cell.method.tuned for cell in cells):
        return []
    both = config["tuning"]["refit_on"] == "train_valid"
    rows = "train and valid" if both else "train alone, as the MLP family is"
    weighted = [
        entry.label
        for name, entry in LEARNERS.items()
        if config["tuning"][name].get("class_weights") == "balanced"
    ]
    verb = "weight their" if len(weighted) > 1 else "weights its"
    *first, last = weighted or ["None of them"]
    who = f"{' and '.join(filter(None, [', '.join(first), last]))} {verb} classes"
    own = "weighted" if config["train"]["class_weights"] == "balanced" else "not weighted"
    return [
        f"XGB, TABN and MLP_TAB+C are fitted on {rows}; the MLP family sees train alone. {who}; "
        f"those of the MLP family are {own}, unless a method's row says so."
    ]


def _budget_text(config: dict[str, Any], learner: str) -> str:
    budget = study_budget(config, learner)
    limit = f", at most {budget['minutes']} minutes" if budget["minutes"] else ""
    return f"{learner} {budget['trials']} trials{limit}"
