"""What a table says beside its numbers: stand-ins, subsets, budgets, and the settings it shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from iunet.baselines.catalog import LEARNERS
from iunet.labels import dataset_label
from iunet.results.reports import subset_text
from iunet.runs.entries import Benchmark, Cell
from iunet.runs.settings import study_budget

if TYPE_CHECKING:
    import pandas as pd

SUBSET = "subset"


@dataclass
class Context:
    stand_ins: dict[str, str] = field(default_factory=dict)  # our set by the paper's it stands for
    subsets: dict[str, str] = field(default_factory=dict)  # data sets that are a part of the whole
    notes: list[str] = field(default_factory=list)  # budgets of tuned methods, …
    settings: dict[str, Any] = field(default_factory=dict)  # what the module's `settings` gives
    artifacts: list[str] = field(default_factory=list)  # files that the table opens itself

    def row_notes(self, dataset: str) -> list[str]:
        """Which part of a data set ran: its scores compare with nothing."""
        return [f"{SUBSET}: {self.subsets[dataset]}"] if dataset in self.subsets else []

    def stand_in_text(self) -> str:
        """A sentence for captions: which data sets take the place of the paper's."""
        pairs = [f"{ours} for {dataset_label(paper)}" for paper, ours in self.stand_ins.items()]
        return f" Stand-ins for the paper's data: {', '.join(pairs)}." if pairs else ""


def context_of(bench: Benchmark, cells: list[Cell]) -> Context:
    """What follows from the config, without reading a file."""
    config = bench.config
    datasets = {cell.dataset for cell in cells}
    study = "data set and seed" if config["tuning"]["study_per"] == "seed" else "data set"
    tuned = dict.fromkeys(cell.method.recipe for cell in cells if cell.method.tuned)
    budgets = "; ".join(_budget_text(config, learner) for learner in tuned)
    notes = [f"Tuning budget per {study}: {budgets}.", _what_methods_saw(config)] if tuned else []
    stand_ins = {paper: ours for paper, ours in config["stand_ins"].items() if ours in datasets}
    return Context(stand_ins, notes=notes)


def subsets_of(datasets: pd.DataFrame) -> dict[str, str]:
    """The data sets of `Results.datasets` that are only a part of the official ones."""
    parts = datasets[datasets["subset"].notna()]
    return {
        name: subset_text(subset)
        for name, subset in zip(parts["dataset"], parts["subset"], strict=True)
    }


def _what_methods_saw(config: dict[str, Any]) -> str:
    """Rows and class weights, where they differ between methods of one table."""
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
    return (
        f"XGB, TABN and MLP_TAB+C are fitted on {rows}; the MLP family sees train alone. {who}; "
        f"those of the MLP family are {own}, unless a method's row says so."
    )


def _budget_text(config: dict[str, Any], learner: str) -> str:
    budget = study_budget(config, learner)
    limit = f", at most {budget['minutes']} minutes" if budget["minutes"] else ""
    return f"{learner} {budget['trials']} trials{limit}"
